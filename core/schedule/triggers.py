"""When a schedule comes next, by the triggers of APScheduler. Lent to the engine by the app.

Intervals are counted from the epoch and cron is read in UTC, so that the answer is a function of
the time alone: the same after a restart, and in every process.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

from zonda.core.template.environment.schedules import Cron, read_schedule
from zonda.hooks.errors import UsageError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: As the trigger calls them: its numbers begin with Monday, those of cron with Sunday.
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")


class Triggers:
    """Schedules on the clock."""

    def next(self, text: str, after: float) -> float:
        """The first time after ``after``; raises UsageError for a schedule that is none."""
        now = datetime.fromtimestamp(after + 1e-3, UTC)
        found = [each.get_next_fire_time(None, now) for each in _triggers(text)]
        times = [each.timestamp() for each in found if each is not None]
        if not times:
            raise UsageError(f"{text!r} never comes.")
        return float(min(times))


@lru_cache(maxsize=256)
def _triggers(text: str) -> Sequence[Any]:
    """One trigger; two where days of the month and of the week are named: either will do."""
    found = read_schedule(text)
    if not isinstance(found, Cron):
        return (IntervalTrigger(seconds=int(found), start_date=_EPOCH, timezone=UTC),)
    if found.days is None or found.weekdays is None:
        return (_cron(found, found.days, found.weekdays),)
    return (_cron(found, found.days, None), _cron(found, None, found.weekdays))


def _cron(cron: Cron, days: frozenset[int] | None, weekdays: frozenset[int] | None) -> Any:
    names = None if weekdays is None else frozenset(_WEEKDAYS[number] for number in weekdays)
    return CronTrigger(
        minute=_joined(cron.minutes),
        hour=_joined(cron.hours),
        day=_joined(days),
        month=_joined(cron.months),
        day_of_week=_joined(names),
        timezone=UTC,
    )


def _joined(values: frozenset[int] | frozenset[str] | None) -> str:
    return "*" if values is None else ",".join(str(value) for value in sorted(values))
