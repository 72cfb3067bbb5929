"""The next time of a schedule, by the triggers of APScheduler. Given to the engine by the app.

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

from zonda.core.template.environment.schedules import Cron, parse_schedule
from zonda.hooks.errors import UsageError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: As the trigger calls them: its numbers begin with Monday, those of cron with Sunday.
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")


def compute_next_time(text: str, after: float) -> float:
    """Compute the first time after ``after``; raises UsageError for a bad schedule."""
    now = datetime.fromtimestamp(after + 1e-3, UTC)
    found = [each.get_next_fire_time(None, now) for each in _build_triggers(text)]
    times = [each.timestamp() for each in found if each is not None]
    if not times:
        raise UsageError(f"{text!r} never comes.")
    return float(min(times))


@lru_cache(maxsize=256)
def _build_triggers(text: str) -> Sequence[Any]:
    """Build one trigger; two where days of month and of week are given: either of them fires."""
    found = parse_schedule(text)
    if not isinstance(found, Cron):
        return (IntervalTrigger(seconds=int(found), start_date=_EPOCH, timezone=UTC),)
    if found.days is None or found.weekdays is None:
        return (_build_cron_trigger(found, found.days, found.weekdays),)
    return (
        _build_cron_trigger(found, found.days, None),
        _build_cron_trigger(found, None, found.weekdays),
    )


def _build_cron_trigger(
    cron: Cron, days: frozenset[int] | None, weekdays: frozenset[int] | None
) -> Any:
    names = None if weekdays is None else frozenset(_WEEKDAYS[number] for number in weekdays)
    return CronTrigger(
        minute=_format_field(cron.minutes),
        hour=_format_field(cron.hours),
        day=_format_field(days),
        month=_format_field(cron.months),
        day_of_week=_format_field(names),
        timezone=UTC,
    )


def _format_field(values: frozenset[int] | frozenset[str] | None) -> str:
    return "*" if values is None else ",".join(str(value) for value in sorted(values))
