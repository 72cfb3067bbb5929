"""Answers of reads, kept as bytes until the next commit.

Clients that wait ask the same again and again: such an answer costs neither a thread nor a look
into the database. Who may have it is decided anew for each request, before it is looked for.
"""

from __future__ import annotations

from ..http.calls import Answer
from ..http.requests import Request
from ..identity.callers import Caller
from ..service.memo import Memo

#: Answers that are kept, and the most bytes of one of them.
_MOST = 1024
_LONGEST = 32768
_KEPT = frozenset({200, 302})

_Key = tuple[str, str, str]


class Answers:
    """The last answers. ``commits``: the number of commits before the answer was worked out."""

    def __init__(self) -> None:
        self._memo: Memo[_Key, tuple[Caller, Answer]] = Memo(_MOST)

    def has(self, request: Request, commits: int) -> bool:
        """Whether an answer for some caller is known."""
        return self._memo.find(_make_key(request), commits) is not None

    def find(self, request: Request, caller: Caller, commits: int) -> Answer | None:
        """The answer to a request of a caller; None where it has to be worked out."""
        known = self._memo.find(_make_key(request), commits)
        return known[1] if known is not None and known[0] == caller else None

    def keep(self, request: Request, caller: Caller, commits: int, answer: Answer) -> Answer:
        """The answer with its bytes, which is kept unless it is a failure or large."""
        answer = answer.finish()
        if answer.status in _KEPT and len(answer.body) <= _LONGEST:
            self._memo.put(_make_key(request), commits, (caller, answer))
        return answer


def _make_key(request: Request) -> _Key:
    return (request.path, request.query, request.base)
