"""OS::Mistral::ExternalResource: requests, stored data, decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from zonda.hooks.errors import (
    NotReady,
    ResourceFailure,
    TemplateError,
    UpdateReplace,
    ValidationErrors,
)
from zonda.hooks.runners import (
    Cancelled,
    Failed,
    Finished,
    Lost,
    Retry,
    Running,
    StartRequest,
    Succeeded,
)
from zonda.hooks.testing import FakeContext, FakeOperation, FakeRunner, Lifecycle
from zonda.workflows.resources.external_resource import ExternalResource

ALL = {
    "CREATE": {"workflow": "mk"},
    "UPDATE": {"workflow": "up"},
    "DELETE": {"workflow": "rm"},
    "SUSPEND": {"workflow": "sus"},
    "RESUME": {"workflow": "res"},
}
Script = dict[str, Sequence[Any]]


def made(script: Script, **properties: Any) -> tuple[Lifecycle, FakeRunner]:
    """A resource whose workflows do as the script says; each other one succeeds with nothing."""
    known: Script = {entry["workflow"]: [Succeeded({})] for entry in ALL.values()}
    runner = FakeRunner({**known, **script})
    context = FakeContext(runners={"default": runner})
    given = {"actions": ALL, "input": {"foo": 1, "bar": "x"}, **properties}
    return Lifecycle(ExternalResource, given, name="x", context=context), runner


def sent(runner: FakeRunner) -> list[tuple[str, dict[str, Any]]]:
    return [(request.workflow, dict(request.inputs)) for request in runner.requests]


def data_of(request: StartRequest) -> Any:
    return request.params.get("env", {}).get("heat_extresource_data")


def with_input(**inputs: Any) -> dict[str, Any]:
    return {"actions": ALL, "input": inputs}


# -- creation -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "reference", "output"),
    [
        pytest.param(Succeeded({"a": 1}), "exec-1", {"a": 1}, id="execution-id"),
        pytest.param(Succeeded({"resource_id": 42}), "42", {"resource_id": 42}, id="number"),
        pytest.param(Succeeded({"resource_id": "r"}), "r", {"resource_id": "r"}, id="text"),
        pytest.param(Succeeded({"resource_id": ""}), "exec-1", {"resource_id": ""}, id="empty-id"),
        pytest.param(Succeeded({"resource_id": 0}), "exec-1", {"resource_id": 0}, id="zero-id"),
        pytest.param(Succeeded({}, resource_id="side"), "side", {}, id="id-beside-the-output"),
        pytest.param(Succeeded(None), "exec-1", {}, id="no-output"),
        pytest.param(
            Succeeded({"resource_id": "r" * 300}), "r" * 255, {"resource_id": "r" * 300}, id="long"
        ),
    ],
)
def test_reference_and_output_after_creation(
    result: Succeeded, reference: str, output: dict[str, Any]
) -> None:
    thing, _ = made({"mk": [result]})
    thing.create()
    assert thing.reference == reference
    assert thing.attribute("output") == output


def test_a_path_into_the_output() -> None:
    thing, _ = made({"mk": [Succeeded({"a": {"b": [5]}})]})
    thing.create()
    assert thing.attribute("output", "a", "b", 0) == 5
    assert thing.attribute("output", "none", "b") is None


def test_what_create_sends() -> None:
    thing, runner = made({}, description="mine")
    thing.create()
    request = runner.requests[0]
    assert sent(runner) == [("mk", {"foo": 1, "bar": "x"})]
    assert (request.action, request.description, request.params) == ("CREATE", "mine", {})
    assert (request.data, request.old_inputs, request.create_key) == (None, None, None)
    assert request.resource.physical_id is None
    assert request.deadline == request.started_at + 3600


def test_the_description_has_a_default_and_input_may_be_missing() -> None:
    runner = FakeRunner({"mk": [Succeeded({})]})
    thing = Lifecycle(
        ExternalResource,
        {"actions": {"CREATE": {"workflow": "mk"}}},
        context=FakeContext(runners={"default": runner}),
    )
    thing.create()
    assert runner.requests[0].description == "Heat managed"
    assert runner.requests[0].inputs == {}


def test_without_actions_nothing_runs() -> None:
    thing, runner = made({}, actions={})
    thing.create()
    assert thing.attribute("output") is None
    thing.update({"actions": {}, "input": {"foo": 2}})
    thing.suspend()
    thing.resume()
    thing.delete()
    assert runner.requests == []
    assert thing.reference == "x"


def test_without_create_the_reference_is_the_name() -> None:
    thing, runner = made({}, actions={"DELETE": {"workflow": "rm"}})
    thing.create()
    assert thing.reference == "x"
    thing.delete()
    assert data_of(runner.requests[0]) is None


def test_progress_is_shown_while_an_execution_runs() -> None:
    thing, _ = made({"mk": [Running(message="1 of 2"), Running(poll_after=7), Succeeded({})]})
    before = thing.context.clock.now()
    thing.create()
    assert "1 of 2" in thing.context.messages
    assert thing.context.clock.now() == before + 1 + 7


def test_a_new_token_of_the_runner_is_kept() -> None:
    token = {"execution": "renamed", "workflow": "mk"}
    thing, runner = made({"mk": [Running(token=token), Succeeded({})]})
    thing.create()
    assert runner.polls == ["exec-1", "renamed"]


# -- failures -----------------------------------------------------------------------------


def test_a_failed_execution_gives_its_reason() -> None:
    thing, _ = made({"mk": [Failed("task t1 failed")]})
    with pytest.raises(ResourceFailure) as caught:
        thing.create()
    assert caught.value.message == "task t1 failed"
    assert caught.value.heat_type == "ResourceFailure"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        pytest.param(Failed("no"), "ZON303", id="the workflow"),
        pytest.param(Lost("gone"), "ZON304", id="lost"),
        pytest.param(Failed("not reached", by_runner=True), "ZON305", id="the runner"),
    ],
)
def test_the_code_tells_who_failed(answer: Any, code: str) -> None:
    thing, _ = made({"mk": [answer]})
    with pytest.raises(ResourceFailure) as caught:
        thing.create()
    assert caught.value.code == code


def test_a_runner_may_name_the_exception_of_heat() -> None:
    thing, _ = made({"mk": [Failed("odd", heat_type="ResourceUnknownStatus")]})
    with pytest.raises(ResourceFailure) as caught:
        thing.create()
    assert caught.value.heat_type == "ResourceUnknownStatus"


def test_delete_runs_after_a_failed_create_and_names_it() -> None:
    thing, runner = made({"mk": [Failed("x")]})
    with pytest.raises(ResourceFailure):
        thing.create()
    thing.delete()
    create, delete = runner.requests
    assert delete.create_key == create.key
    assert delete.key != create.key
    assert (delete.data, data_of(delete), delete.resource.physical_id) == (None, None, None)


def test_a_failed_create_that_owns_something_tells_delete() -> None:
    output = {"resource_id": "half", "zone": 3}
    thing, runner = made({"mk": [Failed("x", output, "half")]})
    with pytest.raises(ResourceFailure):
        thing.create()
    assert thing.resource_id == "half"
    thing.delete()
    assert runner.requests[1].resource.physical_id == "half"
    assert data_of(runner.requests[1]) == output


def test_a_create_of_unknown_outcome_is_still_deleted() -> None:
    thing, runner = made({"mk": [Running()]})
    thing.timeout = 5
    with pytest.raises(ResourceFailure, match="timed out"):
        thing.create()
    thing.delete()
    assert runner.requests[1].create_key == runner.requests[0].key


@pytest.mark.parametrize(("action", "workflow"), [("create", "mk"), ("suspend", "sus")])
def test_a_lost_execution_fails(action: str, workflow: str) -> None:
    thing, _ = made({workflow: [Lost("gone")]})
    if action != "create":
        thing.create()
    with pytest.raises(ResourceFailure, match="gone"):
        getattr(thing, action)()


def test_a_lost_delete_is_sent_again_with_the_same_key() -> None:
    class Forgetful(FakeRunner):
        """Forgets the execution of ``rm`` once."""

        def __init__(self, script: Script) -> None:
            super().__init__(script)
            self.keys: list[tuple[str, int]] = []

        def start(self, request: StartRequest) -> Any:
            self.keys.append((request.key, request.attempt))
            return super().start(request)

    runner = Forgetful({"mk": [Succeeded({})], "rm": [Lost("gone"), Succeeded({})]})
    context = FakeContext(runners={"default": runner})
    thing = Lifecycle(ExternalResource, {"actions": ALL}, context=context)
    thing.create()
    thing.delete()
    (first, one), (second, two) = runner.keys[1:]
    assert first == second
    assert (one, two) == (1, 2)


def test_a_failed_delete_fails() -> None:
    thing, _ = made({"rm": [Failed("no")]})
    thing.create()
    with pytest.raises(ResourceFailure, match="no"):
        thing.delete()
    assert thing.state == ("DELETE", "FAILED")


# -- outputs and the environment ----------------------------------------------------------


def test_outputs_are_merged_and_passed_on() -> None:
    thing, runner = made(
        {
            "mk": [Succeeded({"resource_id": "rid-1", "a": 1})],
            "sus": [Succeeded({"s": 1})],
            "res": [Succeeded({"r": 2, "a": 9})],
        }
    )
    thing.create()
    thing.suspend()
    thing.resume()
    thing.delete()
    assert [data_of(request) for request in runner.requests] == [
        None,
        {"resource_id": "rid-1", "a": 1},
        {"resource_id": "rid-1", "a": 1, "s": 1},
        {"resource_id": "rid-1", "a": 9, "s": 1, "r": 2},
    ]
    assert [request.data for request in runner.requests] == [
        data_of(request) for request in runner.requests
    ]


def test_the_environment_of_the_user_is_kept() -> None:
    params = {"target": "t", "env": {"mine": 1, "heat_extresource_data": "old"}}
    actions = {"CREATE": {"workflow": "mk", "params": params}, "DELETE": {"workflow": "rm"}}
    actions["DELETE"]["params"] = params
    thing, runner = made({"mk": [Succeeded({"a": 1})]}, actions=actions)
    thing.create()
    thing.delete()
    create, delete = runner.requests
    assert create.params == params
    assert delete.params == {
        "target": "t",
        "env": {"mine": 1, "heat_extresource_data": {"a": 1}},
    }


def test_an_environment_that_is_no_map_fails_clearly() -> None:
    actions = {"CREATE": {"workflow": "mk"}, "DELETE": {"workflow": "rm", "params": {"env": ["e"]}}}
    thing, _ = made({}, actions=actions)
    thing.create()
    with pytest.raises(ResourceFailure, match=r"params\.env"):
        thing.delete()


@pytest.mark.parametrize("action", ["suspend", "resume"])
def test_an_action_without_resource_id_keeps_the_reference(action: str) -> None:
    thing, _ = made({"mk": [Succeeded({"resource_id": "rid-1"})]})
    thing.create()
    getattr(thing, action)()
    assert thing.reference == "rid-1"


def test_what_is_stored_is_never_shown() -> None:
    thing, _ = made({"mk": [Succeeded({"a": 1})]})
    thing.create()
    assert thing.saved.redacted == set(thing.saved.data)


# -- updates ------------------------------------------------------------------------------


def test_a_changed_input_runs_update() -> None:
    thing, runner = made({"mk": [Succeeded({"a": 1})], "up": [Succeeded({"b": 2})]})
    thing.create()
    assert thing.update(with_input(foo=2)) == "updated"
    update = runner.requests[1]
    assert (update.workflow, update.inputs) == ("up", {"foo": 2})
    assert update.old_inputs == {"foo": 1, "bar": "x"}
    assert update.resource.physical_id == "exec-1"
    assert thing.reference == "exec-1"
    assert thing.attribute("output") == {"a": 1, "b": 2}


def test_an_update_may_give_a_new_id() -> None:
    thing, _ = made({"up": [Succeeded({"resource_id": "rid-2"})]})
    thing.create()
    thing.update(with_input(foo=2))
    assert thing.reference == "rid-2"


def test_an_input_changed_to_nothing_is_sent_as_nothing() -> None:
    thing, runner = made({})
    thing.create()
    thing.update(with_input())
    assert sent(runner)[1] == ("up", {})


def test_without_update_action_a_changed_input_is_a_success() -> None:
    actions = {"CREATE": {"workflow": "mk"}}
    thing, runner = made({}, actions=actions)
    thing.create()
    assert thing.update({"actions": actions, "input": {"foo": 2}}) == "updated"
    assert len(runner.requests) == 1


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"actions": {**ALL, "UPDATE": {"workflow": "up2"}}}, id="actions"),
        pytest.param({"description": "other"}, id="description"),
        pytest.param({"replace_on_change_inputs": ["foo"]}, id="replace-list"),
        pytest.param({"always_update": False}, id="always-update-said-to-be-off"),
    ],
)
def test_other_changes_update_in_place_and_run_nothing(change: dict[str, Any]) -> None:
    thing, runner = made({})
    thing.create()
    assert thing.update({**with_input(foo=1, bar="x"), **change}) == "updated"
    assert len(runner.requests) == 1


def test_the_new_actions_decide() -> None:
    thing, runner = made({"up2": [Succeeded({})]})
    thing.create()
    thing.update({"actions": {"UPDATE": {"workflow": "up2"}}, "input": {"foo": 2}})
    assert sent(runner)[1] == ("up2", {"foo": 2})


def test_always_update() -> None:
    thing, runner = made({}, always_update=True)
    thing.create()
    same = {**with_input(foo=1, bar="x"), "always_update": True}
    assert thing.update(same) == "updated"
    assert thing.update(same) == "updated"
    assert [name for name, _ in sent(runner)] == ["mk", "up", "up"]


def test_adding_always_update_runs_update_once_and_removing_it_runs_nothing() -> None:
    thing, runner = made({})
    thing.create()
    thing.update({**with_input(foo=1, bar="x"), "always_update": True})
    assert [name for name, _ in sent(runner)] == ["mk", "up"]
    thing.update(with_input(foo=1, bar="x"))
    assert [name for name, _ in sent(runner)] == ["mk", "up"]


@pytest.mark.parametrize(
    ("listed", "inputs", "outcome"),
    [
        pytest.param(["foo"], {"foo": 2, "bar": "x"}, "replaced", id="changed"),
        pytest.param(["foo"], {"foo": 1, "bar": "y"}, "updated", id="another-changed"),
        pytest.param(["foo"], {"bar": "x"}, "replaced", id="gone"),
        pytest.param(["new"], {"foo": 1, "bar": "x", "new": 1}, "replaced", id="appeared"),
        pytest.param(["none"], {"foo": 2, "bar": "x"}, "updated", id="exists-nowhere"),
        pytest.param(["foo"], {"foo": 1.0, "bar": "y"}, "updated", id="equal-number"),
    ],
)
def test_listed_inputs_replace(listed: list[str], inputs: dict[str, Any], outcome: str) -> None:
    thing, runner = made({})
    thing.create()
    assert thing.update({**with_input(**inputs), "replace_on_change_inputs": listed}) == outcome
    if outcome == "replaced":
        assert [name for name, _ in sent(runner)] == ["mk", "mk", "rm"]
        assert runner.requests[1].inputs == inputs
        assert runner.requests[2].inputs == {"foo": 1, "bar": "x"}


def test_a_list_that_comes_later_does_not_look_back() -> None:
    actions = {"CREATE": {"workflow": "mk"}}
    thing, _ = made({}, actions=actions)
    thing.create()
    thing.update({"actions": actions, "input": {"foo": 2}})
    after = {"actions": actions, "input": {"foo": 2}, "replace_on_change_inputs": ["foo"]}
    assert thing.update(after) == "updated"


# -- after a failed update ----------------------------------------------------------------


def failed_update() -> tuple[Lifecycle, FakeRunner]:
    thing, runner = made({"mk": [Succeeded({"a": 1})], "up": [Failed("bad"), Succeeded({"b": 2})]})
    thing.create()
    with pytest.raises(ResourceFailure):
        thing.update(with_input(foo=2))
    return thing, runner


def test_a_failed_update_keeps_output_and_reference() -> None:
    thing, _ = failed_update()
    assert thing.reference == "exec-1"
    assert thing.attribute("output") == {"a": 1}


def test_the_update_after_a_failed_one_runs_update_again() -> None:
    thing, runner = failed_update()
    assert thing.update(with_input(foo=2)) == "updated"
    assert [name for name, _ in sent(runner)] == ["mk", "up", "up"]
    assert runner.requests[2].old_inputs == {"foo": 1, "bar": "x"}
    assert runner.requests[2].key != runner.requests[1].key


def test_going_back_after_a_failed_update_runs_update_too() -> None:
    thing, runner = failed_update()
    assert thing.update(with_input(foo=1, bar="x")) == "updated"
    assert [name for name, _ in sent(runner)] == ["mk", "up", "up"]
    assert thing.update(with_input(foo=1, bar="x")) == "unchanged"


def test_a_failed_create_is_replaced() -> None:
    thing, runner = made({"mk": [Failed("x"), Succeeded({})]})
    with pytest.raises(ResourceFailure):
        thing.create()
    assert thing.update(with_input(foo=2)) == "replaced"
    assert [name for name, _ in sent(runner)] == ["mk", "rm", "mk"]


# -- retries and crashes ------------------------------------------------------------------


class Recording(FakeRunner):
    """Keeps every request, retries included."""

    def __init__(self, script: Script) -> None:
        super().__init__(script)
        self.all: list[StartRequest] = []

    def start(self, request: StartRequest) -> Any:
        self.all.append(request)
        return super().start(request)


def recording(script: Script) -> tuple[Lifecycle, Recording]:
    runner = Recording({"rm": [Succeeded({})], **script})
    context = FakeContext(runners={"default": runner})
    return Lifecycle(ExternalResource, {"actions": ALL, "input": {"n": 1}}, context=context), runner


def test_a_start_that_cannot_be_made_yet_is_made_again() -> None:
    script = [
        Retry(4, "cannot reach it", False, {"since": 1}),
        Retry(9, "busy", True, {"failures": 1}),
        Retry(2, "cannot reach it", False, {"failures": 2}),
        Succeeded({"a": 1}),
    ]
    thing, runner = recording({"mk": script})
    before = thing.context.clock.now()
    thing.create()
    assert [request.attempt for request in runner.all] == [1, 2, 3, 4]
    assert [request.answered for request in runner.all] == [False, False, True, True]
    assert [request.memory for request in runner.all] == [
        {},
        {"since": 1},
        {"failures": 1},
        {"failures": 2},
    ]
    sent = {(request.key, request.deadline, str(request.inputs)) for request in runner.all}
    assert len(sent) == 1
    assert thing.context.clock.now() == before + 4 + 9 + 2
    assert thing.context.messages[:3] == [
        "waiting for the runner: cannot reach it, next try in 4 s",
        "running",
        "waiting for the runner: busy, next try in 9 s",
    ]


def test_an_answer_that_is_final_at_once() -> None:
    thing, _ = recording({"mk": [Finished(Succeeded({"resource_id": "r"}))]})
    thing.create()
    assert thing.reference == "r"
    failing, _ = recording({"mk": [Finished(Failed("no"))]})
    with pytest.raises(ResourceFailure, match="no"):
        failing.create()


def test_without_an_execution_id_the_reference_is_the_key() -> None:
    thing, runner = recording({"mk": [Finished(Succeeded({}))]})
    thing.create()
    assert thing.reference == runner.all[0].key


def test_a_start_interrupted_by_a_crash_is_the_same_when_made_again() -> None:
    """Nothing that a handler stores may change the request of the same operation."""
    thing, runner = recording({"mk": [Succeeded({"a": 1})], "up": [Finished(Succeeded({"b": 2}))]})
    thing.create()
    context = thing.context
    context.operation = FakeOperation("op-7", "UPDATE", context.clock.now(), 1e10)
    after = thing.definition.__class__("resource", "T", properties=with_input(n=2))
    instance = thing.instance()
    for _ in range(2):
        thing.instance().handle_update(after, {}, {"input": {"n": 2}})
    token = instance.handle_update(after, {}, {"input": {"n": 2}})
    sends = runner.all[1:]
    assert len(sends) == 3
    assert sends[0] == sends[1] == sends[2]
    for _ in range(2):
        assert thing.instance().check_update_complete(token) is True
    assert thing.attribute("output") == {"a": 1, "b": 2}


def test_a_late_result_is_stored_with_the_token_before_it_changes_anything() -> None:
    script = [Retry(1, "busy", True), Finished(Succeeded({"resource_id": "r"}))]
    thing, _ = recording({"mk": script})
    thing.context.operation = FakeOperation("op-1", "CREATE", 0, 1e10)
    token = thing.instance().handle_create()
    thing.context.clock.advance(1)
    with pytest.raises(NotReady):
        thing.instance().check_create_complete(token)
    assert thing.resource_id is None
    assert thing.instance().check_create_complete(token) is True
    assert thing.resource_id == "r"


def test_cancel_reaches_the_runner() -> None:
    thing, runner = made({"mk": [Running()]})
    thing.context.operation = FakeOperation("op-1", "CREATE", 0, 1e10)
    instance: Any = thing.instance()
    token = instance.handle_create()
    instance.handle_create_cancel(token)
    instance.handle_delete_cancel(None)
    assert runner.cancelled == ["exec-1"]


@pytest.mark.parametrize(
    ("answers", "waits", "text"),
    [
        pytest.param([Succeeded({"a": 1})], 0, "it succeeded", id="succeeded"),
        pytest.param(
            [Running(9), Succeeded({"resource_id": "r"})],
            1,
            "it succeeded (resource_id r)",
            id="id",
        ),
        pytest.param([Running(), Failed("no")], 1, "it failed: no", id="failed"),
        pytest.param([Lost("gone")], 0, "lost (gone)", id="lost"),
    ],
)
def test_a_cancelled_run_is_asked_how_it_ended(answers: list[Any], waits: int, text: str) -> None:
    thing, _ = made({"mk": answers})
    thing.context.operation = FakeOperation("op-1", "CREATE", 0, 1e10)
    instance: Any = thing.instance()
    token = instance.handle_create()
    instance.handle_create_cancel(token)
    for _ in range(waits):
        with pytest.raises(NotReady) as caught:
            instance.check_cancel_complete(token)
        assert caught.value.delay == 2.0
    assert instance.check_cancel_complete(token) == text
    assert thing.resource_id is None


def test_a_run_that_could_not_be_cancelled_is_not_asked() -> None:
    thing, runner = made({"mk": [Running()]})
    thing.context.operation = FakeOperation("op-1", "CREATE", 0, 1e10)
    instance: Any = thing.instance()
    token = instance.handle_create()
    runner.cancel = lambda token, reason: Cancelled.UNSUPPORTED  # type: ignore[method-assign]
    instance.handle_create_cancel(token)
    assert instance.check_cancel_complete(token) == ""
    assert instance.check_cancel_complete(None) == ""
    assert runner.polls == []


def test_replacement_is_found_in_the_handler_too() -> None:
    thing, _ = made({})
    thing.create()
    after = thing.definition.__class__(
        "x", "T", properties={**with_input(foo=5), "replace_on_change_inputs": ["foo"]}
    )
    with pytest.raises(UpdateReplace):
        thing.instance().handle_update(after, {}, {"input": {"foo": 5}})


# -- validation ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        pytest.param(
            {}, "Property error: resources.x.properties: Property actions not assigned", id="none"
        ),
        pytest.param(
            {"actions": {"CHECK": {"workflow": "mk"}}},
            "Property error: resources.x.properties.actions: Unknown Property CHECK",
            id="unknown-action",
        ),
        pytest.param(
            {"actions": {"CREATE": {"params": {}}}},
            "Property error: resources.x.properties.actions.CREATE: Property workflow not assigned",
            id="no-workflow",
        ),
        pytest.param(
            {"actions": {"CREATE": {"workflow": "mk"}, "UPDATE": None}},
            "Property error: resources.x.properties.actions.UPDATE: Property workflow not assigned",
            id="null-action",
        ),
        pytest.param(
            {"actions": {}, "input": [1]},
            'Property error: resources.x.properties.input: "[1]" is not a map',
            id="input-list",
        ),
    ],
)
def test_wrong_properties(properties: dict[str, Any], message: str) -> None:
    context = FakeContext(runners={"default": FakeRunner({"mk": [Succeeded({})]})})
    thing = Lifecycle(ExternalResource, properties, name="x", context=context)
    with pytest.raises(ValidationErrors) as caught:
        thing.validate()
    assert str(caught.value) == message


def test_a_workflow_that_does_not_exist_is_found_at_validation() -> None:
    thing, _ = made({}, actions={"CREATE": {"workflow": "nope"}})
    with pytest.raises(TemplateError) as caught:
        thing.validate()
    assert str(caught.value) == (
        "Property error: resources.x.properties.actions.CREATE.workflow: There is no workflow nope"
    )


def test_a_workflow_without_runner_is_found_at_validation() -> None:
    thing = Lifecycle(ExternalResource, {"actions": {"CREATE": {"workflow": "other:mk"}}})
    with pytest.raises(TemplateError, match="other"):
        thing.validate()


def test_known_workflows_validate() -> None:
    thing, _ = made({})
    thing.validate()


# -- clocks that are set ----------------------------------------------------------------------


@pytest.mark.parametrize("jump", [-5 * 86400.0, -600.0, 5 * 86400.0])
def test_a_run_is_asked_for_whatever_the_clock_says_meanwhile(jump: float) -> None:
    thing, runner = made({"mk": [Succeeded({"a": 1})]})
    clock = thing.context.clock
    start = runner.start

    def started(request: StartRequest) -> Any:
        answer = start(request)
        clock.jump(jump)
        return answer

    runner.start = started  # type: ignore[method-assign]
    begun = clock.monotonic()
    thing.timeout = 30 * 86400.0
    thing.create()
    assert clock.monotonic() - begun < 60
