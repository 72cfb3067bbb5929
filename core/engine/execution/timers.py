"""Timers by due time. Owned by a driver; ten thousand waiting operations are one heap."""

from __future__ import annotations

import heapq
from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)

#: Due before anything else.
AT_ONCE = float("-inf")
#: Entries of the heap that may be void without it being made anew.
_VOID = 64


class Timetable(Generic[T]):
    """Entries with due times; of equal times the first entered comes first."""

    def __init__(self) -> None:
        # What is void stays in the heap until it is due, or there is too much of it.
        self._heap: list[tuple[float, int]] = []
        self._things: dict[int, T] = {}
        self._numbers: dict[T, int] = {}
        self._last = 0

    def put(self, due: float, what: T) -> None:
        """Enter something, replacing its entry."""
        self.drop(what)
        self._last += 1
        self._things[self._last] = what
        self._numbers[what] = self._last
        heapq.heappush(self._heap, (due, self._last))

    def drop(self, what: T) -> None:
        """Take something out, if it is there."""
        number = self._numbers.pop(what, None)
        if number is None:
            return
        del self._things[number]
        if len(self._heap) > 2 * len(self._things) + _VOID:
            self._heap = [entry for entry in self._heap if entry[1] in self._things]
            heapq.heapify(self._heap)

    def next_due(self) -> float | None:
        """The time of the next entry."""
        while self._heap and self._heap[0][1] not in self._things:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def take(self, now: float) -> T | None:
        """Take out the next entry that is due, None if none is."""
        due = self.next_due()
        if due is None or due > now:
            return None
        what = self._things.pop(heapq.heappop(self._heap)[1])
        del self._numbers[what]
        return what

    def clear(self) -> None:
        """Forget everything."""
        self._heap.clear()
        self._things.clear()
        self._numbers.clear()
