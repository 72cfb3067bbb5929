"""A set of names that expire after a while. Knows nothing of runners."""

from __future__ import annotations

from zonda.hooks import Clock

MOST = 10_000


class TtlSet:
    """Names, each for ``seconds`` after it was added; at most ``MOST`` of them."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self._until: dict[str, float] = {}

    def __contains__(self, name: str) -> bool:
        return self._until.get(name, float("-inf")) > self._clock.monotonic()

    def add(self, name: str) -> None:
        """Add a name."""
        now = self._clock.monotonic()
        if len(self._until) >= MOST:
            self._drop_old(now)
        self._until[name] = now + self._seconds

    def drop(self, name: str) -> None:
        """Remove a name."""
        self._until.pop(name, None)

    def _drop_old(self, now: float) -> None:
        kept = {name: until for name, until in self._until.copy().items() if until > now}
        # Where all of them count, asking once more is cheaper than remembering without end.
        self._until = kept if len(kept) < MOST else {}
