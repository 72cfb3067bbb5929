"""Limits the requests to an endpoint, and pauses one that only fails.

Keeps count for each origin, in this process and for all threads. No thread waits here: who may not
send now is told so (``RetryLater``) and comes back. Those who find all places taken stand in a
queue: a place that becomes free is kept for the first, who is woken. A pause ends nothing by
itself: it puts requests off, one of them tries the endpoint after a while (half-open), and its
success lets all go on. Knows nothing of requests.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from zonda.hooks import Clock
from zonda.hooks.runners import Waker, get_waker

#: The number of doublings of a pause at most, and the longest one in seconds.
_DOUBLINGS = 10
LONGEST_PAUSE = 60.0
#: Seconds after which those look again who cannot be woken, or wait for a try: at least.
LOOK = 0.25
#: Seconds after which one in the queue looks again, in case that nobody wakes it, and for which a
#: free place is kept for the one that was woken.
BACKSTOP = 10.0
#: Places of an endpoint, and those that are taken for granted where there is no limit.
_PLACES = 64
#: The part of the places that requests may hold that the endpoint answers late on purpose.
PATIENT = 8
_MOST_ORIGINS = 1000


class RetryLater(Exception):
    """The request was not sent: try again after ``delay`` seconds. The text is fit for users.

    ``paused``: since the endpoint fails, and not only because it is busy with others of us.
    """

    def __init__(self, delay: float, reason: str, *, paused: bool = False) -> None:
        super().__init__(reason)
        self.delay = delay
        self.paused = paused


@dataclass(frozen=True, slots=True)
class Limits:
    """``in_flight`` requests at a time; a pause after ``failures`` in a row. 0: without limit.

    ``pause``: seconds of the first one; each that follows without a success is twice as long.
    """

    in_flight: int = _PLACES
    failures: int = 10
    pause: float = 5.0


@dataclass(slots=True)
class _Count:
    """``waiting``: the queue, and until when each is believed in; ``kept``: the places kept."""

    in_flight: int = 0
    waiting: dict[Waker, float] = field(default_factory=dict)
    kept: dict[Waker, float] = field(default_factory=dict)
    failures: int = 0
    pauses: int = 0
    until: float = 0.0
    trying: bool = False

    @property
    def is_idle(self) -> bool:
        return not self.in_flight and not self.failures and not self.waiting


class Permit:
    """The permit to send one request. Set ``answered`` before it ends; else nothing is learned."""

    def __init__(self, *, is_try: bool) -> None:
        self.is_probe = is_try
        self.answered: bool | None = None


class CircuitBreakers:
    """The circuit breakers of all endpoints of one runner."""

    def __init__(self, clock: Clock, chance: random.Random, limits: Limits) -> None:
        self._clock = clock
        self._chance = chance
        self._limits = limits
        self._lock = threading.Lock()
        self._counts: dict[str, _Count] = {}

    @contextmanager
    def request_permit(
        self, origin: str, *, urgent: bool = False, last: bool = False
    ) -> Iterator[Permit]:
        """Permit one request to ``origin`` for the time of the block. Raises RetryLater.

        ``urgent``: neither limit nor pause holds it up. ``last``: no pause does, since there is
        no later for it.
        """
        now = self._clock.monotonic()
        with self._lock:
            count = self._get_count(origin)
            is_try = not urgent and not last and self._is_probe(count, origin, now)
            if not urgent:
                self._take_place(count, origin, now)
            count.in_flight += 1
            count.trying = count.trying or is_try
        leave = Permit(is_try=is_try)
        try:
            yield leave
        finally:
            with self._lock:
                self._record_result(count, leave)

    def has_few_places(self) -> bool:
        """Whether one place more is too much for a request that is answered late.

        Places and threads are looked at: others may need them.
        """
        limit, waker = self._limits.in_flight or _PLACES, get_waker()
        if waker is not None and waker.get_load() * PATIENT > 1:
            return True
        with self._lock:
            taken = sum(count.in_flight for count in self._counts.values())
        return (taken + 1) * PATIENT > limit

    def has_queue(self, origin: str) -> bool:
        """Whether others wait for a place, or for the thread that makes this call."""
        waker = get_waker()
        if waker is not None and waker.get_load() > 1:
            return True
        with self._lock:
            count = self._counts.get(origin)
            return count is not None and bool(count.waiting)

    def is_paused(self, origin: str) -> bool:
        """Whether requests to an endpoint are paused now."""
        with self._lock:
            count = self._counts.get(origin)
            return count is not None and self._is_open(count)

    # -- all that follows: the lock is held ---------------------------------------------------

    def _get_count(self, origin: str) -> _Count:
        if origin not in self._counts and len(self._counts) >= _MOST_ORIGINS:
            busy = {name: one for name, one in self._counts.items() if not one.is_idle}
            if len(busy) >= _MOST_ORIGINS:  # then those are forgotten that only failed
                busy = {name: one for name, one in busy.items() if one.in_flight}
            self._counts = busy
        return self._counts.setdefault(origin, _Count())

    def _is_open(self, count: _Count) -> bool:
        return 0 < self._limits.failures <= count.failures

    def _is_probe(self, count: _Count, origin: str, now: float) -> bool:
        """Whether this request probes an endpoint after a pause. Raises RetryLater during one."""
        if not self._is_open(count):
            return False
        text = f"{origin} failed {count.failures} times in a row"
        left = count.until - now
        if left > 0:
            delay = left + self._chance.uniform(0.0, 1.0)
            raise RetryLater(delay, f"{text}: it gets a rest of {left:.0f} s", paused=True)
        if count.trying:
            delay = self._chance.uniform(LOOK, 4 * LOOK)
            raise RetryLater(delay, f"{text}: one request tries it", paused=True)
        return True

    def _take_place(self, count: _Count, origin: str, now: float) -> None:
        """Take a free place, or one in the queue and raise RetryLater."""
        limit, waker = self._limits.in_flight, get_waker()
        self._fill_places(count, now)
        if waker is not None and count.kept.pop(waker, None) is not None:
            return
        if not limit or count.in_flight + len(count.kept) < limit:
            return
        delay = BACKSTOP
        if waker is not None:
            count.waiting[waker] = now + 2 * BACKSTOP
        elif count.in_flight < limit:  # nobody could wake it: it goes before the one woken last
            last, _ = count.kept.popitem()
            count.waiting = {last: now + 2 * BACKSTOP, **count.waiting}
            return
        else:
            delay = self._chance.uniform(LOOK, 2 * LOOK)
        raise RetryLater(delay, f"{origin} has {limit} requests of ours to answer (max_in_flight)")

    def _fill_places(self, count: _Count, now: float) -> None:
        """Wake the first of the queue for whatever places are free; forget who did not come."""
        if not count.waiting and not count.kept:
            return
        count.kept = {
            waker: until for waker, until in count.kept.items() if now < until and not waker.is_over
        }
        while count.waiting and count.in_flight + len(count.kept) < self._limits.in_flight:
            waker = next(iter(count.waiting))
            if now < count.waiting.pop(waker) and not waker.is_over:
                count.kept[waker] = now + BACKSTOP
                waker.ring()

    def _record_result(self, count: _Count, leave: Permit) -> None:
        count.in_flight -= 1
        if leave.is_probe:
            count.trying = False
        if leave.answered:
            count.failures = count.pauses = 0
        elif leave.answered is False:
            count.failures += 1
            now = self._clock.monotonic()
            if self._is_open(count) and now >= count.until:
                count.until = now + min(LONGEST_PAUSE, self._limits.pause * 2.0**count.pauses)
                count.pauses = min(count.pauses + 1, _DOUBLINGS)
        self._fill_places(count, self._clock.monotonic())
