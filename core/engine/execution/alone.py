"""The instances that are called alone: calls of theirs may have ended engines (``cut_off``)."""

from __future__ import annotations

from collections import deque
from typing import Any

from ..model.effects import Call, Wait


class Alone:
    """The queue of these instances: one after another, no other step begins meanwhile."""

    def __init__(self) -> None:
        #: The instances that have yet to begin.
        self.keys: deque[str] = deque()
        #: The step whose first call is out, or about to be.
        self.task: Any = None
        self._is_called = False

    def __bool__(self) -> bool:
        return bool(self.keys) or self.task is not None

    def add(self, key: str) -> None:
        """Have an instance called alone."""
        self.keys.append(key)

    def take(self) -> str | None:
        """The next instance, unless another one is being called."""
        return self.keys.popleft() if self.keys and self.task is None else None

    def begin(self, task: Any) -> None:
        """The step of that instance begins."""
        self.task, self._is_called = task, False

    def note(self, effect: Any) -> None:
        """Note an effect of the step; others may begin again after its first call."""
        if self._is_called or isinstance(effect, Wait):
            self.task = None
        self._is_called = isinstance(effect, Call)

    def end(self, task: Any) -> None:
        """Note that a step has ended, or is not awaited any more."""
        if task is self.task:
            self.task = None
