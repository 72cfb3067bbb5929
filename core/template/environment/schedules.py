"""Schedules as text: ``15m``, ``1h30m``, ``900`` (seconds), or five fields of cron in UTC. Pure.

Called where a section or an option is read, so that a fault is told at once; what a schedule means
on the clock is the clock room's affair. Fields of cron are given as sets of numbers, because
clocks disagree about what day of the week 0 is: here it is Sunday, and so is 7.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from zonda.hooks.errors import UsageError
from zonda.hooks.records import dataclass

#: Seconds: the shortest interval, and the longest.
SHORTEST, LONGEST = 10.0, 366 * 86400.0
HINT = (
    "Give an interval (15m, 1h30m, 900 for seconds) or five fields of cron in UTC: '*/15 * * * *'."
)

_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
_INTERVAL = re.compile(r"(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,8})s?)?\Z")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ITEM = re.compile(r"(\*|[a-z0-9]+)(?:-([a-z0-9]+))?(?:/(\d{1,2}))?\Z")
_MOST_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    least: int
    most: int
    words: Mapping[str, int]


_FIELDS = (
    _Field("minute", 0, 59, {}),
    _Field("hour", 0, 23, {}),
    _Field("day of the month", 1, 31, {}),
    _Field("month", 1, 12, {word: number for number, word in enumerate(_MONTHS, 1)}),
    _Field("day of the week", 0, 7, {word: number for number, word in enumerate(_DAYS)}),
)


@dataclass(frozen=True, slots=True)
class Cron:
    """A cron expression: minutes, hours, days, months, weekdays (0: Sunday); None: every one."""

    minutes: frozenset[int] | None
    hours: frozenset[int] | None
    days: frozenset[int] | None
    months: frozenset[int] | None
    weekdays: frozenset[int] | None


@lru_cache(maxsize=256)
def parse_schedule(text: str) -> float | Cron:
    """Parse an interval to seconds, or a cron expression; raises UsageError for anything else."""
    words = text.lower().split()
    if len(words) == 1:
        return _parse_interval(text, words[0])
    if len(words) != len(_FIELDS):
        raise _make_error(text, f"has {len(words)} fields")
    found = [_parse_field(text, field, word) for field, word in zip(_FIELDS, words, strict=True)]
    weekdays = found[4]
    if weekdays is not None:
        found[4] = frozenset(number % 7 for number in weekdays)
    cron = Cron(*found)
    _check_day_exists(text, cron)
    return cron


def _parse_interval(text: str, word: str) -> float:
    match = _INTERVAL.match(word)
    if match is None or not any(match.groups()):
        raise _make_error(text, "is no time")
    units = zip(match.groups(), _UNITS.values(), strict=True)
    seconds = sum(int(number) * unit for number, unit in units if number)
    if not SHORTEST <= seconds <= LONGEST:
        raise _make_error(text, f"is not between {SHORTEST:g} seconds and 366 days")
    return seconds


def _parse_field(text: str, field: _Field, word: str) -> frozenset[int] | None:
    if word == "*":
        return None
    found: set[int] = set()
    for item in word.split(","):
        match = _ITEM.match(item)
        if match is None:
            raise _make_error(text, f"has {item!r} as {field.name}")
        first, last, step = match.groups()
        least, most = _parse_range(text, field, first, last, step)
        found.update(range(least, most + 1, _parse_step(text, field, step)))
    return frozenset(found)


def _parse_range(
    text: str, field: _Field, first: str, last: str | None, step: str | None
) -> tuple[int, int]:
    if first == "*":
        if last is not None:
            raise _make_error(text, f"has '*-{last}' as {field.name}")
        return field.least, min(field.most, 6) if field.name == "day of the week" else field.most
    least = _parse_number(text, field, first)
    if last is None:
        return least, field.most if step else least
    most = _parse_number(text, field, last)
    if field.name == "day of the week" and most == 0 and least > 0:
        most = 7
    if most < least:
        raise _make_error(text, f"has the range {first}-{last} as {field.name}, which is empty")
    return least, most


def _parse_number(text: str, field: _Field, word: str) -> int:
    number = field.words.get(word, int(word) if word.isdigit() else -1)
    if not field.least <= number <= field.most:
        known = f"{field.least} to {field.most}"
        raise _make_error(text, f"has {word} as {field.name}, which is none of {known}")
    return number


def _parse_step(text: str, field: _Field, step: str | None) -> int:
    if step is not None and int(step) == 0:
        raise _make_error(text, f"has a step of 0 as {field.name}")
    if step is not None and int(step) > field.most:
        raise _make_error(
            text, f"has a step of {step} as {field.name}, which is more than there are"
        )
    return int(step or 1)


def _check_day_exists(text: str, cron: Cron) -> None:
    """Raise UsageError for a day that no month has."""
    if cron.days is None or cron.weekdays is not None:
        return
    longest = max(_MOST_DAYS[month - 1] for month in cron.months or range(1, 13))
    if min(cron.days) > longest:
        raise _make_error(text, "names a day that never comes")


def _make_error(text: str, why: str) -> UsageError:
    return UsageError(f"{text!r} is no schedule: it {why}.", hint=HINT)
