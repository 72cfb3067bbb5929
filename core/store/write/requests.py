"""The requests of other processes in a transaction: left, taken back, answered."""

from __future__ import annotations

from typing import Any

from ..database.protocols import Cursor
from .sweeps import SweepLists


class Requests(SweepLists):
    """The part of a transaction that has to do with requests."""

    def open_requests(self) -> list[tuple[Any, ...]]:
        """(id, action, ...) of every request without an answer, the oldest first.

        A member of a cluster gets those for the trees that it owns.
        """
        found, duties = self._execute(self._sql["requests_open"]).fetchall(), self.duties
        return found if duties is None else [each for each in found if duties.owns(each[-1])]

    def add_request(self, request_id: str, action: str, at: float, root_id: str = "") -> None:
        """Leave a command for the engine, or for the owner of a tree."""
        self._execute(self._sql["insert_request"], (request_id, action, at, None, None, root_id))

    def keep_answer(self, request_id: str, action: str, text: str, at: float) -> bool:
        """Store a request with its answer; False if there is one of this id.

        An id that begins with ``KEYED`` may be asked for again, and is kept for longer.
        """
        return self.add_answer(request_id, action, text, at).rowcount == 1

    def add_answer(self, request_id: str, action: str, text: str, at: float) -> Cursor:
        """Store a request of a new id with its answer; nobody has to wait for the result."""
        values = (request_id, action, at, text, at, "")
        return self._execute(self._sql["keep_answer"], values)

    def withdraw_request(self, request_id: str) -> None:
        """Take back a command that has no answer yet."""
        self._execute(self._sql["withdraw_request"], (request_id,))

    def answer_request(self, request_id: str, text: str, at: float, root_id: str = "") -> bool:
        """Answer a command; False if it was answered or withdrawn meanwhile.

        Raises Foreign where it is for a tree (``root_id``) of another member.
        """
        if self.duties is not None and root_id:
            self.duties.check_writable(root_id)
        return self._execute(self._sql["answer_request"], (text, at, request_id)).rowcount == 1
