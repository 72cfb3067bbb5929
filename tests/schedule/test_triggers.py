"""Schedules on the clock, and texts that are no schedule."""

from __future__ import annotations

import bisect
from datetime import UTC, datetime

import pytest

from zonda.core.schedule.timing import Timing
from zonda.core.schedule.triggers import compute_next_time
from zonda.core.template.environment.schedules import parse_schedule
from zonda.hooks.errors import UsageError

#: A Friday.
NOW = datetime(2027, 1, 1, 12, 7, 30, tzinfo=UTC).timestamp()


def at(text: str) -> float:
    return datetime.fromisoformat(f"{text}+00:00").timestamp()


@pytest.mark.parametrize(
    ("text", "first"),
    [
        pytest.param("15m", "2027-01-01T12:15", id="interval"),
        pytest.param("900", "2027-01-01T12:15", id="seconds"),
        pytest.param("1h30m", "2027-01-01T13:30", id="mixed"),
        pytest.param("*/15 * * * *", "2027-01-01T12:15", id="cron"),
        pytest.param("0 3 * * *", "2027-01-02T03:00", id="daily"),
        pytest.param("0 3 1-7,20 feb *", "2027-02-01T03:00", id="list, range and word"),
        pytest.param("0 0 * * 0", "2027-01-03T00:00", id="0 is Sunday"),
        pytest.param("0 0 * * 7", "2027-01-03T00:00", id="7 is Sunday"),
        pytest.param("0 0 * * 1", "2027-01-04T00:00", id="1 is Monday"),
        pytest.param("0 0 * * 0-2", "2027-01-03T00:00", id="a range that begins with Sunday"),
        pytest.param("0 0 * * fri-sun", "2027-01-02T00:00", id="a range that ends with Sunday"),
        pytest.param("0 0 * * */2", "2027-01-02T00:00", id="every second day of the week"),
        pytest.param("0 0 20 * 1", "2027-01-04T00:00", id="either day will do"),
        pytest.param("7/10 * * * *", "2027-01-01T12:17", id="from on"),
        pytest.param("0 0 29 2 *", "2028-02-29T00:00", id="leap day"),
    ],
)
def test_when_it_comes_next(text: str, first: str) -> None:
    assert compute_next_time(text, NOW) == at(first)


def test_what_is_due_now_is_due_next_later() -> None:
    first = compute_next_time("15m", NOW)
    assert compute_next_time("15m", first) == first + 900


@pytest.mark.parametrize(
    "text",
    [
        *("", "x", "15x", "0", "5", "9s", "400d", "-5m", "1.5h", "m", "* * * *", "* * * * * *"),
        *("60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 13 * ", "* * * * 8"),
        *("*/0 * * * *", "5-1 * * * *", "a * * * *", "*-5 * * * *", "0 0 31 2 *", "1,,2 * * * *"),
        *("*/61 * * * *", "* 5/24 * * *"),
        *("@daily", "0 0 30 feb *", "* * * foo *", "15m 3h"),
    ],
)
def test_a_text_that_is_no_schedule_is_told_at_once(text: str) -> None:
    with pytest.raises(UsageError, match="is no schedule") as caught:
        parse_schedule(text)
    assert "15m" in caught.value.hint


def compute_due(text: str, name: str, now: float) -> float:
    return Timing().compute_next_due(text, name, now)


def test_stacks_are_spread_each_always_by_the_same_and_a_tenth_at_most() -> None:
    due = {name: compute_due("5m", name, NOW) for name in map(str, range(50))}
    grid = at("2027-01-01T12:10")
    assert len(set(due.values())) == 50
    assert all(grid <= each <= grid + 30 for each in due.values())
    assert all(compute_due("5m", name, each - 1) == each for name, each in due.items())
    assert all(compute_due("5m", name, each) == each + 300 for name, each in due.items())
    daily = [compute_due("0 3 * * *", name, NOW) for name in map(str, range(50))]
    assert max(daily) <= at("2027-01-02T03:00") + 60


@pytest.mark.parametrize("text", ["*/5 6-22 * * *", "0,1 * * * *", "* 3 * * *", "15m", "10"])
def test_each_time_of_a_schedule_comes_once_however_its_gaps_differ(text: str) -> None:
    times = [compute_next_time(text, NOW - 120)]
    while len(times) < 400:
        times.append(compute_next_time(text, times[-1]))
    for name in map(str, range(10)):
        due = [compute_due(text, name, NOW)]
        while len(due) < 300:
            due.append(compute_due(text, name, due[-1]))
        which = [bisect.bisect(times, each) - 1 for each in due]
        assert which == list(range(which[0], which[0] + 300))
