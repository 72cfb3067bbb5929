"""``zonda stack drift`` of ``STACK/OWNER``: that nested stack alone, with those nested in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.drift.test_drift import Things

Zonda = Callable[..., Any]


@pytest.fixture
def things(zonda: Zonda, tmp_path: Path) -> Things:
    """A stack ``s`` with a thing ``top``, and ``low`` in the nested stack ``n``."""
    made = Things(zonda, tmp_path)

    def thing(name: str) -> str:
        given = f"{{folder: {json.dumps(str(made.folder))}, value: one}}"
        return f"  {name}: {{type: Test::Thing, properties: {given}}}\n"

    head = "heat_template_version: 2018-08-31\nresources:\n"
    (tmp_path / "n.yaml").write_text(head + thing("low"))
    made.template.write_text(f"{head}{thing('top')}  n: {{type: n.yaml}}\n")
    zonda("stack", "create", "s", "-t", made.template)
    made.calls()
    for name in ("top", "low"):
        made.set(name, value="two")
    return made


def test_a_check_and_what_it_found(zonda: Zonda, things: Things) -> None:
    done = zonda("stack", "drift", "check", "s/n", "-f", "json", code=3)
    assert [each["resource"] for each in done.data["findings"]] == ["n/low"]
    assert done.data["scope"] == ["n"]
    shown = zonda("stack", "drift", "show", "s/n", "-f", "json").data
    assert {each["resource"] for each in shown["resources"]} == {"n", "n/low"}
    zonda("stack", "drift", "check", "s/n", "top", code=1)


def test_a_repair_leaves_the_stack_above_alone(zonda: Zonda, things: Things) -> None:
    zonda("stack", "drift", "check", "s", code=3)
    plan = zonda("stack", "drift", "repair", "s/n", "--plan", "-f", "json", code=3).data
    assert [each["name"] for each in plan["resources"] if each["action"] != "none"] == ["n"]
    zonda("stack", "drift", "repair", "s/n")
    assert things.calls() == ["low update value"]


def test_an_exception(zonda: Zonda, things: Things) -> None:
    zonda("stack", "drift", "ignore", "s/n", "low.value", "--reason", "by hand")
    zonda("stack", "drift", "check", "s/n", code=0)
    assert zonda("stack", "drift", "ignore", "list", "s", "-f", "json").data[0]["Resource"] == (
        "n/low"
    )


def test_a_schedule_is_of_the_whole(zonda: Zonda, things: Things) -> None:
    for words in (("15m",), ("off",), ("--policy", "repair")):
        done = zonda("stack", "drift", "schedule", "s/n", *words, code=1)
        assert "nested in the stack s" in done.err
        assert "zonda stack drift schedule s" in done.err
    assert zonda("stack", "show", "s", "-f", "json").data["drift_schedule"] in ("", None)
