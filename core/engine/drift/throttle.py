"""The rate of observations per second and runner, over all checks.

Asked in the pool, when a type asks its context for a runner: so nobody has to know beforehand
which runner a resource will use. Who is too early is told to come again, and holds no thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from zonda.hooks.errors import NotReady
from zonda.hooks.runners.base import WorkflowRunner


class NotYet(NotReady):
    """The rate limit of the runner delays this observation."""


class Pace:
    """The rate limit of every runner. ``rate`` per second; 0: no limit."""

    def __init__(self, rate: float, monotonic: Callable[[], float]) -> None:
        self._rate = rate
        self._monotonic = monotonic
        self._next: dict[int, float] = {}
        self._lock = threading.Lock()

    def wait_turn(self, turns: set[int], runner: WorkflowRunner) -> None:
        """Raise NotYet while the rate limit delays the first use of ``runner``.

        ``turns``: the runners at which an observation has had, or has been given, its place.
        """
        if self._rate <= 0 or id(runner) in turns:
            return
        turns.add(id(runner))
        with self._lock:
            now = self._monotonic()
            at = max(self._next.get(id(runner), now), now)
            self._next[id(runner)] = at + 1.0 / self._rate
        if at > now:
            raise NotYet(at - now, "it is not its turn yet")
