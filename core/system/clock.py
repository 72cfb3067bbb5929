"""The only reader of time. Everything else gets a ``Clock`` (``zonda.hooks.context``)."""

from __future__ import annotations

import time


class SystemClock:
    """The system's clocks, and the only place that waits for time to pass."""

    def now(self) -> float:
        """Return the seconds since the epoch, UTC."""
        return time.time()

    def monotonic(self) -> float:
        """Return the seconds of a clock that never goes back; only differences mean something."""
        return time.monotonic()

    def thread_cpu(self) -> float:
        """Return the CPU seconds of this thread, independent of the load of the machine."""
        return time.thread_time()

    def pause(self, seconds: float) -> None:
        """Sleep for ``seconds``."""
        time.sleep(seconds)
