"""The section ``zonda`` of environments: values, merging, faults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from zonda.core.template.environment import zonda_section
from zonda.hooks.errors import TemplateError, ValidationErrors

Loaded = Callable[..., Any]


def normal(*sections: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for section in sections:
        assert list(zonda_section.find_faults(section)) == []
        found = zonda_section.merge_sections(found, section)
    return found


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        pytest.param(30, 30.0, id="number"),
        pytest.param(0.5, 0.5, id="half"),
        pytest.param("30", 30.0, id="text"),
        pytest.param("30s", 30.0, id="seconds"),
        pytest.param("10m", 600.0, id="minutes"),
        pytest.param("1.5h", 5400.0, id="hours"),
        pytest.param("1d", 86400.0, id="days"),
        pytest.param("366d", 366 * 86400.0, id="longest"),
        pytest.param("367d", None, id="too-long"),
        pytest.param(0, None, id="nothing"),
        pytest.param(-1, None, id="negative"),
        pytest.param(True, None, id="true"),
        pytest.param("soon", None, id="word"),
        pytest.param("10 m", None, id="blank"),
        pytest.param("", None, id="empty"),
        pytest.param(float("nan"), None, id="nan"),
        pytest.param(None, None, id="null"),
    ],
)
def test_times(written: Any, seconds: float | None) -> None:
    assert zonda_section.parse_duration(written) == seconds


@pytest.mark.parametrize(
    ("section", "kept"),
    [
        pytest.param({"timeouts": {"a": "1m"}}, {"timeouts": {"a": {"*": 60.0}}}, id="bare-time"),
        pytest.param(
            {"timeouts": {"a": {"create": 5, "pre-create": "1h"}}},
            {"timeouts": {"a": {"create": 5.0, "pre-create": 3600.0}}},
            id="times",
        ),
        pytest.param({"retries": {"a": 3}}, {"retries": {"a": {"*": [3, 1.0]}}}, id="bare-number"),
        pytest.param(
            {"retries": {"a": {"attempts": 3, "delay": "10s"}}},
            {"retries": {"a": {"*": [3, 10.0]}}},
            id="for-every-action",
        ),
        pytest.param(
            {"retries": {"a": {"create": {"attempts": 5, "delay": 2}, "delete": 2}}},
            {"retries": {"a": {"create": [5, 2.0], "delete": [2, 1.0]}}},
            id="for-actions",
        ),
        pytest.param(
            {"protect": ["stack", "a"]}, {"protect": {"stack": True, "a": True}}, id="list"
        ),
        pytest.param({"protect": {"a": False}}, {"protect": {"a": False}}, id="map"),
        pytest.param({"protect": None}, {"protect": {}}, id="null"),
        pytest.param({}, {}, id="empty"),
    ],
)
def test_normal_form(section: Any, kept: Any) -> None:
    assert normal(section) == kept


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        pytest.param(
            {"timeouts": {"a": {"create": 1}}},
            {"timeouts": {"a": {"update": 2}, "b": 3}},
            {"timeouts": {"a": {"create": 1.0, "update": 2.0}, "b": {"*": 3.0}}},
            id="by-action",
        ),
        pytest.param(
            {"timeouts": {"a": {"create": 1}}},
            {"timeouts": {"a": 2}},
            {"timeouts": {"a": {"*": 2.0}}},
            id="a-bare-value-is-for-all",
        ),
        pytest.param(
            {"timeouts": {"a": {"create": 1, "update": 2}}},
            {"timeouts": {"a": {"create": None}}},
            {"timeouts": {"a": {"update": 2.0}}},
            id="null-takes-back-an-action",
        ),
        pytest.param(
            {"protect": ["a", "b"]},
            {"protect": {"a": None, "b": False}},
            {"protect": {"b": False}},
            id="null-takes-back",
        ),
        pytest.param(
            {"runners": {"a": "x", "b": "x", "c": "x"}},
            {"runners": {"a": None, "b": "y"}},
            {"runners": {"b": "y", "c": "x"}},
            id="runners",
        ),
    ],
)
def test_later_environments_win(first: Any, second: Any, kept: Any) -> None:
    assert normal(first, second) == kept


@pytest.mark.parametrize(
    ("text", "place", "message", "hint"),
    [
        ("{timeout: {}}", "1:9", "'timeout' is none of", "Did you mean timeouts?"),
        ("{timeouts: 5}", "1:9", "must map resources", ""),
        ("{timeouts: {web: soon}}", "1:20", "'soon' is no time", "Give seconds"),
        ("{timeouts: {web: {craete: 5}}}", "1:26", "'craete' is no action", "Did you mean create?"),
        ("{timeouts: {web: {create: [1]}}}", "1:26", "a list is no time", "Give seconds"),
        ("{timeouts: {1: 5}}", "1:20", "must be text", ""),
        ("{retries: {web: {pre-create: 2}}}", "1:25", "is no action", ""),
        ("{retries: {web: 0}}", "1:19", "0 is no number of attempts", "Give a number from 1"),
        ("{retries: {web: true}}", "1:19", "True is no number", ""),
        ("{retries: {web: {attempts: 2, dealy: 5}}}", "1:38", "'dealy'", "Did you mean delay?"),
        ("{retries: {web: {create: {delay: no}}}}", "1:34", "False is no time", ""),
        ("{protect: web}", "1:9", "must be a list or a map", "Give a list"),
        ("{protect: [1]}", "1:19", "must be text", ""),
        ("{protect: {web: maybe}}", "1:19", "'maybe' is neither", ""),
        ("{runners: run-it}", "1:9", "must map resources to workflows", ""),
        ("{runners: {1: run-it}}", "1:19", "must be text", ""),
        ("{runners: {web: [run-it]}}", "1:19", "a list is no workflow", "Give WORKFLOW"),
        ("{runners: {web: ''}}", "1:19", "'' is no workflow", "Give WORKFLOW"),
    ],
)
def test_faults_have_places(loaded: Loaded, text: str, place: str, message: str, hint: str) -> None:
    with pytest.raises(ValidationErrors) as raised:
        loaded("", environment=f"zonda: {text}")

    fault = raised.value.errors[0]
    assert fault.code == "ZON147"
    assert message in str(fault)
    assert fault.hint.startswith(hint)
    assert str(fault.place) == f"environment:{place}"


def test_every_fault_is_told(loaded: Loaded) -> None:
    with pytest.raises(ValidationErrors) as raised:
        loaded("", environment="zonda: {timeouts: {a: no, b: {x: 1}}, retries: 1, tags: 2}")

    assert len(raised.value.errors) == 4
    assert all(isinstance(fault, TemplateError) for fault in raised.value.errors)


@pytest.mark.parametrize(
    ("section", "place", "hint"),
    [
        pytest.param("{protect: [wbe]}", "1:19", "Did you mean web?", id="list"),
        pytest.param("{timeouts: {wbe: 5}}", "1:20", "Did you mean web?", id="map"),
        pytest.param("{retries: {My::Thnig: 2}}", "1:19", "", id="type"),
        pytest.param('{protect: [web, stack, "No::*"]}', None, "", id="nothing-odd"),
        pytest.param("{timeouts: {Thing: 5, web: 6}}", None, "", id="type-and-name"),
        pytest.param("{drift: {schedule: 15m, policy: report}}", None, "", id="drift"),
        pytest.param(
            '{drift: {ignore: [{resource: web/a}, {resource: "w*"}]}}', None, "", id="drift-ignored"
        ),
        pytest.param(
            "{drift: {ignore: [{resource: wbe}]}}", "1:27", "Did you mean web?", id="drift-typo"
        ),
    ],
)
def test_entries_that_are_for_nothing(
    loaded: Loaded, section: str, place: str | None, hint: str
) -> None:
    stack = loaded("resources: {web: {type: Thing}}", environment=f"zonda: {section}")

    found = [warning for warning in stack.warnings if warning.code == "ZON614"]
    shown = [(str(each.place).removeprefix("environment:"), each.hint) for each in found]
    assert shown == ([] if place is None else [(place, hint)])
