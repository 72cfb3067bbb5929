"""Wait conditions and their handles, in templates, with signals."""

from __future__ import annotations

import json
from typing import Any

import pytest

from zonda.builtin_resources.signals.wait_condition_handle import (
    AwsWaitConditionHandle,
    Handle,
    WaitConditionHandle,
)
from zonda.core.engine.actions import AdoptStack, SignalResource
from zonda.hooks.errors import ResourceFailure
from zonda.hooks.testing import Lifecycle

TEMPLATE = """
resources:
  handle: {type: OS::Heat::WaitConditionHandle}
  wait:
    type: OS::Heat::WaitCondition
    properties: {handle: {get_resource: handle}, timeout: 600, count: COUNT}
  after: {type: OS::Heat::None, depends_on: wait}
outputs:
  data: {value: {get_attr: [wait, data]}}
  curl: {value: {get_attr: [handle, curl_cli]}}
  signal: {value: {get_attr: [handle, signal]}}
  token: {value: {get_attr: [handle, token]}}
"""

AWS = """
resources:
  handle: {type: "KIND"}
  wait:
    type: AWS::CloudFormation::WaitCondition
    properties: {Handle: {Ref: handle}, Timeout: 600, Count: 1}
outputs:
  data: {value: {"Fn::GetAtt": [wait, Data]}}
"""


def template(count: int = 1) -> str:
    return TEMPLATE.replace("COUNT", str(count))


def aws(kind: str = "AWS::CloudFormation::WaitConditionHandle") -> str:
    # AWS types may stand in HOT; its functions do not
    return (
        AWS.replace("KIND", kind)
        .replace("{Ref: handle}", "{get_resource: handle}")
        .replace('{"Fn::GetAtt": [wait, Data]}', "{get_attr: [wait, Data]}")
    )


def aws_signal(number: str = "1", status: str = "SUCCESS") -> dict[str, str]:
    return {"Status": status, "Reason": "done", "Data": "d", "UniqueId": number}


def test_it_waits_for_as_many_signals_as_it_counts(waiting: Any) -> None:
    waiting.begin_create(template(2), "wait")
    waiting.signal("handle", data="one")
    waiting.steps(20)
    assert waiting.states()["wait"] == "CREATE_IN_PROGRESS"
    waiting.signal("handle", data={"two": 2}, id="b")
    assert waiting.end() == "CREATE_COMPLETE"
    assert json.loads(waiting.stack.outputs["data"]) == {"1": "one", "b": {"two": 2}}


def test_a_signal_is_noticed_at_once(waiting: Any) -> None:
    waiting.begin_create(template(), "wait")
    waiting.stack.clock.advance(100.0)
    waiting.steps(20)
    before = waiting.stack.clock.now()
    waiting.signal("handle")
    waiting.until_true(lambda: waiting.states()["wait"] == "CREATE_COMPLETE")
    assert waiting.stack.clock.now() - before < 0.1


def test_a_failure_fails_it_at_once_with_its_reasons(waiting: Any) -> None:
    waiting.begin_create(template(3), "wait")
    waiting.signal("handle", status="FAILURE", reason="no disk")
    waiting.signal("handle", status="FAILURE", reason="no luck")
    assert waiting.end() == "CREATE_FAILED"
    reason = waiting.resource("wait").status_reason
    assert reason.startswith("WaitConditionFailure: resources.wait: no disk")
    assert waiting.states()["after"] == "INIT_COMPLETE"


def test_it_gives_up_when_its_time_is_over(waiting: Any) -> None:
    waiting.begin_create(template(2), "wait")
    begun = waiting.stack.clock.now()
    waiting.signal("handle", reason="one of them")
    assert waiting.end() == "CREATE_FAILED"
    assert waiting.resource("wait").status_reason == (
        "WaitConditionTimeout: resources.wait: 1 of 2 received - one of them"
    )
    assert 580 < waiting.stack.clock.now() - begun < 640


