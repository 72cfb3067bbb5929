"""Templates, environments, files, outputs; export, abandonment, adoption; snapshots."""

from __future__ import annotations

import json
from typing import Any

import pytest

from zonda.core.api.service.project import Project
from zonda.core.engine.actions import Accepted, SnapshotStack
from zonda.hooks.records import replace

EMPTY = {"heat_template_version": "2018-08-31"}
TEST = {
    "heat_template_version": "2018-08-31",
    "parameters": {"password": {"type": "string", "hidden": True, "default": "swordfish"}},
    "resources": {"a": {"type": "OS::Heat::TestResource", "properties": {"value": "x"}}},
}
DOCUMENT = {
    "name",
    "id",
    "action",
    "status",
    "environment",
    "files",
    "template",
    "resources",
    "project_id",
    "stack_user_project_id",
    "tags",
}


def test_the_template_is_data_as_it_was_given(api: Any) -> None:
    text = "heat_template_version: 2018-08-31\ndescription: a text\n"
    assert api("GET", f"{api.create('text', text)}/template").body == {
        "heat_template_version": "2018-08-31",
        "description": "a text",
    }
    template = {**EMPTY, "resources": TEST["resources"]}
    assert api("GET", f"{api.create('data', template)}/template").body == template


def test_environment_and_files_are_those_of_the_request(api: Any) -> None:
    template = {**EMPTY, "parameters": {"p": {"type": "string"}}}
    path = api.create(
        "env",
        template,
        parameters={"p": "mine"},
        environment={"parameter_defaults": {"q": 1}, "resource_registry": {"My::T": "t.yaml"}},
        files={"t.yaml": "heat_template_version: 2018-08-31"},
    )
    environment = api("GET", f"{path}/environment").body
    assert environment["parameters"] == {"p": "mine"}
    assert environment["parameter_defaults"] == {"q": 1}
    assert environment["resource_registry"]["My::T"] == "t.yaml"
    assert environment["event_sinks"] == []
    assert environment["encrypted_param_names"] == []
    assert api("GET", f"{path}/files").body == {"t.yaml": "heat_template_version: 2018-08-31"}


def test_outputs_are_listed_without_values_and_shown_with_them(api: Any) -> None:
    path = api.create("outputs")
    assert api("GET", f"{path}/outputs").body == {
        "outputs": [
            {"output_key": "text", "description": "the text"},
            {"output_key": "secret", "description": "No description given"},
        ]
    }
    assert api("GET", f"{path}/outputs/text").body["output"]["output_value"] == "one"
    reply = api("GET", f"{path}/outputs/nope")
    assert (reply.status, reply.kind) == (404, "EntityNotFound")


def test_a_stack_is_exported_abandoned_and_adopted(api: Any) -> None:
    path = api.create("moved", TEST)
    exported = api("GET", f"{path}/export")
    assert exported.status == 200
    assert set(exported.body) - {"masked"} == DOCUMENT
    assert "swordfish" not in json.dumps(exported.body)
    physical = exported.body["resources"]["a"]["resource_id"]
    abandoned = api("DELETE", f"{path}/abandon")
    assert (abandoned.status, set(abandoned.body)) == (200, DOCUMENT)
    assert api("GET", path).body["stack"]["stack_status"] == "DELETE_COMPLETE"
    made = api(
        "POST", "/stacks", {"stack_name": "moved", "adopt_stack_data": json.dumps(abandoned.body)}
    )
    assert made.status == 201, made.body
    again = f"/stacks/moved/{made.body['stack']['id']}"
    api.wait(again)
    assert api.state(again) == "ADOPT_COMPLETE"
    shown = api("GET", f"{again}/resources/a").body["resource"]
    assert shown["physical_resource_id"] == physical


def test_what_is_adopted_has_the_texts_of_its_document(api: Any) -> None:
    data = {
        "template": json.dumps({**EMPTY, "parameters": {"p": {"type": "string"}}}),
        "environment": {"parameters": {"p": "kept"}},
        "files": {"note.txt": "kept", "more.txt": "kept"},
        "tags": ["a", "b"],
    }
    body = {"adopt_stack_data": json.dumps(data), "files": {"more.txt": "given"}}
    made = api("POST", "/stacks", {"stack_name": "texts", **body})
    assert made.status == 201, made.body
    path = f"/stacks/texts/{made.body['stack']['id']}"
    stack = api("GET", path).body["stack"]
    assert (stack["parameters"]["p"], stack["tags"]) == ("kept", ["a", "b"])
    assert api("GET", f"{path}/files").body == {"note.txt": "kept", "more.txt": "given"}


def test_snapshots_are_made_shown_restored_and_deleted(api: Any) -> None:
    path = api.create("kept", TEST)
    made = api("POST", f"{path}/snapshots", {"name": "first"})
    assert made.status == 200
    assert set(made.body) == {
        "id",
        "name",
        "action",
        "status",
        "status_reason",
        "creation_time",
        "data",
    }
    assert made.body["name"] == "first"
    assert made.body["status"] in ("IN_PROGRESS", "COMPLETE")  # it may be made by now
    api.wait(path)
    assert api.state(path) == "SNAPSHOT_COMPLETE"
    key = made.body["id"]
    assert [each["id"] for each in api("GET", f"{path}/snapshots").body["snapshots"]] == [key]
    shown = api("GET", f"{path}/snapshots/{key}").body["snapshot"]
    assert (shown["status"], shown["data"]["name"]) == ("COMPLETE", "kept")
    assert api("POST", f"{path}/snapshots/{key}/restore").status == 202
    api.wait(path)
    assert api.state(path) == "RESTORE_COMPLETE"
    assert api("DELETE", f"{path}/snapshots/{key}").status == 204
    api.wait(path)
    assert api("GET", f"{path}/snapshots").body["snapshots"] == []


def test_a_snapshot_that_is_made_right_after_it_is_not_taken_for_it(
    api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, submit = api.create("twice", TEST), Project.submit

    def submit_both(project: Project, action: SnapshotStack) -> Accepted:
        accepted = submit(project, action)
        api.wait(path)
        submit(project, replace(action, name="later"))
        return accepted

    monkeypatch.setattr(Project, "submit", submit_both)
    made = api("POST", f"{path}/snapshots", {"name": "first"}).body
    assert made["name"] == "first"
    assert api("GET", f"{path}/snapshots/{made['id']}").body["snapshot"]["name"] == "first"


@pytest.mark.parametrize(("method", "part"), [("GET", ""), ("DELETE", ""), ("POST", "/restore")])
def test_an_unknown_snapshot_is_not_found(api: Any, method: str, part: str) -> None:
    path = api.create(f"none{method.lower()}", EMPTY)
    reply = api(method, f"{path}/snapshots/nope{part}")
    assert (reply.status, reply.message) == (404, "Snapshot with id nope not found")
