"""The clock of the bundled service, which is a program of its own and not part of the engine."""

from __future__ import annotations

import time


class ServiceClock:
    """The machine's clocks."""

    def now(self) -> float:
        """Seconds since the epoch, UTC."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds of a clock that never goes back."""
        return time.monotonic()
