"""The only reader of time. Everybody else is handed a ``Clock`` (``zonda.hooks.context``)."""

from __future__ import annotations

import time


class SystemClock:
    """The machine's clocks, and the only place that waits for time to pass."""

    def now(self) -> float:
        """Seconds since the epoch, UTC."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds of a clock that never goes back; only differences mean something."""
        return time.monotonic()

    def thread_cpu(self) -> float:
        """Seconds of CPU time of this thread: what it works, however busy the machine is."""
        return time.thread_time()

    def pause(self, seconds: float) -> None:
        """Do nothing for ``seconds``."""
        time.sleep(seconds)
