"""The jobs of APScheduler: a few, whatever the number of polls. Made by ``scheduler``.

Each only puts a message into the engine's inbox, so it runs in the scheduler's own thread. Never
one job a poll: that is 20 to 450 times dearer.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo

from apscheduler.executors.debug import DebugExecutor
from apscheduler.jobstores.memory import MemoryJobStore
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.base import BaseTrigger

from zonda.core.engine.runtime.engine import POLL_TICK, Engine
from zonda.hooks.context import Clock

#: Seconds between two calls, by the name of the engine's method. The engine moves ``wake`` to the
#: next time that is due; while polls come one after the other it need not.
PERIODS = {
    "wake": POLL_TICK,
    "sweep_requests": 0.25,
    "sweep_deadlines": 1.0,
    "sweep_drift": 5.0,
    "sweep_reconcile": 30.0,
    "housekeeping": 3600.0,
}
#: Seconds by which the engine is put off at most.
_LONGEST = 3600.0
# The database is the truth, so runs that were missed need no making up, however late they are.
_JOB_DEFAULTS = {"coalesce": True, "max_instances": 1, "misfire_grace_time": None}


class Jobs(BackgroundScheduler):  # type: ignore[misc]  # APScheduler has no types
    """The scheduler with a job for each method of the engine in ``PERIODS``."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._clock, self._zone = clock, MonotonicZone(clock)
        super().__init__(
            jobstores={"default": MemoryJobStore()},
            executors={"default": DebugExecutor()},
            job_defaults=_JOB_DEFAULTS,
            timezone=self._zone,
        )
        for name, seconds in PERIODS.items():
            if name == "sweep_requests" and engine.is_member:  # it reads them with its duties
                continue
            self.add_job(getattr(engine, name), Period(seconds), id=name)

    def wake_at(self, due: float) -> None:
        """Move the job ``wake`` to ``due`` by the monotonic clock."""
        now = self._clock.monotonic()
        at = min(max(due, now), now + _LONGEST)
        self.modify_job("wake", next_run_time=self._zone.convert(at))


class Period(BaseTrigger):  # type: ignore[misc]  # APScheduler has no types
    """A trigger at a fixed interval of seconds, in the time zone of the scheduler."""

    def __init__(self, seconds: float) -> None:
        self._seconds = timedelta(seconds=seconds)

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime:
        """Return the next time after ``previous_fire_time``."""
        return (previous_fire_time or now) + self._seconds


class MonotonicZone(tzinfo):
    """A time zone whose present time is that of the monotonic clock since its creation.

    APScheduler asks ``datetime.now(zone)``, and by the wall clock it would wait for the old time to
    come again once that is set back. Times of other zones cannot be converted to this one.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ahead = clock.now() - clock.monotonic()

    def convert(self, moment: float) -> datetime:
        """Convert a time of the monotonic clock to this zone."""
        return datetime.fromtimestamp(self._ahead + moment, UTC).replace(tzinfo=self)

    def fromutc(self, moment: datetime) -> datetime:
        """Return the present time for ``datetime.now``; the wall clock's ``moment`` is ignored."""
        return self.convert(self._clock.monotonic())

    def utcoffset(self, moment: datetime | None) -> timedelta:
        """Return zero: its times are those of UTC."""
        return timedelta(0)

    def dst(self, moment: datetime | None) -> timedelta:
        """Return zero."""
        return timedelta(0)

    def tzname(self, moment: datetime | None) -> str:
        """Return the name of the zone."""
        return "monotonic"
