"""The drift section of an environment: values, faults with their places, merging."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from zonda.core.template.environment import zonda_section
from zonda.core.template.environment.drift_section import parse_end, parse_moment


def faults(drift: Any) -> list[tuple[str, ...]]:
    found = zonda_section.find_faults({"drift": drift})
    return [tuple(str(item) for item in fault.at) for fault in found]


@pytest.mark.parametrize(
    ("drift", "places"),
    [
        pytest.param({"schedule": "15m", "policy": "repair"}, [], id="good"),
        pytest.param({"schedule": 900}, [], id="seconds"),
        pytest.param({"schedule": False, "policy": None}, [], id="off, as YAML reads it"),
        pytest.param(None, [], id="nothing"),
        pytest.param(["15m"], [("zonda", "drift")], id="no map"),
        pytest.param({"schedule": "15x"}, [("zonda", "drift", "schedule")], id="no schedule"),
        pytest.param({"schedule": True}, [("zonda", "drift", "schedule")], id="true"),
        pytest.param({"policy": "mend"}, [("zonda", "drift", "policy")], id="no policy"),
        pytest.param({"shedule": "15m"}, [("zonda", "drift", "shedule")], id="unknown key"),
        pytest.param({"ignore": {}}, [("zonda", "drift", "ignore")], id="no list"),
        pytest.param({"ignore": [{}]}, [("zonda", "drift", "ignore", "0")], id="no resource"),
        pytest.param(
            {"ignore": [{"resource": "a"}, {"resource": "b", "until": "soon", "why": "x"}]},
            [("zonda", "drift", "ignore", "1", "until"), ("zonda", "drift", "ignore", "1", "why")],
            id="all faults of an exception",
        ),
        pytest.param({"ignore": [{"resource": "a", "until": "30d"}]}, [], id="a span"),
        pytest.param(
            {"ignore": [{"resource": "a", "until": "0d"}]},
            [("zonda", "drift", "ignore", "0", "until")],
            id="a span of nothing",
        ),
        pytest.param(
            {"ignore": [{"resource": "a", "until": "999999w"}]},
            [("zonda", "drift", "ignore", "0", "until")],
            id="a span beyond the calendar",
        ),
        pytest.param(
            {"ignore": [{"resource": "a", "until": "9999-12-31T23:59:59-14:00"}]},
            [("zonda", "drift", "ignore", "0", "until")],
            id="a date beyond the calendar",
        ),
        pytest.param(
            {"ignore": [{"resource": "a", "reason": 3}]},
            [("zonda", "drift", "ignore", "0", "reason")],
            id="a reason that is no text",
        ),
    ],
)
def test_faults_stand_where_they_are(drift: Any, places: list[tuple[str, ...]]) -> None:
    assert faults(drift) == places


def test_a_later_environment_wins_key_by_key() -> None:
    one = {"drift": {"schedule": "15m", "policy": "repair", "ignore": [{"resource": "a"}]}}
    other = {"drift": {"schedule": "1h", "policy": None, "ignore": [{"resource": "b"}]}}
    merged = zonda_section.merge_sections(zonda_section.merge_sections({}, one), other)
    assert merged == {"drift": {"schedule": "1h", "ignore": [{"resource": "b"}]}}


DAY = datetime.datetime(2027, 1, 1, tzinfo=datetime.UTC).timestamp()


@pytest.mark.parametrize(
    ("value", "at"),
    [
        pytest.param("2027-01-01", DAY, id="date"),
        pytest.param(datetime.date(2027, 1, 1), DAY, id="date of YAML"),
        pytest.param("2027-01-01T02:00:00+02:00", DAY, id="with an offset"),
        pytest.param("2027-01-01T00:00:00Z", DAY, id="zulu"),
        pytest.param("tomorrow", None, id="word"),
        pytest.param(20270101, None, id="number"),
        pytest.param("0001-01-01T00:00:00+14:00", None, id="before the year 1"),
        pytest.param("9999-12-31T23:59:59-14:00", None, id="after the year 9999"),
        pytest.param("9999-12-31T23:59:59.999999Z", None, id="rounded up to the year 10000"),
        pytest.param("9999-12-31T23:59:59Z", 253402300799, id="the last second"),
    ],
)
def test_dates(value: Any, at: float | None) -> None:
    assert parse_moment(value) == at


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        pytest.param("30d", 30 * 86400, id="days"),
        pytest.param(" 12h ", 12 * 3600, id="hours"),
        pytest.param("90m", 5400, id="minutes"),
        pytest.param("2w", 14 * 86400, id="weeks"),
        pytest.param("0d", None, id="none"),
        pytest.param("30", None, id="no unit"),
        pytest.param("soon", None, id="word"),
        pytest.param("999999d", 999999 * 86400, id="centuries"),
        pytest.param("999999w", None, id="beyond the calendar"),
    ],
)
def test_spans_count_from_now(text: str, seconds: int | None) -> None:
    assert parse_end(text, 1000.0) == (None if seconds is None else 1000.0 + seconds)
    assert parse_end("2027-01-01", 1000.0) == DAY


@pytest.mark.parametrize(
    "said", ["30d", "2027-01-01", datetime.date(2027, 1, 1), "9999-12-31T23:59:59Z"]
)
def test_the_normal_form_can_be_read_again(said: Any) -> None:
    found = zonda_section.merge_sections(
        {}, {"drift": {"ignore": [{"resource": "a", "until": said}]}}
    )
    assert faults(found["drift"]) == []
    assert zonda_section.merge_sections({}, found) == found
