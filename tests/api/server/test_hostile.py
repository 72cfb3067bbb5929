"""Odd values in every place of every request: a clear error or an answer, and never a 500."""

from __future__ import annotations

import re
from typing import Any

import pytest

from zonda.core.api.heat.routes import ROWS

ODD: list[Any] = [
    None,
    True,
    0,
    -1,
    10**30,
    1.5,
    "",
    " ",
    "\x00",
    "\u202e\ud7ff",
    "x" * 5000,
    "../../etc/passwd",
    "<script>alert(1)</script>",
    "${{}}",
    [],
    [None],
    [[]],
    ["a", {"b": []}],
    {},
    {"": ""},
    {"a": None},
    {"a": {"b": [1, {"c": None}]}},
]
KEYS = {
    "stacks:create": (
        "stack_name template template_url parameters environment environment_files files tags"
        " timeout_mins disable_rollback adopt_stack_data converge"
    ),
    "stacks:update": (
        "template parameters environment environment_files files tags timeout_mins"
        " disable_rollback converge existing clear_parameters"
    ),
    "stacks:update_patch": "template parameters environment files tags clear_parameters",
    "stacks:preview": "stack_name template parameters environment files tags timeout_mins",
    "stacks:preview_update": "template parameters environment files",
    "stacks:preview_update_patch": "template parameters environment files clear_parameters",
    "stacks:validate_template": "template parameters environment environment_files files",
    "stacks:snapshot": "name",
    "actions:action": "suspend resume check cancel_update nonsense",
    "resource:signal": "unset_hook id status data reason",
    "resource:mark_unhealthy": "mark_unhealthy resource_status_reason",
    "software_configs:create": "name group config inputs outputs options",
    "software_deployments:create": (
        "config_id server_id input_values output_values action status status_reason"
    ),
    "software_deployments:update": (
        "config_id input_values output_values action status status_reason"
    ),
}
QUERY = (
    *("limit", "marker", "sort_keys", "sort_dir", "id", "name", "status", "action", "tags"),
    *("not_tags", "show_deleted", "show_nested", "nested_depth", "with_detail", "with_attr"),
    *("type", "resource_status", "resource_name", "resolve_outputs", "with_count", "version"),
    *("global_tenant", "support_status", "with_description", "template_type", "server_id"),
    *("physical_resource_id", "with_condition_func", "username", "owner_id"),
)
GOOD: dict[str, Any] = {
    "stack_name": "odd",
    "template": {
        "heat_template_version": "2018-08-31",
        "parameters": {"p": {"type": "string", "default": "x"}},
        "resources": {"a": {"type": "OS::Heat::TestResource", "properties": {"value": "x"}}},
    },
    "mark_unhealthy": True,
}


@pytest.fixture(scope="module")
def parts(api: Any) -> dict[str, str]:
    """The ids of things that writes are sent to."""
    return make_parts(api.become("odd"))


@pytest.fixture(scope="module")
def still_parts(api: Any) -> dict[str, str]:
    """The ids of things that are only read: their lists stay short."""
    return make_parts(api.become("still"))


def make_parts(here: Any) -> dict[str, str]:
    """Make one of each thing; gives the ids."""
    path = here.create("base", GOOD["template"])
    config = here("POST", "/software_configs", {}).body["software_config"]["id"]
    body = {"config_id": config, "server_id": "s"}
    deployment = here("POST", "/software_deployments", body).body["software_deployment"]["id"]
    return {
        "stack_name": "base",
        "stack_id": path.rpartition("/")[2],
        "resource": "a",
        "config_id": config,
        "deployment_id": deployment,
        "type": "OS::Heat::TestResource",
        "version": "heat_template_version.rocky",
        "output": "o",
        "event_id": "e",
        "snapshot_id": "s",
        "server_id": "s",
        "part": "resources",
    }


def fill(path: str, parts: dict[str, str]) -> str:
    return re.sub(r"{(\w+)[^}]*}", lambda found: parts[found[1]], path)


def clean(api: Any) -> None:
    for row in api("GET", "/stacks").body["stacks"]:
        if row["stack_name"] != "base":
            api("DELETE", f"/stacks/{row['stack_name']}/{row['id']}")
            api.wait(row["id"])


WITH_BODIES = [row for row in ROWS if row[2] in KEYS]


@pytest.mark.parametrize(
    ("method", "path", "operation"), [row[:3] for row in WITH_BODIES], ids=lambda value: str(value)
)
def test_an_odd_value_of_a_body_is_no_failure(
    api: Any, parts: dict[str, str], method: str, path: str, operation: str
) -> None:
    here, place = api.become("odd"), fill(path, parts)
    failed = []
    for value in ODD:
        for body in [value, *({**GOOD, key: value} for key in KEYS[operation].split())]:
            reply = here(method, place, body)
            if reply.status >= 500:
                failed.append(
                    (body if body is value else dict.fromkeys([*body][-1:], value), reply)
                )
            if operation == "stacks:create" and reply.status == 201:
                clean(here)
    assert failed == []


@pytest.mark.parametrize(
    ("path", "operation"), [(row[1], row[2]) for row in ROWS if row[0] == "GET"]
)
def test_an_odd_value_of_a_query_is_no_failure(
    api: Any, still_parts: dict[str, str], path: str, operation: str
) -> None:
    here, place = api.become("still/admin"), fill(path, still_parts)
    values = [str(value) for value in ODD if not isinstance(value, (list, dict))]
    failed = [
        (key, value)
        for key in QUERY
        for value in values
        if here("GET", place, **{key: value}).status >= 500
    ]
    assert failed == []


@pytest.mark.parametrize(("method", "path"), [row[:2] for row in ROWS if "{" in row[1]])
def test_an_odd_part_of_a_path_is_no_failure(
    api: Any, parts: dict[str, str], method: str, path: str
) -> None:
    here = api.become("odd")
    names = ("stack_id", "resource", "config_id", "type", "version", "output")
    for value in ODD:
        if isinstance(value, str) and "/" not in value and value:
            for name in names:
                if "{" + name in path:
                    place = fill(path, {**parts, name: value})
                    body = None if method == "GET" else {}
                    assert here(method, place, body).status < 500, (name, value)


def test_half_of_a_surrogate_pair_in_a_path_is_no_failure(api: Any) -> None:
    here = api.become("odd")
    for interface in here.dispatcher.interfaces:
        for route in interface.table.routes:
            if "{" in route.path:
                place = re.sub(r"{[^/]*}(?=/|$)", "\ud800", route.path)
                assert here.send(route.method, place).status in (400, 404, 405), place
