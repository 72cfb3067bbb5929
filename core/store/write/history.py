"""The history rows of a transaction: plans, their ends, and failed operations."""

from __future__ import annotations

from ..database.protocols import Connection
from ..schema.rows import ActionRow, FailedRow, action_values, failed_values


class History:
    """The part of a transaction that has to do with the history of stacks."""

    def __init__(self, connection: Connection) -> None:
        self._execute, self._sql = connection.execute, connection.dialect.sql

    def add_action(self, row: ActionRow) -> None:
        """Record a plan."""
        self._execute(self._sql["insert_action"], action_values(row))

    def end_action(self, stack_id: str, status: str, reason: str, at: float) -> None:
        """Note how the running action of a stack has ended; nothing if none runs."""
        self._execute(self._sql["end_action"], (at, status, reason, stack_id))

    def note_on_action(self, stack_id: str, detail: str) -> None:
        """Replace the detail (JSON) of the running action of a stack."""
        self._execute(self._sql["note_on_action"], (detail, stack_id))

    def last_action(self, stack_id: str) -> ActionRow | None:
        """The last plan of a stack."""
        found = self._execute(self._sql["last_action"], (stack_id,)).fetchone()
        return None if found is None else ActionRow(*found)

    def last_change(self, stack_id: str) -> ActionRow | None:
        """The last plan of a template, or of nothing, for a stack."""
        found = self._execute(self._sql["last_change"], (stack_id,)).fetchone()
        return None if found is None else ActionRow(*found)

    def template_hashes(self, stack_id: str, template_id: str) -> tuple[str, str]:
        """The keyed hashes of a template and its environment, as its first plan has noted them."""
        found = self._execute(self._sql["template_hashes"], (stack_id, template_id)).fetchone()
        return ("", "") if found is None else (found[0], found[1])

    def add_failed(self, row: FailedRow) -> None:
        """Note an operation that failed, with what it was begun with."""
        self._execute(self._sql["insert_failed"], failed_values(row))
