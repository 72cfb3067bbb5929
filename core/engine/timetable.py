"""What is due when. Owned by a driver; ten thousand waiting operations are one heap."""

from __future__ import annotations

import heapq
from typing import Generic, TypeVar

T = TypeVar("T")

#: Due before anything else.
AT_ONCE = float("-inf")


class Timetable(Generic[T]):
    """Things with the time when they are due; of equal times the first comes first."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, T]] = []
        self._put = 0

    def put(self, due: float, what: T) -> None:
        """Enter something. It may stand here more than once."""
        self._put += 1
        heapq.heappush(self._heap, (due, self._put, what))

    def next_due(self) -> float | None:
        """When the next one is due."""
        return self._heap[0][0] if self._heap else None

    def take(self, now: float) -> T | None:
        """Take out the next one that is due, None if none is."""
        if self._heap and self._heap[0][0] <= now:
            return heapq.heappop(self._heap)[2]
        return None

    def clear(self) -> None:
        """Forget everything."""
        self._heap.clear()
