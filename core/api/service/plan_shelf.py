"""Plans that pages have shown, kept until somebody applies them; used by many threads."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass

#: Plans that are kept in all; each has a template.
_MOST = 128


@dataclass(frozen=True, slots=True)
class _Entry:
    project: str
    user: str
    plan: object


class PlanShelf:
    """The newest plans. Where there are too many, the oldest one of whoever has most goes.

    That is the project with most plans, and its user with most: nobody pushes out another's.
    """

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._lock = threading.Lock()

    def find(self, key: str, project: str) -> object | None:
        """Find a plan of a project; None if it is not kept."""
        with self._lock:
            entry = self._entries.get(key)
        return entry.plan if entry is not None and entry.project == project else None

    def put(self, key: str, project: str, user: str, plan: object) -> None:
        """Keep a plan that a user of a project has made."""
        with self._lock:
            self._entries[key] = _Entry(project, user, plan)
            if len(self._entries) > _MOST:
                del self._entries[self._choose_victim()]

    def _choose_victim(self) -> str:
        entries = self._entries.items()
        project = _find_most_frequent([each.project for _, each in entries])
        own = [(key, each.user) for key, each in entries if each.project == project]
        user = _find_most_frequent([name for _, name in own])
        return next(key for key, name in own if name == user)


def _find_most_frequent(names: list[str]) -> str:
    [(name, _)] = Counter(names).most_common(1)
    return name
