"""A clock that somebody sets: forward over deadlines, or back; only the wall clock jumps."""

from __future__ import annotations

from zonda.hooks.testing.fakes import FakeClock


class SetClock(FakeClock):
    """``forward``: by how many seconds it was set forward in all; ``went_back``: ever set back."""

    def __init__(self) -> None:
        super().__init__()
        self.forward = 0.0
        self.went_back = False

    def jump(self, seconds: float) -> None:
        """Set the wall clock; nothing has passed."""
        super().jump(seconds)
        if seconds > 0:
            self.forward += seconds
        else:
            self.went_back = True

    @property
    def elapsed(self) -> float:
        """The seconds that have passed for who waits for a time: those set forward, too."""
        return self.monotonic() + self.forward

    def count_seconds_until(self, time: float) -> float:
        """The seconds until a time by the wall clock."""
        return time - self.now()
