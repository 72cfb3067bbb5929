"""The clock of a cluster: the database's time, which is the same on every host."""

from __future__ import annotations

import threading

from zonda.core.system.clock import SystemClock

#: The part by which time may go faster or slower until it is the server's.
_SLEW = 0.1


class ClusterClock(SystemClock):
    """The server's time as it was last told, and what has passed since by the monotonic clock.

    Deadlines and schedules agree on all hosts, whatever their own clocks say. Until a time is told
    it is the host's.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._offset: float | None = None
        self._target = 0.0
        self._moved_at = 0.0

    def now(self) -> float:
        """Return the seconds since the epoch, UTC."""
        with self._lock:
            if self._offset is None:
                return super().now()
            return self._move(self.monotonic())

    def synchronise(self, now: float) -> None:
        """Go to the time ``now`` of the server: at once when it is told first, else slowly."""
        with self._lock:
            at = self.monotonic()
            self._target = now - at
            if self._offset is None:
                self._offset, self._moved_at = self._target, at
            self._move(at)

    def _move(self, at: float) -> float:
        assert self._offset is not None
        most = _SLEW * (at - self._moved_at)
        self._offset += min(max(self._target - self._offset, -most), most)
        self._moved_at = at
        return at + self._offset