def test_the_same_id_counts_once_and_the_later_one_counts(waiting: Any) -> None:
    waiting.begin_create(template(2), "wait")
    for data in ("a", "b"):
        waiting.signal("handle", id="x", data=data)
    waiting.steps(20)
    assert waiting.states()["wait"] == "CREATE_IN_PROGRESS"
    waiting.signal("handle")
    assert waiting.end() == "CREATE_COMPLETE"
    assert json.loads(waiting.stack.outputs["data"]) == {"x": "b", "2": None}


def test_an_update_waits_again(waiting: Any) -> None:
    waiting.begin_create(template(1), "wait")
    waiting.signal("handle")
    assert waiting.end() == "CREATE_COMPLETE"
    before = waiting.resource("wait").id
    waiting.begin_update(template(2), "wait")
    assert waiting.resource("wait").state == "UPDATE_IN_PROGRESS"
    waiting.signal("handle")
    assert waiting.end() == "UPDATE_COMPLETE"
    assert waiting.resource("wait").id == before


def test_it_goes_on_after_a_restart(waiting: Any) -> None:
    waiting.begin_create(template(1), "wait")
    waiting.stack.restart()
    waiting.signal("handle")
    waiting.stack.engine.recover()
    assert waiting.end() == "CREATE_COMPLETE"


def test_the_handle_says_how_a_signal_is_sent(waiting: Any) -> None:
    waiting.begin_create(template(), "wait")
    handle = waiting.resource("handle").id
    shown = waiting.revealed()
    assert shown["curl"].split()[:4] == ["zonda", "stack", "resource", "signal"]
    stack, resource = shown["curl"].split()[4:]
    assert json.loads(shown["signal"])["command"] == shown["curl"].split()
    assert shown["token"] is None
    assert resource == handle
    waiting.stack.engine.begin(SignalResource(stack, resource, {}))
    assert waiting.end() == "CREATE_COMPLETE"


def test_what_lets_others_signal_is_hidden(waiting: Any) -> None:
    waiting.begin_create(template(), "wait")
    assert {waiting.stack.outputs[name] for name in ("curl", "signal", "token")} == {"(hidden)"}


def test_the_reference_of_a_handle_is_its_id(waiting: Any) -> None:
    waiting.begin_create(template(), "wait")
    assert waiting.resource("wait").properties["handle"] == waiting.resource("handle").id


def test_what_is_no_handle_is_refused(waiting: Any) -> None:
    other = template().replace("OS::Heat::WaitConditionHandle", "OS::Heat::DeployedServer")
    other = other.split("outputs:")[0]
    assert waiting.stack.create("heat_template_version: 2018-08-31\n" + other).state == (
        "CREATE_FAILED"
    )
    assert "handle is not a valid wait condition handle" in waiting.resource("wait").status_reason


def test_a_handle_of_another_stack_will_do(waiting: Any) -> None:
    waiting.stack.name = "first"
    head = "heat_template_version: 2018-08-31\n"
    waiting.stack.create(head + "resources: {h: {type: OS::Heat::WaitConditionHandle}}")
    handle = waiting.resource("h").id
    waiting.stack.name = "second"
    waiting.begin_create(
        "parameters: {h: {type: string}}\n"
        "resources:\n"
        "  w: {type: OS::Heat::WaitCondition, properties: {handle: {get_param: h}, timeout: 99}}",
        "w",
        h=handle,
    )
    waiting.stack.engine.begin(SignalResource("first", "h", {}))
    assert waiting.end() == "CREATE_COMPLETE"


def test_names_of_aws(waiting: Any) -> None:
    waiting.begin_create(aws(), "wait")
    waiting.signal("handle", **aws_signal("n"))
    assert waiting.end() == "CREATE_COMPLETE"
    assert json.loads(waiting.stack.outputs["data"]) == {"n": "d"}


