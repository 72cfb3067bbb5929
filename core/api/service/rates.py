"""The rates of requests: a bucket of tokens for each key, which fills with time."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict

from zonda.hooks.context import Clock
from zonda.hooks.errors import RequestError

#: Keys that are remembered; the one that was used longest ago goes.
_MOST_KEYS = 10_000
#: Seconds to wait where a rate lets nothing through.
_HOUR = 3600.0


class OverRate(RequestError):
    """More requests come than a rate allows. ``delay``: whole seconds until the next one may."""

    heat_type = "OverLimit"

    def __init__(self, message: str, delay: float) -> None:
        super().__init__(message, hint="Wait a little.")
        self.delay = math.ceil(delay)


class Rates:
    """The rates of requests by their keys. Many threads ask at once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        #: By key: tokens in the bucket, and when they were counted.
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str, per_second: float, burst: float, message: str) -> None:
        """Count a request; raises OverRate with ``message``.

        ``burst``: how many may come at once.
        """
        now = self._clock.monotonic()
        with self._lock:
            left, at = self._buckets.get(key, (burst, now))
            left = min(burst, left + (now - at) * per_second)
            self._buckets[key] = (left - 1 if left >= 1 else left, now)
            self._buckets.move_to_end(key)
            if len(self._buckets) > _MOST_KEYS:
                self._buckets.popitem(last=False)
        if left < 1:
            raise OverRate(message, (1 - left) / per_second if per_second else _HOUR)
