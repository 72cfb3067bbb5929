"""Workflows as properties and in Mistral's language, converted both ways."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from zonda.hooks.schema.properties import Properties
from zonda.workflows.mistral import workflow_definition
from zonda.workflows.mistral.workflow_schema import PROPERTIES_SCHEMA

TASK = {"name": "make", "action": "std.echo", "input": {"output": "x"}}


def stored(**given: Any) -> dict[str, Any]:
    """The properties as they are stored: nested maps have all their keys, null where not given."""
    return Properties(
        PROPERTIES_SCHEMA, {"type": "direct", "tasks": [TASK], **given}
    ).get_stored_values()


def test_a_workflow_is_written_in_mistrals_language() -> None:
    text = workflow_definition.format_definition(
        "w",
        stored(
            description="d",
            tags=["t"],
            input={"a": 1, "b": None},
            output={"id": "<% $.id %>"},
            task_defaults={"on_error": ["tell"], "wait_before": 2},
            tasks=[{**TASK, "on_success": ["tell"], "keep_result": False}, {"name": "tell"}],
        ),
    )
    assert yaml.safe_load(text) == {
        "version": "2.0",
        "w": {
            "type": "direct",
            "description": "d",
            "tags": ["t"],
            "output": {"id": "<% $.id %>"},
            "input": ["a", "b"],
            "task-defaults": {"on-error": ["tell"], "wait-before": 2},
            "tasks": {
                "make": {
                    "action": "std.echo",
                    "input": {"output": "x"},
                    "on-success": ["tell"],
                    "keep-result": False,
                },
                "tell": {},
            },
        },
    }


@pytest.mark.parametrize(
    ("given", "written"),
    [
        pytest.param({"join": "all"}, {"join": "all"}, id="join-all"),
        pytest.param({"join": "2"}, {"join": 2}, id="join-a-number"),
        pytest.param({"wait_before": 0}, {"wait-before": 0}, id="zero-is-said"),
        pytest.param({"policies": {"timeout": 5}}, {"timeout": 5}, id="policies"),
        pytest.param({"policies": {"odd": 5}}, {}, id="nothing-else-of-policies"),
    ],
)
def test_tasks(given: dict[str, Any], written: dict[str, Any]) -> None:
    [task] = stored(tasks=[{"name": "t", "action": "std.noop", **given}])["tasks"]
    assert workflow_definition.build_task(task) == {"action": "std.noop", **written}


FULL = {
    "description": "d",
    "input": {"a": 1},
    "output": {"id": "x"},
    "task_defaults": {"retry": {"count": 2}},
    "tasks": [{**TASK, "join": "1", "wait_after": 3}, {"name": "tell", "action": "std.noop"}],
}


def test_what_is_as_it_was_written_is_observed_as_it_was_written() -> None:
    wanted = stored(**FULL)
    found = workflow_definition.read_properties(
        "w", workflow_definition.format_definition("w", wanted), wanted
    )
    assert {key: found[key] for key in found if wanted.get(key) is not None} == {
        key: wanted[key] for key in ("type", "description", "input", "output", "tasks")
    } | {"task_defaults": wanted["task_defaults"]}


@pytest.mark.parametrize(
    ("change", "name", "wanted"),
    [
        pytest.param({"description": "other"}, "description", "other", id="description"),
        pytest.param({"description": None}, "description", None, id="no-description"),
        pytest.param({"type": "reverse"}, "type", "reverse", id="type"),
        pytest.param({"input": ["a", {"b": 2}]}, "input", {"a": 1, "b": None}, id="input"),
        pytest.param({"output": {}}, "output", {}, id="output"),
        pytest.param({"tags": ["t"]}, "tags", ["t"], id="tags"),
        pytest.param(
            {"task-defaults": {"wait-before": 1}},
            "task_defaults",
            {"wait_before": 1},
            id="defaults",
        ),
    ],
)
def test_a_change_by_hand_is_observed(change: dict[str, Any], name: str, wanted: Any) -> None:
    before = stored(**FULL)
    whole = yaml.safe_load(workflow_definition.format_definition("w", before))
    whole["w"] = {k: v for k, v in {**whole["w"], **change}.items() if v is not None}
    found = workflow_definition.read_properties("w", yaml.safe_dump(whole), before)
    assert found[name] == wanted
    same = {key for key in found if before.get(key) is not None and found[key] == before[key]}
    assert same == {key for key in FULL | {"type": 0} if key != name}


def test_a_changed_task_keeps_its_place_and_a_new_one_comes_last() -> None:
    before = stored(**FULL)
    whole = yaml.safe_load(workflow_definition.format_definition("w", before))
    whole["w"]["tasks"]["make"]["wait-after"] = 9
    whole["w"]["tasks"]["extra"] = {"action": "std.fail"}
    tasks = workflow_definition.read_properties("w", yaml.safe_dump(whole), before)["tasks"]
    assert [task["name"] for task in tasks] == ["make", "tell", "extra"]
    assert tasks[0]["wait_after"] == 9
    assert tasks[1] == before["tasks"][1]
    assert tasks[2] == {"name": "extra", "action": "std.fail"}


@pytest.mark.parametrize("text", ["", "[", "x: 1", "w: 1"])
def test_what_is_no_workflow_is_like_none(text: str) -> None:
    assert workflow_definition.find_workflow("w", text) == {}
    assert not workflow_definition.is_same_workflow("w", text, text)
