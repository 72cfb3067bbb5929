"""Two projects: whatever the one has, the other cannot tell from what is not there.

Every route is asked for every id of the other project, and every list.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from zonda.core.api.heat.routes import ROWS

SECRET = "swordfish-of-mine"
TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "parameters": {"password": {"type": "string", "hidden": True}},
    "resources": {
        "a": {"type": "OS::Heat::TestResource", "properties": {"value": {"get_param": "password"}}},
        "handle": {"type": "OS::Heat::WaitConditionHandle"},
        "nest": {"type": "inner.yaml", "properties": {"p": {"get_param": "password"}}},
    },
    "outputs": {
        "o": {"value": {"get_attr": ["a", "output"]}},
        "p": {"value": {"get_param": "password"}},
    },
}
FILES = {
    "inner.yaml": "heat_template_version: 2018-08-31\n"
    "parameters: {p: {type: string, hidden: true}}\n"
    "resources: {i: {type: OS::Heat::TestResource, properties: {value: {get_param: p}}}}\n"
}
#: Routes without an id: they show nothing of any project, or are lists.
LISTS = [row for row in ROWS if "{" not in row[1] and row[0] == "GET"]
WITH_IDS = [row for row in ROWS if "{stack_id}" in row[1] or "{stack_name" in row[1]]
SOFTWARE = [row for row in ROWS if "config_id" in row[1] or "deployment_id" in row[1]]


@pytest.fixture(scope="module")
def parts(api: Any) -> dict[str, str]:
    """The ids of a project."""
    mine = api.become("mine")
    path = mine.create(
        "private", TEMPLATE, parameters={"password": SECRET}, files=FILES, tags="mine"
    )
    snapshot = mine("POST", f"{path}/snapshots", {"name": "s"}).body["id"]
    mine.wait(path)
    config = mine("POST", "/software_configs", {"name": "c", "config": "private"}).body
    body = {"config_id": config["software_config"]["id"], "server_id": "mine-server"}
    deployment = mine("POST", "/software_deployments", body).body["software_deployment"]
    event = mine("GET", f"{path}/resources/a/events").body["events"][0]["id"]
    return {
        "stack_name": "private",
        "stack_id": path.rpartition("/")[2],
        "snapshot_id": snapshot,
        "resource": "a",
        "event_id": event,
        "output": "o",
        "config_id": config["software_config"]["id"],
        "deployment_id": deployment["id"],
        "server_id": "mine-server",
        "part": "resources",
    }


def fill(path: str, parts: dict[str, str]) -> str:
    filled = path.replace("{stack_name:arn:openstack:heat::.*?}", "{stack_name}")
    for name, value in parts.items():
        start = filled.find("{" + name)
        while start >= 0:
            filled = filled[:start] + value + filled[filled.index("}", start) + 1 :]
            start = filled.find("{" + name)
    return filled


def name_forms(parts: dict[str, str]) -> Iterator[dict[str, str]]:
    """The ways to name a stack in a look-up."""
    yield parts
    yield {**parts, "stack_name": parts["stack_id"]}
    for project in ("mine", "theirs"):
        arn = f"arn:openstack:heat::{project}:stacks/private/{parts['stack_id']}"
        yield {**parts, "stack_name": arn}


@pytest.mark.parametrize(("method", "path"), [(row[0], row[1]) for row in WITH_IDS + SOFTWARE])
def test_an_id_of_another_project_is_an_id_of_nothing(
    api: Any, parts: dict[str, str], method: str, path: str
) -> None:
    theirs = api.become("theirs")
    body = None if method == "GET" else {"template": TEMPLATE, "suspend": None}
    if path.endswith("/actions") and "stack_id" in path:
        body = {"suspend": None}
    absent = dict.fromkeys(parts, "00000000-0000-0000-0000-000000000000")
    for known in name_forms(parts):
        seen = theirs(method, fill(path, known), body)
        assert seen.status == 404, (method, path, seen.body)
        nothing = theirs(method, fill(path, {**absent, "part": "resources"}), body)
        assert (seen.status, seen.kind) == (nothing.status, nothing.kind)
        assert SECRET not in json.dumps(seen.body)


@pytest.mark.parametrize("path", [row[1] for row in LISTS])
def test_a_list_has_nothing_of_another_project(api: Any, parts: dict[str, str], path: str) -> None:
    query = {"show_nested": "true", "show_hidden": "true", "show_deleted": "true"}
    reply = api.become("theirs")("GET", path, **(query if path.startswith("/stacks") else {}))
    shown = json.dumps(reply.body)
    assert "private" not in shown
    assert not any(parts[key] in shown for key in parts if key.endswith("_id"))


def test_the_metadata_of_a_server_are_those_of_the_project(api: Any, parts: dict[str, str]) -> None:
    place = "/software_deployments/metadata/mine-server"
    assert len(api.become("mine")("GET", place).body["metadata"]) == 1
    assert api.become("theirs")("GET", place).body == {"metadata": []}


def test_the_same_name_may_be_had_twice(api: Any, parts: dict[str, str]) -> None:
    theirs = api.become("theirs")
    path = theirs.create("private", {"heat_template_version": "2018-08-31"})
    assert path.rpartition("/")[2] != parts["stack_id"]
    assert theirs("DELETE", path).status == 204
    theirs.wait(path)
    assert api.become("mine").state(f"/stacks/private/{parts['stack_id']}") != "DELETE_COMPLETE"


@pytest.mark.parametrize(
    "path", [row[1] for row in ROWS if row[0] == "GET" and "abandon" not in row[1]]
)
def test_a_hidden_value_is_in_no_answer(api: Any, parts: dict[str, str], path: str) -> None:
    mine = api.become("mine/admin")
    known = {**parts, "type": "OS::Heat::TestResource", "version": "heat_template_version.rocky"}
    reply = (
        mine("GET", fill(path, known), nested_depth=3, with_detail="true")
        if (path.endswith("/resources"))
        else mine("GET", fill(path, known))
    )
    assert reply.status in (200, 302), reply.body
    assert SECRET not in json.dumps(reply.body)


def test_an_administrator_reaches_the_stacks_of_all_projects_by_id(
    api: Any, parts: dict[str, str]
) -> None:
    admin = api.become("theirs/admin")
    path = f"/stacks/private/{parts['stack_id']}"
    assert admin("GET", path).body["stack"]["stack_name"] == "private"
    reply = admin("GET", f"/stacks/{parts['stack_id']}")
    assert reply.headers["Location"] == f"http://heat.example:8004/v1/mine{path}"
    assert admin("GET", "/stacks/private").status == 404
