"""The clock's hands: a few fixed jobs that tell the engine to look for what is due.

Started by ``core/app/app.py`` when an engine really drives something. A sweep only moves due things
into the engine's inbox: it does no work itself, so it cannot be late by more than its period, and
nothing is lost if it runs once too often. Never one job per poll: that is 20 to 450 times dearer.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC
from typing import Any, Protocol

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.jobstores.memory import MemoryJobStore
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.interval import IntervalTrigger


class Sweepable(Protocol):
    """What the sweeps ask of the engine. Every method returns soon and may be called any time."""

    def sweep_polls(self) -> None:
        """Look again at operations whose next poll is due."""

    def sweep_deadlines(self) -> None:
        """Fail operations and stacks whose time is over."""

    def sweep_requests(self) -> None:
        """Carry out what other commands have asked for."""

    def sweep_drift(self) -> None:
        """Begin the drift checks that are due by their schedules."""

    def sweep_reconcile(self) -> None:
        """Enqueue again whatever could run and does not: heals lost messages."""

    def housekeeping(self) -> None:
        """Remove what nobody needs any more."""


#: Seconds between two runs, by the name of the engine's method.
PERIODS = {
    "sweep_polls": 0.25,
    "sweep_requests": 0.25,
    "sweep_deadlines": 1.0,
    "sweep_drift": 5.0,
    "sweep_reconcile": 30.0,
    "housekeeping": 3600.0,
}

# The database is the truth, so runs that were missed need no making up, however late they are.
_JOB_DEFAULTS = {"coalesce": True, "max_instances": 1, "misfire_grace_time": None}


class Sweeps:
    """The scheduler of one process."""

    def __init__(self, engine: Sweepable) -> None:
        self._calls: dict[str, Callable[[], None]] = {
            name: getattr(engine, name) for name in PERIODS
        }
        self._scheduler: Any = BackgroundScheduler(
            jobstores={"default": MemoryJobStore()},
            executors={"default": ThreadPoolExecutor(4)},
            job_defaults=_JOB_DEFAULTS,
            timezone=UTC,
        )

    def start(self) -> None:
        """Begin to sweep; the first run of each comes after its period."""
        for name, call in self._calls.items():
            self._scheduler.add_job(call, _every(name), id=name)
        self._scheduler.start()

    def reschedule(self) -> None:
        """Set every sweep anew, counted from now.

        For the engine's thread, when its monotonic clock says that a sweep is overdue: after the
        wall clock was set back APScheduler waits for the old time to come again.
        """
        for name in self._calls:
            self._scheduler.reschedule_job(name, trigger=_every(name))

    def stop(self) -> None:
        """No sweep runs after this returns. Stopping twice is fine."""
        if self._scheduler.running:
            self._scheduler.remove_all_jobs()
            self._scheduler.shutdown(wait=True)


def _every(name: str) -> IntervalTrigger:
    return IntervalTrigger(seconds=PERIODS[name], timezone=UTC)