def test_an_update_handle_is_replaced_by_each_update(waiting: Any) -> None:
    text = aws("OS::Heat::UpdateWaitConditionHandle")
    waiting.begin_create(text, "wait")
    waiting.signal("handle", **aws_signal())
    assert waiting.end() == "CREATE_COMPLETE"
    before = waiting.resource("handle").id, waiting.resource("wait").id
    waiting.begin_update(text)
    waiting.until_true(lambda: waiting.resource("wait").id != before[1])
    waiting.until("wait")
    assert waiting.resource("handle").id != before[0]
    waiting.signal("handle", **aws_signal())
    assert waiting.end() == "UPDATE_COMPLETE"


def test_who_sends_a_wrong_signal_is_told_what_to_say(waiting: Any) -> None:
    waiting.begin_create(template(1), "wait")
    with pytest.raises(ResourceFailure) as caught:
        waiting.signal("handle", status="ok")
    assert caught.value.message == "ValueError: resources.handle: Metadata format invalid"
    assert caught.value.hint.startswith("A signal says status (SUCCESS or FAILURE)")


@pytest.mark.parametrize(
    ("cls", "details", "good"),
    [
        pytest.param(WaitConditionHandle, {}, True, id="all-left-out"),
        pytest.param(WaitConditionHandle, {"status": "FAILURE"}, True, id="failure"),
        pytest.param(WaitConditionHandle, {"status": "ok"}, False, id="another-status"),
        pytest.param(WaitConditionHandle, {"stats": "SUCCESS"}, False, id="another-key"),
        pytest.param(WaitConditionHandle, {"status": None}, False, id="null-status"),
        pytest.param(AwsWaitConditionHandle, aws_signal(), True, id="aws"),
        pytest.param(AwsWaitConditionHandle, {}, False, id="aws-empty"),
        pytest.param(AwsWaitConditionHandle, {"Status": "SUCCESS"}, False, id="aws-incomplete"),
        pytest.param(AwsWaitConditionHandle, aws_signal(status="ok"), False, id="aws-status"),
    ],
)
def test_what_a_signal_may_say(cls: type[Handle], details: dict[str, Any], good: bool) -> None:
    handle = Lifecycle(cls)
    handle.create()
    instance: Any = handle.instance()
    if good:
        instance.handle_signal(details)
        assert len(instance.signals()) == 1
        return
    with pytest.raises(ResourceFailure, match=r"^Metadata format invalid$") as caught:
        instance.handle_signal(details)
    assert caught.value.heat_type == "ValueError"
    assert "SUCCESS or FAILURE" in caught.value.hint
    assert instance.signals() == {}


def test_signals_without_an_id_are_numbered_as_heat_numbers_them() -> None:
    handle = Lifecycle(WaitConditionHandle)
    handle.create()
    for said in ({}, {"id": 2, "reason": "mine"}, {}, {"id": 2, "reason": "again"}):
        instance: Any = handle.instance()
        instance.handle_signal(said)
    known: Any = handle.instance()
    assert {key: each["reason"] for key, each in known.signals().items()} == {
        "1": "Signal 1 received",
        "2": "again",
        "3": "Signal 3 received",
    }


def test_a_condition_and_its_handle_can_be_adopted(waiting: Any) -> None:
    kept = {"signal 000000000 00000001": '{"data": "kept"}'}
    things = {
        "handle": {"resource_id": "from-elsewhere", "resource_data": kept},
        "wait": {"resource_id": None},
        "after": {"resource_id": "after"},
    }
    engine = waiting.stack.engine
    engine.begin(AdoptStack(waiting.stack.name, waiting.bundle(template()), things))
    assert waiting.end() == "ADOPT_COMPLETE"
    assert waiting.resource("handle").physical_id == waiting.resource("handle").id
    assert waiting.stack.outputs["data"] == '{"1": "kept"}'


@pytest.mark.parametrize("jump", [-5 * 86400.0, -60.0])
def test_its_time_is_no_longer_than_twice_what_it_is_after_a_clock_was_set_back(
    waiting: Any, jump: float
) -> None:
    waiting.begin_create(template(2), "wait")
    begun = waiting.stack.clock.monotonic()
    waiting.stack.clock.jump(jump)
    assert waiting.end() == "CREATE_FAILED"
    assert 580 < waiting.stack.clock.monotonic() - begun < 2 * 640
