"""Deployments: what is handed over, who answers, and what that means."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.conftest import showing

from zonda.builtin_resources.software import deployment_values
from zonda.builtin_resources.software.deployment import SoftwareDeployment
from zonda.hooks.errors import ResourceFailure
from zonda.hooks.runners import Failed, Finished, Lost, Running, Succeeded
from zonda.hooks.testing import FakeContext, FakeOperation, FakeRunner, Lifecycle

TEMPLATE = """
parameters: {size: {type: number, default: 1}, text: {type: string, default: echo}}
resources:
  config:
    type: OS::Heat::SoftwareConfig
    properties:
      group: script
      config: {get_param: text}
      inputs: [{name: size, type: Number}, {name: fixed, default: 7, replace_on_change: FIXED}]
      outputs: [{name: result}, {name: broken, error_output: true}]
  server: {type: OS::Heat::DeployedServer}
  dep:
    type: OS::Heat::SoftwareDeployment
    properties:
      config: {get_resource: config}
      server: {get_resource: server}
      input_values: {size: {get_param: size}, more: [1]}
      MORE
outputs:
  out: {value: {get_attr: [dep, deploy_stdout]}}
  code: {value: {get_attr: [dep, deploy_status_code]}}
  result: {value: {get_attr: [dep, result, key]}}
"""
RUNNERS = "zonda: {runners: {'OS::Heat::*Deployment': carry-out}}"


def template(more: str = "", *, fixed: bool = False) -> str:
    return TEMPLATE.replace("MORE", more).replace("FIXED", str(fixed).lower())


def started(runner: FakeRunner) -> list[str]:
    return [request.action for request in runner.requests]


# -- signals


def test_it_waits_for_a_signal_and_shows_what_that_brings(waiting: Any) -> None:
    waiting.begin_create(template(), "dep")
    assert waiting.states()["dep"] == "CREATE_IN_PROGRESS"
    waiting.signal("dep", deploy_stdout="hello", deploy_status_code=0, result={"key": "v"})
    assert waiting.end() == "CREATE_COMPLETE"
    assert waiting.stack.outputs == {"out": "hello", "code": 0, "result": "v"}


@pytest.mark.parametrize(
    ("details", "reason"),
    [
        pytest.param(
            {"deploy_status_code": "6"},
            "deploy_status_code : Deployment exited with non-zero status code: 6",
            id="exit-code",
        ),
        pytest.param({"broken": "pipe"}, "broken : pipe", id="error-output"),
    ],
)
def test_a_bad_result_fails_it(waiting: Any, details: dict[str, Any], reason: str) -> None:
    waiting.begin_create(template(), "dep")
    waiting.signal("dep", deploy_stderr="oh", **details)
    assert waiting.end() == "CREATE_FAILED"
    shown = waiting.resource("dep").status_reason
    assert shown == f"Error: resources.dep: Deployment to server failed: {reason}"


def test_the_first_signal_of_an_operation_counts(waiting: Any) -> None:
    waiting.begin_create(template(), "dep")
    waiting.signal("dep", deploy_stdout="first")
    waiting.signal("dep", deploy_stdout="second", deploy_status_code=1)
    assert waiting.end() == "CREATE_COMPLETE"
    waiting.signal("dep", deploy_stdout="nobody waits for this")
    waiting.end()
    assert waiting.stack.outputs["out"] == "first"
    assert "signal" not in " ".join(waiting.data("dep"))


def test_it_waits_on_after_a_restart(waiting: Any) -> None:
    waiting.begin_create(template(), "dep")
    waiting.stack.restart()
    waiting.signal("dep", deploy_stdout="late")
    waiting.stack.engine.recover()
    assert waiting.end() == "CREATE_COMPLETE"
    assert waiting.stack.outputs["out"] == "late"


def test_a_deletion_waits_for_its_signal(waiting: Any) -> None:
    waiting.begin_create(template("actions: [DELETE]"))
    assert waiting.end() == "CREATE_COMPLETE"
    waiting.begin_delete()
    waiting.steps(60)
    assert waiting.stack.resources == {}  # nothing is meant to be there any more
    waiting.signal("dep", deploy_status_code=0)
    waiting.settle()
    assert waiting.stack.engine.reader.stacks() == []


def test_without_a_signal_to_wait_for_it_is_complete(waiting: Any) -> None:
    waiting.begin_create(template("signal_transport: NO_SIGNAL"))
    assert waiting.end() == "CREATE_COMPLETE"
    assert waiting.stack.outputs == {"out": None, "code": None, "result": None}


# -- actions


@pytest.mark.parametrize(
    ("more", "acts"),
    [
        pytest.param("", ["CREATE", "UPDATE"], id="default"),
        pytest.param("actions: [DELETE]", ["DELETE"], id="one"),
        pytest.param(
            "actions: [CREATE, UPDATE, SUSPEND, RESUME, DELETE]",
            ["CREATE", "SUSPEND", "RESUME", "UPDATE", "DELETE"],
            id="all",
        ),
        pytest.param("actions: []", [], id="none"),
    ],
)
def test_it_acts_on_its_actions(waiting: Any, more: str, acts: list[str]) -> None:
    runner = FakeRunner({"carry-out": [Finished(Succeeded({"deploy_stdout": "x"}))]})
    waiting.give_runner(runner)
    waiting.begin_create(template(more), environment=RUNNERS)
    assert waiting.end() == "CREATE_COMPLETE"
    waiting.stack.suspend()
    waiting.stack.resume()
    waiting.begin_update(template(more), environment=RUNNERS, size=2)
    assert waiting.end() == "UPDATE_COMPLETE"
    assert waiting.stack.delete().state == "DELETE_COMPLETE"
    assert started(runner) == acts


COMPONENT = """
resources:
  config:
    type: OS::Heat::SoftwareComponent
    properties: {configs: [{tool: a, actions: [CREATE]}, {tool: b, actions: [DELETE]}]}
  dep:
    type: OS::Heat::SoftwareDeployment
    properties: {config: {get_resource: config}, server: s, actions: [SUSPEND]}
