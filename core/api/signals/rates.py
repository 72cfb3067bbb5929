"""The rates of requests: how many there were in the last minute; for several threads."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque

from zonda.hooks.context import Clock

_MINUTE = 60.0
#: Keys that are remembered; the one that was used longest ago goes.
_MOST_KEYS = 10_000


class Rates:
    """The requests of the last minute by their keys, ``most`` for each."""

    def __init__(self, clock: Clock, most: int) -> None:
        self._clock = clock
        self._most = most
        self._lock = threading.Lock()
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def count(self, key: str) -> float:
        """Count a request; the seconds to wait where there were too many, else 0."""
        now = self._clock.monotonic()
        with self._lock:
            times = self._times.setdefault(key, deque())
            self._times.move_to_end(key)
            if len(self._times) > _MOST_KEYS:
                self._times.popitem(last=False)
            while times and times[0] <= now - _MINUTE:
                times.popleft()
            if len(times) >= self._most:
                return times[0] + _MINUTE - now
            times.append(now)
            return 0.0
