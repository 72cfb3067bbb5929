"""``stack plan`` and ``apply`` of stacks with nested ones, on a real database."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Zonda = Callable[..., Any]
Write = Callable[[str, str], Path]

ROOT = """
heat_template_version: 2018-08-31
parameters:
  size: {type: number}
resources:
  web: {type: web.yaml, properties: {size: {get_param: size}}}
  use: {type: OS::Heat::Value, properties: {value: {get_attr: [web, fixed]}}}
"""
WEB = """
heat_template_version: 2018-08-31
parameters:
  size: {type: number}
  word: {type: string, default: %s}
resources:
  password: {type: OS::Heat::RandomString, properties: {length: {get_param: size}}}
  text: {type: OS::Heat::Value, properties: {value: {get_param: word}}}
  copy: {type: OS::Heat::Value, properties: {value: {get_resource: password}}}
outputs:
  fixed: {value: {get_param: word}}
"""


@pytest.fixture
def root(write: Write) -> Path:
    write("web.yaml", WEB % "one")
    return write("root.yaml", ROOT)


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


def test_what_happens_inside_stands_below_its_owner(zonda: Zonda, root: Path) -> None:
    zonda("stack", "create", "s", "-t", root, "-P", "size=8")
    shown = zonda("stack", "plan", "s", "-t", root, "-P", "size=9", "-f", "table")
    told = lines(shown.out)
    start = told.index("  ~ web  web.yaml  will be updated in place")
    assert told[start + 1 : start + 5] == [
        "      ~ properties.size: 8 -> 9",
        "      -/+ password  OS::Heat::RandomString  will be replaced",
        "          because length can only be changed by a new resource",
        "          ~ properties.length: 8 -> 9  forces a replacement",
    ]
    assert told[-1] == "Plan: 1 to update, 1 to replace, 1 may be updated, 2 unchanged."


def test_a_default_that_changes_inside_is_named(zonda: Zonda, root: Path, write: Write) -> None:
    zonda("stack", "create", "s", "-t", root, "-P", "size=8")
    write("web.yaml", WEB % "two")
    shown = zonda("stack", "plan", "s", "-t", root, "-P", "size=8", "-f", "table")
    assert '      parameter ~ word: "one" -> "two"' in lines(shown.out)
    assert "because what is nested in it changes" in shown.out
    assert '~ properties.value: "one" -> "two"' in shown.out


def test_exit_codes_tell_of_what_is_nested(
    zonda: Zonda, root: Path, write: Write, tmp_path: Path
) -> None:
    given = ("-t", root, "-P", "size=8")
    zonda("stack", "create", "s", *given)
    detailed = ("--detailed-exitcode", "-f", "json")
    zonda("stack", "plan", "s", *given, *detailed)
    write("web.yaml", WEB % "two")
    file = tmp_path / "plan.json"
    plan = zonda("stack", "plan", "s", *given, *detailed, "-o", file, code=2).data
    (nested,) = plan["resources"][0]["nested"]
    assert nested["stack_path"] == ["web"]
    assert [each["name"] for each in nested["resources"]] == ["text"]
    assert zonda("stack", "apply", file, "-f", "json").data["stack_status"] == "UPDATE_COMPLETE"
    zonda("stack", "plan", "s", *given, *detailed)
    plan = zonda("stack", "plan", "s", "--delete", "-f", "json").data
    assert plan["summary"]["delete"] == 5


def test_a_nested_name_is_no_target(zonda: Zonda, root: Path) -> None:
    zonda("stack", "create", "s", "-t", root, "-P", "size=8")
    said = zonda("stack", "plan", "s", "-t", root, "-P", "size=9", "--target", "web/text", code=2)
    assert "web with all nested in it" in said.err