"""


def test_a_component_says_itself_on_what_it_acts(waiting: Any) -> None:
    runner = FakeRunner({"carry-out": [Finished(Succeeded({}))]})
    waiting.give_runner(runner)
    waiting.begin_create(COMPONENT, environment=RUNNERS)
    assert waiting.end() == "CREATE_COMPLETE"
    waiting.stack.suspend()
    waiting.stack.delete()
    assert started(runner) == ["CREATE", "DELETE"]
    assert runner.requests[0].inputs["group"] == "component"
    assert [each["tool"] for each in runner.requests[0].inputs["config"]["configs"]] == ["a", "b"]


# -- runs


def test_a_workflow_gets_the_configuration_with_its_inputs(waiting: Any) -> None:
    runner = FakeRunner({"carry-out": [Running(), Succeeded({"result": {"key": 5}})]})
    waiting.give_runner(runner)
    waiting.begin_create(template("name: n"), environment=RUNNERS)
    assert waiting.end() == "CREATE_COMPLETE"
    [request] = runner.requests
    given = request.inputs
    assert (given["group"], given["config"], given["name"]) == ("script", "echo", "n")
    assert given["input_values"] == {
        "size": 1,
        "fixed": 7,
        "more": [1],
        "deploy_server_id": waiting.resource("server").id,
        "deploy_action": "CREATE",
        "deploy_stack_id": f"test/{request.stack.id}",
        "deploy_resource_name": "dep",
        "deploy_signal_transport": "CFN_SIGNAL",
    }
    assert [each["name"] for each in given["inputs"]] == list(given["input_values"])
    assert waiting.stack.outputs == {"out": None, "code": None, "result": 5}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        pytest.param(Failed("went wrong"), "resources.dep: went wrong", id="failed"),
        pytest.param(Lost("who?"), "resources.dep: who?", id="lost"),
        pytest.param(
            Succeeded({"deploy_status_code": 3}),
            "Error: resources.dep: Deployment to server failed: "
            "deploy_status_code : Deployment exited with non-zero status code: 3",
            id="exit-code",
        ),
    ],
)
def test_a_run_that_goes_wrong_fails_it(waiting: Any, answer: Any, reason: str) -> None:
    waiting.give_runner(FakeRunner({"carry-out": [answer]}))
    waiting.begin_create(template(), environment=RUNNERS)
    assert waiting.end() == "CREATE_FAILED"
    assert waiting.resource("dep").status_reason == reason


def test_a_run_is_started_once_whatever_restarts(waiting: Any) -> None:
    runner = FakeRunner({"carry-out": [Running(), Running(), Succeeded({})]})
    waiting.give_runner(runner)
    waiting.begin_create(template(), "dep", environment=RUNNERS)
    for _ in range(3):
        waiting.stack.restart()
        waiting.stack.engine.recover()
        waiting.steps(10)
    assert waiting.end() == "CREATE_COMPLETE"
    assert len(runner.requests) == 1


def test_a_run_is_cancelled_with_its_operation() -> None:
    runner = FakeRunner({"carry-out": [Running()]})
    context = FakeContext(runners={"default": runner})
    context.assigned_workflow = "carry-out"
    context.operation = FakeOperation("8d0aa8a4-0000-7000-8000-000000000001", "CREATE", 0.0, 9.0)
    instance: Any = Lifecycle(SoftwareDeployment, {"server": "s"}, context=context).instance()
    token = instance.handle_create()
    assert instance.check_create_complete(token) is False
    instance.handle_create_cancel(token)
    instance.handle_create_cancel(None)
    assert runner.cancelled == ["exec-1"]


def test_a_name_decides_before_a_type_and_null_takes_back(waiting: Any) -> None:
    waiting.begin_create(
        template("signal_transport: NO_SIGNAL"),
        environment="zonda: {runners: {'OS::Heat::Value': carry-out, dep: null}}",
    )
    assert waiting.end() == "CREATE_COMPLETE"


# -- updates


def test_an_update_applies_what_has_changed(waiting: Any) -> None:
    runner = FakeRunner({"carry-out": [Finished(Succeeded({}))]})
    waiting.give_runner(runner)
    waiting.begin_create(template(), environment=RUNNERS)
    waiting.end()
    before = waiting.resource("dep").id
    waiting.begin_update(template(), environment=RUNNERS)
    waiting.end()
    assert started(runner) == ["CREATE"]
    waiting.begin_update(template(), environment=RUNNERS, text="another")
    assert waiting.end() == "UPDATE_COMPLETE"
    assert started(runner) == ["CREATE", "UPDATE"]
    assert runner.requests[1].inputs["config"] == "another"
    assert waiting.resource("dep").id == before


def test_an_input_may_say_that_it_replaces(waiting: Any) -> None:
    runner = FakeRunner({"carry-out": [Finished(Succeeded({}))]})
    waiting.give_runner(runner)
    text = template(fixed=True)
    waiting.begin_create(text, environment=RUNNERS)
    waiting.end()
    before = waiting.resource("dep").id
    waiting.begin_update(text, environment=RUNNERS, size=2)
    waiting.end()
    assert waiting.resource("dep").id == before
    waiting.begin_update(text.replace("default: 7", "default: 8"), environment=RUNNERS, size=2)
    assert waiting.end() == "UPDATE_COMPLETE"
    assert waiting.resource("dep").id != before
    assert started(runner) == ["CREATE", "UPDATE", "CREATE"]


def test_what_a_deployment_brings_is_sealed_at_rest(waiting: Any) -> None:
    waiting.begin_create(
        template().split("outputs:\n  out:")[0]
        + "outputs:\n  out: "
        + "{value: {get_attr: [dep, result]}}",
        "dep",
    )
    waiting.signal("dep", deploy_stdout="hush-hush", result="hush-hush")
    assert waiting.end() == "CREATE_COMPLETE"
    assert waiting.stack.outputs == {"out": "hush-hush"}
    reader = waiting.stack.engine.reader
    rows = reader.resource_rows(reader.stack(waiting.stack.name).id)
    [kept] = [row.outputs for row in rows if row.name == "dep"]
    assert kept.startswith("sealed:")


def test_a_configuration_that_is_not_there(waiting: Any) -> None:
    text = template().replace("config: {get_resource: config}", "config: nowhere")
    waiting.begin_create(text)
    assert waiting.end() == "CREATE_FAILED"
    assert "There is no software configuration nowhere" in waiting.resource("dep").status_reason


def test_a_configuration_of_another_stack_will_do(waiting: Any) -> None:
    waiting.stack.name = "first"
    head = "heat_template_version: 2018-08-31\n"
    config = "c: {type: OS::Heat::SoftwareConfig, properties: {config: far}}"
    waiting.stack.create(f"{head}resources: {{{config}}}")
    reference = waiting.resource("c").id
    waiting.stack.name = "second"
    runner = FakeRunner({"carry-out": [Finished(Succeeded({}))]})
    waiting.give_runner(runner)
    waiting.begin_create(
        "parameters: {c: {type: string}}\n"
        "resources:\n"
        "  d:\n"
        "    type: OS::Heat::SoftwareDeployment\n"
        "    properties: {config: {get_param: c}, server: s}",
        environment=RUNNERS,
        c=reference,
    )
    assert waiting.end() == "CREATE_COMPLETE"
    assert runner.requests[0].inputs["config"] == "far"


def test_an_output_that_nobody_declared_is_no_attribute(waiting: Any) -> None:
    waiting.begin_create(
        template("signal_transport: NO_SIGNAL").replace("[dep, result, key]", "[dep, other]")
    )
    waiting.end()
    found = showing(waiting.stack.engine).outputs(
        waiting.stack.engine.reader.stack(waiting.stack.name).id
    )
    [output] = [item for item in found if item.name == "result"]
    assert "other" in (output.error or "")


def test_what_a_configuration_hides_is_not_told_by_a_failure(waiting: Any) -> None:
    text = template().replace(
        "text: {type: string, default: echo}", "text: {type: string, hidden: true}"
    )
    waiting.give_runner(FakeRunner({"carry-out": [Failed("bad line: hush-hush")]}))
    waiting.begin_create(text, environment=RUNNERS, text="hush-hush")
    assert waiting.end() == "CREATE_FAILED"
    reason = waiting.resource("dep").status_reason
    assert "bad line" in reason
    assert "hush-hush" not in reason


def test_nor_where_it_stands_in_another_stack(waiting: Any) -> None:
    waiting.stack.name = "first"
    head = "heat_template_version: 2018-08-31\nparameters: {p: {type: string, hidden: true}}\n"
    config = "c: {type: OS::Heat::SoftwareConfig, properties: {config: {get_param: p}}}"
    waiting.stack.create(f"{head}resources: {{{config}}}", p="hush-hush")
    reference = waiting.resource("c").id
    waiting.stack.name = "second"
    waiting.give_runner(FakeRunner({"carry-out": [Failed("bad line: hush-hush")]}))
    waiting.begin_create(
        "resources:\n"
        "  d:\n"
        "    type: OS::Heat::SoftwareDeployment\n"
        f"    properties: {{config: {reference}, server: s}}",
        environment=RUNNERS,
    )
    assert waiting.end() == "CREATE_FAILED"
    assert "hush-hush" not in waiting.resource("d").status_reason


# -- OS::Heat::StructuredDeployment

STRUCTURED = """
resources:
  config:
    type: OS::Heat::StructuredConfig
    properties:
      inputs: [{name: a, default: 1}]
      config: {x: {KEY: a}, y: [{KEY: b}, {KEY: c, z: 1}], s: {KEY: deploy_action}}
  dep:
    type: OS::Heat::StructuredDeployment
    properties: {config: {get_resource: config}, server: s, input_values: {b: [2]}, MORE}
