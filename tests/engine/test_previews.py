"""Plans that are only shown: what they say, and that they say what the engine then does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from zonda.core.engine.actions import DeleteStack, UpdateStack
from zonda.core.engine.preview.document import document
from zonda.core.engine.preview.making import preview


def shown(bench: Any, resources: str, **given: Any) -> dict[str, Any]:
    """What a plan of an update shows, as programs read it."""
    action = UpdateStack("s", bench.bundle(resources, **given))
    return json.loads(json.dumps(document(preview(bench.engine.room, action))))


def of(plan: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in plan["resources"] if each["name"] == name)


def kinds(plan: dict[str, Any], name: str) -> list[str]:
    return [reason["kind"] for reason in of(plan, name)["reasons"]]


ONE = "a: {type: Test::Box, properties: {value: %s, fixed: %s}}\n"


def test_nothing_changes(bench):
    bench.create(ONE % (1, 2))
    plan = shown(bench, ONE % (1, 2))
    assert not plan["does_something"]
    assert plan["unchanged"] == ["a"]
    assert plan["resources"] == []


def test_an_update_in_place_shows_old_and_new(bench):
    bench.create(ONE % ("one", 2))
    plan = shown(bench, ONE % ("two", 2))
    assert of(plan, "a")["action"] == "update"
    assert of(plan, "a")["changes"] == [
        {"path": ["properties", "value"], "kind": "changed", "before": "one", "after": "two"}
    ]


def test_a_replacement_tells_which_property_forces_it(bench):
    bench.create(ONE % ("one", "x"))
    plan = shown(bench, ONE % ("two", "y"))
    assert of(plan, "a")["action"] == "replace"
    assert of(plan, "a")["reasons"] == [
        {
            "kind": "fixed",
            "text": "fixed can only be changed by a new resource",
            "names": ["fixed"],
            "perhaps": False,
        }
    ]
    forcing = {change["path"][1]: change.get("forces") for change in of(plan, "a")["changes"]}
    assert forcing == {"value": None, "fixed": "replace"}
