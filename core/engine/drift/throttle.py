"""The rate of observations per second and runner, over all checks.

Asked in the pool, when a type asks its context for a runner: so nobody has to know beforehand
which runner a resource will use. Who is too early is told to come again, and holds no thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from zonda.hooks.errors import NotReady
from zonda.hooks.runners.base import WorkflowRunner

from ..model.lending import Lender


class NotYet(NotReady):
    """The rate limit of the runner delays this observation."""


class Pace:
    """The rate limit of every runner. ``rate`` per second; 0: no limit."""

    def __init__(self, rate: float, monotonic: Callable[[], float]) -> None:
        self._rate = rate
        self._monotonic = monotonic
        self._next: dict[int, float] = {}
        self._lock = threading.Lock()

    def take(self, runner: WorkflowRunner) -> float:
        """Take the next place at ``runner``; returns the seconds until it has come."""
        if self._rate <= 0:
            return 0.0
        with self._lock:
            now = self._monotonic()
            at = max(self._next.get(id(runner), now), now)
            self._next[id(runner)] = at + 1.0 / self._rate
            return at - now


class PacedLender:
    """A lender for one observation: its first use of a runner waits for its turn.

    ``turns``: the runners at which it has had, or has been given, its place.
    """

    def __init__(self, lender: Lender, pace: Pace, turns: set[int]) -> None:
        self._lender = lender
        self._pace = pace
        self._turns = turns

    def runner(self, workflow: str) -> tuple[WorkflowRunner, str]:
        """The runner for a workflow; raises NotYet while the rate limit delays it."""
        found = self._lender.runner(workflow)
        if id(found[0]) not in self._turns:
            self._turns.add(id(found[0]))
            delay = self._pace.take(found[0])
            if delay > 0:
                raise NotYet(delay, "it is not its turn yet")
        return found

    def __getattr__(self, name: str) -> Any:
        """Every other service is unchanged."""
        return getattr(self._lender, name)