"""


@pytest.mark.parametrize(
    ("key", "more"),
    [
        pytest.param("get_input", "input_values_validate: LAX", id="usual-key"),
        pytest.param("fill", "input_key: fill", id="another-key"),
        pytest.param("get_input", "input_values_validate: STRICT", id="strict"),
    ],
)
def test_inputs_are_filled_into_the_map(waiting: Any, key: str, more: str) -> None:
    runner = FakeRunner({"carry-out": [Finished(Succeeded({}))]})
    waiting.give_runner(runner)
    text = STRUCTURED.replace("KEY", key).replace("MORE", more)
    waiting.begin_create(text, environment=RUNNERS)
    assert waiting.end() == "CREATE_COMPLETE"
    assert runner.requests[0].inputs["config"] == {
        "x": 1,
        "y": [[2], {key: "c", "z": 1}],
        "s": "CREATE",
    }


def test_an_input_without_a_value_is_null_or_a_failure() -> None:
    assert deployment_values.fill_inputs({"a": {"get_input": "x"}}, "get_input", {}, False) == {
        "a": None
    }
    with pytest.raises(ResourceFailure, match=r"The Parameter \(x\) was not provided"):
        deployment_values.fill_inputs({"a": {"get_input": "x"}}, "get_input", {}, True)


@pytest.mark.parametrize(
    ("details", "failed"),
    [
        pytest.param({}, False, id="nothing"),
        pytest.param({"deploy_status_code": 0}, False, id="zero"),
        pytest.param({"deploy_status_code": "0"}, False, id="text-zero"),
        pytest.param({"deploy_status_code": None}, False, id="null"),
        pytest.param({"deploy_status_code": ""}, False, id="empty"),
        pytest.param({"deploy_status_code": 1}, True, id="one"),
        pytest.param({"deploy_status_code": -1}, True, id="minus-one"),
        pytest.param({"e": ""}, True, id="error-output-even-if-empty"),
        pytest.param({"o": "x", "unknown": 1}, False, id="others"),
    ],
)
def test_what_is_a_failure(details: dict[str, Any], failed: bool) -> None:
    outputs, reason = deployment_values.read_outcome(
        details, [{"name": "o"}, {"name": "e", "error_output": True}]
    )
    assert bool(reason) is failed
    assert "unknown" not in outputs


def test_a_signal_of_an_operation_before_does_not_count() -> None:
    context = FakeContext()
    deployment = Lifecycle(SoftwareDeployment, {"server": "s"}, context=context)
    context.operation = FakeOperation("first", "CREATE", 0.0, 9.0)
    instance: Any = deployment.instance()
    token = instance.handle_create()
    instance.handle_signal({"deploy_stdout": "late"})
    context.operation = FakeOperation("second", "UPDATE", 0.0, 9.0)
    instance = deployment.instance()
    assert instance.check_update_complete(token) is False
    instance.handle_signal({"deploy_stdout": "now"})
    assert instance.check_update_complete(token) is True
    assert instance.FnGetAtt("deploy_stdout") == "now"


@pytest.mark.parametrize(
    ("entry", "before", "replaced"),
    [
        pytest.param({"replace_on_change": True, "value": 2}, {"a": 1}, True, id="changed"),
        pytest.param({"replace_on_change": True, "value": 1}, {"a": 1}, False, id="same"),
        pytest.param({"replace_on_change": True, "value": 1}, {}, False, id="new-input"),
        pytest.param({"replace_on_change": False, "value": 2}, {"a": 1}, False, id="in-place"),
        pytest.param({"value": 2}, {"a": 1}, False, id="nothing-said"),
    ],
)
def test_which_inputs_replace(
    entry: dict[str, Any], before: dict[str, Any], replaced: bool
) -> None:
    assert deployment_values.must_be_replaced([{"name": "a", **entry}], before) is replaced
