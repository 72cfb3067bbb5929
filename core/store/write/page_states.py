"""The table of what pages keep, in a transaction: sign-ins, and plans that were shown.

Called by ``core/api`` through the engine's ``keep``.
"""

from __future__ import annotations

from ..database.protocols import Connection


class PageStates:
    """The table of what pages keep, between begin and commit."""

    def __init__(self, connection: Connection) -> None:
        self._execute, self._sql = connection.execute, connection.dialect.sql

    def add(
        self, key: str, kind: str, body: str, ends_at: float, project: str = "", user_id: str = ""
    ) -> None:
        """Keep something until ``ends_at``. ``body``: sealed text."""
        self._execute(self._sql["insert_page_state"], (key, kind, project, user_id, body, ends_at))

    def list(self, kind: str) -> list[tuple[str, str, str]]:
        """(id, project, user) of all of a kind, the oldest first."""
        found: list[tuple[str, str, str]] = self._execute(
            self._sql["page_states"], (kind,)
        ).fetchall()
        return found

    def delete_surplus(self, kind: str, most: int) -> None:
        """Keep ``most`` of a kind: the oldest go."""
        self._execute(self._sql["delete_surplus_page_states"], (kind, -1, most))

    def delete(self, key: str, kind: str) -> None:
        """Keep something no longer."""
        self._execute(self._sql["delete_page_state"], (key, kind))
