"""The questions that wait for a place, in turn by host.

One host that is slow, or far, does not hold up the others: the next question is one for the host
that is asked least now. Pure; called by ``agent.__main__``.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from typing import Any, Final

Question = Mapping[str, Any]
#: The variables that tell a host from others.
_HOST: Final = ("ansible_connection", "ansible_host", "ansible_port")


class Queue:
    """The questions by host, the oldest first."""

    def __init__(self) -> None:
        self._hosts: dict[str, deque[Question]] = {}

    def __bool__(self) -> bool:
        return bool(self._hosts)

    def put(self, question: Question) -> None:
        """Have a question wait."""
        self._hosts.setdefault(find_host(question), deque()).append(question)

    def take(self, at_work: Iterable[Question]) -> Question:
        """Take out the next question; ``at_work``: those that are being answered."""
        busy = Counter(map(find_host, at_work))
        host = min(self._hosts, key=busy.__getitem__)
        waiting = self._hosts.pop(host)
        question = waiting.popleft()
        if waiting:
            self._hosts[host] = waiting  # behind the others
        return question


def find_host(question: Question) -> str:
    """The host of a question; all that need none are of one."""
    variables = question.get("variables") or {}
    return json.dumps([variables.get(name) for name in _HOST], default=str)
