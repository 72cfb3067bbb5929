"""Configurations and deployments, made by API and by stacks."""

from __future__ import annotations

import threading
from typing import Any

import pytest

PATIENCE = 60.0

STACK = {
    "heat_template_version": "2018-08-31",
    "resources": {
        "config": {
            "type": "OS::Heat::SoftwareConfig",
            "properties": {"group": "script", "config": "echo $foo", "inputs": [{"name": "foo"}]},
        },
        "deployment": {
            "type": "OS::Heat::SoftwareDeployment",
            "properties": {
                "config": {"get_resource": "config"},
                "server": "server-of-stack",
                "input_values": {"foo": "bar"},
            },
        },
    },
}


def make_config(api: Any, **body: Any) -> Any:
    reply = api("POST", "/software_configs", body)
    assert reply.status == 200, reply.body
    return reply.body["software_config"]


def deploy(api: Any, **body: Any) -> Any:
    reply = api("POST", "/software_deployments", body)
    assert reply.status == 200, reply.body
    return reply.body["software_deployment"]


def test_a_configuration_is_completed_kept_and_deleted(api: Any) -> None:
    made = make_config(
        api,
        name="c",
        group="script",
        config="echo",
        inputs=[{"name": "i"}],
        outputs=[{"name": "o"}],
        options={"x": 1},
    )
    assert set(made) == {
        "id",
        "name",
        "group",
        "creation_time",
        "config",
        "inputs",
        "outputs",
        "options",
    }
    assert made["inputs"] == [{"name": "i", "type": "String", "replace_on_change": False}]
    assert made["outputs"] == [{"name": "o", "type": "String", "error_output": False}]
    place = f"/software_configs/{made['id']}"
    assert api("GET", place).body == {"software_config": made}
    assert api("DELETE", place).status == 204
    for method in ("GET", "DELETE"):
        reply = api(method, place)
        assert (reply.status, reply.message) == (
            404,
            f"Software config with id {made['id']} not found",
        )


def test_everything_of_a_configuration_is_optional(api: Any) -> None:
    made = make_config(api)
    assert (made["name"], made["config"], made["inputs"], made["options"]) == ("", "", [], {})


def test_configurations_are_listed_in_pages(api: Any) -> None:
    here = api.become("pages")
    made = [make_config(here, name=name)["id"] for name in "abc"]
    rows = here("GET", "/software_configs").body["software_configs"]
    assert [row["id"] for row in rows] == made
    assert set(rows[0]) == {"id", "name", "group", "creation_time"}
    page = here("GET", "/software_configs", limit=1, marker=made[0]).body["software_configs"]
    assert [row["id"] for row in page] == [made[1]]


@pytest.mark.parametrize(
    "body",
    [{"inputs": {}}, {"inputs": [1]}, {"inputs": [{}]}, {"options": [1]}, {"config": 7}],
)
def test_a_configuration_with_a_fault_is_a_bad_request(api: Any, body: Any) -> None:
    if body == {"inputs": {}}:
        assert api("POST", "/software_configs", body).status == 200
        return
    assert api("POST", "/software_configs", body).status == 400


def test_a_configuration_in_use_is_kept(api: Any) -> None:
    config = make_config(api, name="used")
    deploy(api, config_id=config["id"], server_id="s")
    reply = api("DELETE", f"/software_configs/{config['id']}")
    assert reply.status == 409
    assert api("GET", f"/software_configs/{config['id']}").status == 200


def test_a_deployment_lives(api: Any) -> None:
    config = make_config(api, config="echo", inputs=[{"name": "i"}])
    made = deploy(
        api,
        config_id=config["id"],
        server_id="server-1",
        input_values={"i": "v"},
        action="CREATE",
        status="IN_PROGRESS",
    )
    assert set(made) == {
        "id",
        "server_id",
        "config_id",
        "input_values",
        "output_values",
        "action",
        "status",
        "status_reason",
        "creation_time",
    }
    place = f"/software_deployments/{made['id']}"
    body = {"status": "COMPLETE", "status_reason": "done", "output_values": {"o": 1}}
    changed = api("PUT", place, body).body["software_deployment"]
    assert changed["updated_time"]
    assert (changed["action"], changed["status"]) == ("CREATE", "COMPLETE")
    assert changed["input_values"] == {"i": "v"}
    assert changed["output_values"] == {"o": 1}
    assert api("GET", place).body["software_deployment"] == changed
    rows = api("GET", "/software_deployments", server_id="server-1").body["software_deployments"]
    assert rows == [changed]
    (shown,) = api("GET", "/software_deployments/metadata/server-1").body["metadata"]
    assert (shown["id"], shown["config"]) == (config["id"], "echo")
    assert shown["inputs"][0]["value"] == "v"
    assert api("DELETE", place).status == 204
    for method in ("GET", "DELETE", "PUT"):
        reply = api(method, place, {} if method == "PUT" else None)
        assert (reply.status, reply.message) == (404, f"Deployment with id {made['id']} not found")


@pytest.mark.parametrize("body", [{}, {"config_id": "nope", "server_id": "s"}])
def test_a_deployment_of_an_unknown_configuration_is_not_found(api: Any, body: Any) -> None:
    assert api("POST", "/software_deployments", body).status == 404


def create_waiting_stack(api: Any, name: str) -> str:
    """A stack whose deployment waits for its server."""
    waits = threading.Event()
    end = api.app.engine._engine.subscribe(
        lambda notices: (
            waits.set() if any(each.message == "waits for a signal" for each in notices) else None
        )
    )
    path = api.create(name, STACK, wait=False)
    assert waits.wait(PATIENCE)
    end()
    return path


def test_a_deployment_of_a_stack_is_read_and_ended_by_an_agent(api: Any) -> None:
    path = create_waiting_stack(api, "deploys")
    agent = api.become("p1/heat_stack_user")
    (shown,) = agent("GET", "/software_deployments/metadata/server-of-stack").body["metadata"]
    assert shown["group"] == "script"
    assert {"name": "foo", "value": "bar"}.items() <= shown["inputs"][0].items()
    key = shown["id"]
    deployment = api("GET", f"/software_deployments/{key}").body["software_deployment"]
    assert deployment["input_values"] == {"foo": "bar"}
    assert deployment["status"] == "IN_PROGRESS"
    assert deployment["server_id"] == "server-of-stack"
    config = api("GET", f"/software_configs/{deployment['config_id']}").body["software_config"]
    assert config["config"] == "echo $foo"
    body = {"status": "COMPLETE", "output_values": {"deploy_stdout": "hello"}}
    assert api("PUT", f"/software_deployments/{key}", body).status == 200
    assert api.wait(path) == "CREATE_COMPLETE"
    shown = api("GET", f"{path}/resources/deployment").body["resource"]
    assert shown["attributes"]["deploy_stdout"] == "hello"


def test_values_of_a_deployment_of_a_stack_that_are_no_map_are_a_bad_request(api: Any) -> None:
    path = create_waiting_stack(api, "refuses")
    shown = api("GET", "/software_deployments/metadata/server-of-stack").body["metadata"][-1]
    place = f"/software_deployments/{shown['id']}"
    for values in ("x", [1], 7):
        reply = api("PUT", place, {"status": "COMPLETE", "output_values": values})
        assert (reply.status, reply.body["error"]["message"]) == (
            400,
            "output_values must be a map",
        )
    assert api("PUT", place, {"status": "COMPLETE"}).status == 200
    assert api.wait(path) == "CREATE_COMPLETE"
