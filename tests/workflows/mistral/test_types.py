"""``OS::Mistral::Workflow`` and ``OS::Mistral::CronTrigger`` at a Mistral that is a dictionary."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from zonda.builtin_resources.constraints.text import CronExpression
from zonda.hooks import testing
from zonda.hooks.errors import Conflict, NotFound, ResourceFailure, ValidationErrors
from zonda.hooks.runners import PollAnswer, StartAnswer, StartRequest, WorkflowRunner
from zonda.workflows.mistral.constraint import MistralWorkflow
from zonda.workflows.mistral.cron_trigger import CronTrigger
from zonda.workflows.mistral.resource_base import RequestDeferred, Unanswered
from zonda.workflows.mistral.workflow import Workflow


class SmallMistral(WorkflowRunner):
    """Workflows, triggers and executions by name.

    ``lose``: so many answers never come; whether it ``dies`` of that. ``put_off``: so many
    requests are not sent. ``refuse``: so many are not taken.
    ``uses_up``: what is made is gone at once.
    """

    give_up = 120.0
    namespace = "ours"

    def __init__(self) -> None:
        self.kept: dict[str, dict[str, Any]] = {
            "workflows": {},
            "cron_triggers": {},
            "executions": {},
        }
        self.said: list[str] = []
        self.lose = 0
        self.put_off = 0
        self.uses_up = False
        self.refuse = 0
        self.down = False
        self.dies = False
        self.on_fresh_connection = False
        self.verdict: dict[str, Any] = {"valid": True}
        self.mistral = self

    def check(self, workflow: str) -> None:
        if workflow not in self.kept["workflows"]:
            raise ResourceFailure("no such workflow")

    def start(self, request: StartRequest) -> StartAnswer:
        raise NotImplementedError

    def poll(self, token: Mapping[str, Any]) -> PollAnswer:
        raise NotImplementedError

    def ask(self, method: str, *parts: str, content: Any = None, **more: Any) -> Any:
        if self.put_off:
            self.put_off -= 1
            raise RequestDeferred(50.0, "too many")
        if self.refuse:
            self.refuse -= 1
            raise Unanswered(5.0, "no time", may_have_arrived=False)
        self.said.append(f"{method} {'/'.join(parts)}")
        self.on_fresh_connection = more.get("fresh", False)
        if self.down:
            raise Unanswered(5.0, "nobody there")
        answer = self._answer(method, parts, content)
        if self.uses_up and method == "POST":
            self.kept[parts[0]].clear()
        if self.lose and method != "GET":
            self.lose -= 1
            self.down = self.dies
            raise Unanswered(5.0, "no answer")
        return answer

    def _answer(self, method: str, parts: tuple[str, ...], content: Any) -> Any:
        kind = self.kept[parts[0]]
        if parts[1:] == ("validate",):
            return self.verdict
        if method in ("POST", "PUT"):
            return self._write(method, parts[0], content)
        if parts[1] not in kind:
            raise NotFound(parts[0], parts[1])
        return kind.pop(parts[1]) and None if method == "DELETE" else kind[parts[1]]

    def _write(self, method: str, kind: str, content: Any) -> Any:
        if kind == "workflows":
            [name] = set(yaml.safe_load(content)) - {"version"}
            entry: dict[str, Any] = {"definition": content}
        else:
            name, entry = content.get("name") or content["id"], dict(content)
        if method == "PUT" and name not in self.kept[kind]:
            raise NotFound(kind, name)
        if method == "POST" and name in self.kept[kind]:
            raise Conflict("Duplicate entry")
        self.kept[kind][name] = entry
        return entry


@pytest.fixture
def mistral() -> SmallMistral:
    return SmallMistral()


CONSTRAINTS = {"mistral.workflow": MistralWorkflow, "cron_expression": CronExpression}
FLOW = {"type": "direct", "tasks": [{"name": "t", "action": "std.noop"}]}


def flow(mistral: SmallMistral, **props: Any) -> testing.Lifecycle:
    context = testing.FakeContext(runners={"mistral": mistral}, constraints=CONSTRAINTS)
    given = {**FLOW, **props}
    return testing.Lifecycle(
        Workflow, given, type_name="OS::Mistral::Workflow", name="flow", context=context
    )


def cron(mistral: SmallMistral, **props: Any) -> testing.Lifecycle:
    context = testing.FakeContext(runners={"mistral": mistral}, constraints=CONSTRAINTS)
    given: Any = {"pattern": "0 3 * * *", "workflow": {"name": "w", "input": {"a": 1}}, **props}
    mistral.kept["workflows"][given["workflow"]["name"]] = {}
    return testing.Lifecycle(
        CronTrigger, given, type_name="OS::Mistral::CronTrigger", name="cron", context=context
    )


MAKERS = [
    pytest.param(flow, "workflows", id="workflow"),
    pytest.param(cron, "cron_triggers", id="cron"),
]


@pytest.mark.parametrize(("make", "kind"), MAKERS)
def test_a_name_is_given_or_made_up(mistral: SmallMistral, make: Any, kind: str) -> None:
    named, other = make(mistral, name="n"), make(mistral)
    named.create()
    other.create()
    assert list(mistral.kept[kind]) == ["n", other.resource_id]
    assert str(other.resource_id).startswith("teststack-")
    named.delete()
    other.delete()
    assert mistral.kept[kind] == {}


@pytest.mark.parametrize(("make", "kind"), MAKERS)
def test_a_request_whose_answer_was_lost_is_not_repeated_in_vain(
    mistral: SmallMistral, make: Any, kind: str
) -> None:
    thing = make(mistral, name="n")
    mistral.lose = 1
    thing.create()
    assert (thing.resource_id, len(mistral.kept[kind])) == ("n", 1)


@pytest.mark.parametrize(("make", "kind"), MAKERS)
def test_what_others_made_is_no_success_and_stays(
    mistral: SmallMistral, make: Any, kind: str
) -> None:
    theirs = {"definition": "n: {type: reverse}", "pattern": "1 1 1 1 1"}
    mistral.kept[kind]["n"] = theirs
    thing = make(mistral, name="n")
    with pytest.raises(ResourceFailure, match="Duplicate"):
        thing.create()
    thing.delete()
    assert mistral.kept[kind]["n"] is theirs


@pytest.mark.parametrize(("make", "kind"), MAKERS)
def test_what_was_made_and_never_acknowledged_is_removed(
    mistral: SmallMistral, make: Any, kind: str
) -> None:
    thing = make(mistral, name="n")
    mistral.lose, mistral.dies = 1, True
    with pytest.raises(ResourceFailure, match="nobody there"):
        thing.create()
    assert thing.resource_id is None
    assert list(mistral.kept[kind]) == ["n"]
    mistral.down = False
    thing.delete()
    assert mistral.kept[kind] == {}


@pytest.mark.parametrize(("make", "kind"), MAKERS)
def test_one_that_never_answers_is_given_up(mistral: SmallMistral, make: Any, kind: str) -> None:
    thing = make(mistral)
    mistral.down = True
    began = thing.context.clock.now()
    with pytest.raises(ResourceFailure, match="nobody there"):
        thing.create()
    assert 120 <= thing.context.clock.now() - began < 130


@pytest.mark.parametrize(("make", "kind"), MAKERS)
def test_what_is_gone_is_deleted(mistral: SmallMistral, make: Any, kind: str) -> None:
    thing = make(mistral)
    thing.create()
    mistral.kept[kind].clear()
    thing.delete()
    assert thing.state == ("DELETE", "COMPLETE")


@pytest.mark.parametrize(("make", "kind"), MAKERS)
def test_a_resource_without_a_mistral_is_a_fault_of_the_template(make: Any, kind: str) -> None:
    thing = make(SmallMistral())
    thing.context._runners.clear()
    with pytest.raises(Exception, match="No runner mistral"):
        thing.validate()


# -- workflows ------------------------------------------------------------------------------


def test_a_change_writes_the_workflow_anew(mistral: SmallMistral) -> None:
    thing = flow(mistral)
    thing.create()
    assert thing.update({**FLOW, "description": "new"}) == "updated"
    name = str(thing.resource_id)
    assert "description: new" in mistral.kept["workflows"][name]["definition"]
    mistral.kept["workflows"].clear()
    assert thing.update({**FLOW, "description": "newer"}) == "updated"
    assert "description: newer" in mistral.kept["workflows"][name]["definition"]
    assert thing.update({**FLOW, "name": "named"}) == "replaced"


def test_a_signal_starts_an_execution(mistral: SmallMistral) -> None:
    thing = flow(mistral, name="n", input={"a": 1, "b": 2}, params={"task_name": "t"})
    thing.create()
    thing.instance().handle_signal({"input": {"b": 3}, "params": {"env": {"x": 1}}})  # type: ignore[attr-defined]
    assert mistral.on_fresh_connection  # a kept one may be closed just then: it may run, or not
    [started] = mistral.kept["executions"].values()
    assert json.loads(started["input"]) == {"a": 1, "b": 3}
    assert json.loads(started["params"]) == {"task_name": "t", "env": {"x": 1}}
    assert (started["workflow_id"], started["workflow_namespace"]) == ("n", "ours")
    started.update(state="RUNNING", output='{"o": 1}')
    [shown] = thing.attribute("executions")
    assert (shown["id"], shown["input"]["b"], shown["output"]) == (started["id"], 3, {"o": 1})
    thing.delete()
    assert mistral.kept["executions"] == {}


def test_what_a_signal_may_have_started_is_known(mistral: SmallMistral) -> None:
    thing = flow(mistral)
    thing.create()
    mistral.lose = 1
    with pytest.raises(ResourceFailure, match="may run nevertheless"):
        thing.instance().handle_signal({})  # type: ignore[attr-defined]
    assert len(mistral.kept["executions"]) == 1
    thing.delete()
    assert mistral.kept["executions"] == {}


def test_a_signal_may_be_the_input(mistral: SmallMistral) -> None:
    thing = flow(mistral, input={"a": 1}, use_request_body_as_input=True)
    thing.create()
    thing.instance().handle_signal({"a": 7})  # type: ignore[attr-defined]
    [started] = mistral.kept["executions"].values()
    assert json.loads(started["input"]) == {"a": 7}


@pytest.mark.parametrize(
    ("details", "what"),
    [
        pytest.param({"input": [1]}, "input must be a map, not a list", id="input"),
        pytest.param({"params": "x"}, "params must be a map, not a text", id="params"),
        pytest.param({"input": {"z": 1}}, "Unknown input z", id="unknown"),
    ],
)
def test_a_signal_that_does_not_fit_starts_nothing(
    mistral: SmallMistral, details: Any, what: str
) -> None:
    thing = flow(mistral, input={"a": 1})
    thing.create()
    with pytest.raises(ResourceFailure, match=what):
        thing.instance().handle_signal(details)  # type: ignore[attr-defined]
    assert mistral.kept["executions"] == {}


def task(**fields: Any) -> dict[str, Any]:
    return {"tasks": [{"name": "t", **fields}]}


@pytest.mark.parametrize(
    ("props", "what"),
    [
        pytest.param({"type": "reverse"}, "'task_name' is not assigned", id="reverse"),
        pytest.param(task(), "At least one of the following properties", id="nothing-to-do"),
        pytest.param(task(action="a", workflow="w"), "at the same time", id="both"),
        pytest.param(
            task(action="a", requires=["b"]), "'requires' in case of direct", id="requires"
        ),
        pytest.param(task(action="a", concurrency=2), "without with_items", id="concurrency"),
        pytest.param(
            task(action="a", timeout=1, policies={"timeout": 2}), "policies and timeout", id="twice"
        ),
    ],
)
def test_what_the_schema_cannot_say_is_checked(
    mistral: SmallMistral, props: dict[str, Any], what: str
) -> None:
    mistral.kept["workflows"]["w"] = {}
    with pytest.raises(ValidationErrors) as caught:
        flow(mistral, **props).validate()
    assert what in str(caught.value)


def test_mistral_is_believed_where_it_refuses_and_not_missed_where_it_is_down(
    mistral: SmallMistral,
) -> None:
    mistral.down = True
    flow(mistral).validate()
    mistral.down = False
    mistral.verdict = {"valid": False, "error": "Invalid DSL: so"}
    with pytest.raises(Exception, match="Invalid DSL: so"):
        flow(mistral).validate()


def test_a_workflow_that_mistral_does_not_have_breaks_the_constraint(mistral: SmallMistral) -> None:
    thing = flow(mistral, **task(workflow="other"))
    with pytest.raises(ValidationErrors, match=r"The Workflow \(other\) could not be found"):
        thing.validate()
    mistral.kept["workflows"]["other"] = {}
    thing.validate()


def test_a_workflow_tells_how_it_really_is(mistral: SmallMistral) -> None:
    thing = flow(mistral, name="n", description="d")
    thing.create()
    live = thing.instance().get_live_state()
    assert live is not None
    assert (live["description"], live["tasks"]) == (
        "d",
        thing.instance().properties.get_stored_values()["tasks"],
    )
    kept = mistral.kept["workflows"]["n"]
    kept["definition"] = kept["definition"].replace("description: d", "description: e")
    assert (thing.instance().get_live_state() or {})["description"] == "e"
    mistral.down = True
    with pytest.raises(ResourceFailure, match="nobody there"):
        thing.instance().get_live_state()
    mistral.down = False
    mistral.kept["workflows"].clear()
    with pytest.raises(NotFound):
        thing.instance().get_live_state()


# -- cron triggers --------------------------------------------------------------------------


def test_a_trigger_is_asked_for_in_mistrals_words(mistral: SmallMistral) -> None:
    workflow = "e9a144b6-cdfc-4806-8e46-8d20700f201a"
    cron(
        mistral, name="n", workflow={"name": workflow}, first_time="2027-01-01 10:00", count=3
    ).create()
    assert mistral.kept["cron_triggers"]["n"] == {
        "name": "n",
        "workflow_id": workflow,
        "pattern": "0 3 * * *",
        "first_execution_time": "2027-01-01 10:00",
        "remaining_executions": 3,
    }


def test_a_trigger_needs_a_time(mistral: SmallMistral) -> None:
    with pytest.raises(Exception, match="pattern, first_time"):
        cron(mistral, pattern=None).validate()


def test_a_trigger_tells_how_it_really_is(mistral: SmallMistral) -> None:
    thing = cron(mistral, name="n")
    thing.create()
    kept = mistral.kept["cron_triggers"]["n"]
    wanted = {"name": "n", "pattern": "0 3 * * *", "workflow": {"name": "w", "input": {"a": 1}}}
    assert thing.instance().get_live_state() == wanted
    kept["workflow_input"] = '{"a": 2}'
    assert (thing.instance().get_live_state() or {})["workflow"]["input"] == {"a": 2}
    mistral.kept["cron_triggers"].clear()
    with pytest.raises(NotFound):
        thing.instance().get_live_state()
    assert thing.attribute("next_execution_time") is None


def test_nobody_can_tell_of_a_trigger_that_may_be_used_up(mistral: SmallMistral) -> None:
    thing = cron(mistral, count=1)
    thing.create()
    mistral.kept["cron_triggers"].clear()
    with pytest.raises(ResourceFailure, match="used up"):
        thing.instance().get_live_state()


def test_what_was_never_sent_is_no_failure_however_long_it_takes(mistral: SmallMistral) -> None:
    """What is put off beside a thousand others is sent at last."""
    thing = flow(mistral)
    mistral.put_off = 3
    began = thing.context.clock.now()
    thing.create()
    assert thing.context.clock.now() - began > mistral.give_up
    assert len(mistral.kept["workflows"]) == 1


ENDS: list[Any] = [
    pytest.param({"count": 1}, id="count"),
    pytest.param({"pattern": None, "first_time": "2099-12-25 06:07"}, id="once"),
]


@pytest.mark.parametrize("props", ENDS)
def test_a_trigger_that_ends_is_not_asked_for_twice(
    mistral: SmallMistral, props: dict[str, Any]
) -> None:
    """Its answer is lost, it fires and is used up: another one would fire once more."""
    thing = cron(mistral, **props)
    mistral.lose, mistral.uses_up = 1, True
    with pytest.raises(ResourceFailure, match="Nobody can tell whether the trigger was made"):
        thing.create()
    assert mistral.said.count("POST cron_triggers") == 1


@pytest.mark.parametrize("props", ENDS)
def test_a_trigger_that_ends_is_found_again(mistral: SmallMistral, props: dict[str, Any]) -> None:
    thing = cron(mistral, name="n", **props)
    mistral.lose = 1
    thing.create()
    assert thing.resource_id == "n"
    assert mistral.said.count("POST cron_triggers") == 1


@pytest.mark.parametrize("props", ENDS)
def test_a_trigger_that_was_never_sent_is_sent_again(
    mistral: SmallMistral, props: dict[str, Any]
) -> None:
    thing = cron(mistral, name="n", **props)
    mistral.put_off, mistral.refuse = 1, 1
    thing.create()
    assert list(mistral.kept["cron_triggers"]) == ["n"]


@pytest.mark.parametrize(("make", "kind"), MAKERS)
def test_a_stranger_of_the_name_is_not_what_was_never_acknowledged(
    mistral: SmallMistral, make: Any, kind: str
) -> None:
    thing = make(mistral, name="n")
    theirs = mistral.kept[kind]["n"] = {"definition": "version: '2.0'\nn: {}\n"}
    mistral.put_off = 1
    with pytest.raises(ResourceFailure, match="Duplicate"):
        thing.create()
    assert thing.resource_id is None
    thing.delete()
    assert mistral.kept[kind]["n"] is theirs
