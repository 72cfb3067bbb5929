"""Zonda::Workflow::ExternalResource: its features beyond Heat's type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from zonda.hooks.errors import NotFound, ResourceFailure
from zonda.hooks.resources.live_state import OpaqueState
from zonda.hooks.runners import Failed, Finished, Running, Succeeded
from zonda.hooks.testing import FakeContext, FakeRunner, Lifecycle
from zonda.workflows.resources.zonda_external_resource import ZondaExternalResource

ACTIONS = {
    name: {"workflow": workflow}
    for name, workflow in {"CREATE": "mk", "UPDATE": "up", "DELETE": "rm", "CHECK": "look"}.items()
}


def ends(**output: Any) -> list[Finished]:
    """A run that ends at once, with this output."""
    return [Finished(Succeeded(output))]


def a_runner(**answers: Any) -> FakeRunner:
    """Makes ``x1``; ``answers`` are what else its workflows give."""
    usual = {"mk": ends(resource_id="x1"), "up": ends(), "rm": ends(), "look": ends(in_sync=True)}
    return FakeRunner({**usual, **answers})


def made(runs: FakeRunner, **properties: Any) -> Lifecycle:
    """One that was made with the input ``{"size": 3}``."""
    life = a_life(runs, **properties)
    life.create()
    return life


def a_life(runs: FakeRunner, other: FakeRunner | None = None, **properties: Any) -> Lifecycle:
    """One that is not made yet; ``runs`` is the default and ``store``."""
    context = FakeContext(runners={"default": runs, "store": runs, "other": other or runs})
    given = {"actions": ACTIONS, "input": {"size": 3}, **properties}
    life = Lifecycle(ZondaExternalResource, given, context=context)
    life.validate()
    return life


def actions(runner: FakeRunner) -> list[str]:
    """What was sent, in order."""
    return [request.action for request in runner.requests]


def test_a_runner_by_name() -> None:
    runner = a_runner()
    unused = a_runner()
    life = a_life(unused, runner, runner="other")
    life.create()
    life.delete()
    assert (actions(runner), actions(unused)) == (["CREATE", "DELETE"], [])


def test_a_runner_for_one_action() -> None:
    runner, other = a_runner(), a_runner()
    removing = {"workflow": "rm", "runner": "other"}
    life = a_life(runner, other, actions={**ACTIONS, "DELETE": removing})
    life.create()
    life.delete()
    assert (actions(runner), actions(other)) == (["CREATE"], ["DELETE"])


@pytest.mark.parametrize(
    ("output", "live"),
    [
        ({"in_sync": True}, {"size": 3}),
        ({"inputs": {"size": 3}}, {"size": 3}),
        ({"inputs": {"size": 4, "more": 1}}, {"size": 4, "more": 1}),
    ],
    ids=["in sync", "the same", "another"],
)
def test_what_check_tells(output: Mapping[str, Any], live: Mapping[str, Any]) -> None:
    runner = a_runner(look=ends(**output))
    life = made(runner)
    assert life.live_state() == {"input": live}
    assert actions(runner) == ["CREATE", "CHECK"]


@pytest.mark.parametrize("in_sync", [True, False])
@pytest.mark.parametrize("given", [{}, {"input": {"size": 3}}], ids=["no input", "an input"])
def test_a_check_that_tells_of_the_whole_tells_of_no_property(
    in_sync: bool, given: Mapping[str, Any]
) -> None:
    life = made(a_runner(look=ends(in_sync=in_sync)), **{"input": {}, **given})
    told = life.live_state()
    assert isinstance(told, OpaqueState)
    assert told.in_sync is in_sync
    if in_sync:
        life.check()
        return
    assert "CHECK says that it is not in sync" in told.reason
    with pytest.raises(ResourceFailure, match="CHECK says that it is not in sync") as found:
        life.check()
    assert "template" not in str(found.value).replace("as the template says", "")


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        pytest.param({}, {"inputs": {}}, id="nothing observed"),
        pytest.param({"input": {"size": 3}}, {"inputs": {"size": 3}}, id="the same observed"),
        pytest.param({"input": {"in_sync": False}}, {}, id="an input of that name"),
        pytest.param({"input": {"in_sync": False}}, {"inputs": {}}, id="both"),
        pytest.param({"replace_on_change_inputs": ["in_sync"]}, {}, id="replaced for that name"),
    ],
)
def test_what_is_said_to_be_out_of_sync_is_so_and_can_be_repaired(
    given: Mapping[str, Any], answer: Mapping[str, Any]
) -> None:
    life = made(a_runner(look=ends(in_sync=False, **answer)), **{"input": {}, **given})
    told = life.live_state()
    assert isinstance(told, OpaqueState)
    assert not told.in_sync
    wanted = life.definition.properties["input"]
    assert wanted != {key: told["input"].get(key) for key in {*wanted, *told["input"]}}
    assert not {*told["input"]}.intersection(given.get("replace_on_change_inputs", ()))


def test_what_was_observed_to_differ_is_told_whatever_else_is_said() -> None:
    life = made(a_runner(look=ends(in_sync=False, inputs={"size": 4})))
    assert life.live_state() == {"input": {"size": 4}}


def test_what_check_finds_gone() -> None:
    with pytest.raises(NotFound):
        made(a_runner(look=ends(exists=False))).live_state()


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"exists": True},
        {"inputs": 3},
        {"inputs": {}},
        {"inputs": "x", "in_sync": True},
        {"inputs": [], "in_sync": True},
        {"in_sync": "yes"},
        {"inputs": {"size": 3}, "in_sync": "false"},
        {"inputs": {"size": 3}, "exists": "false"},
        {"inputs": {"size": 3}, "exists": 0},
    ],
)
def test_a_check_that_tells_nothing_is_an_error(answer: Mapping[str, Any]) -> None:
    with pytest.raises(ResourceFailure, match="CHECK told nothing"):
        made(a_runner(look=ends(**answer))).live_state()


def test_without_check_it_cannot_tell() -> None:
    runner = a_runner()
    life = made(runner, actions={name: ACTIONS[name] for name in ("CREATE", "UPDATE", "DELETE")})
    assert life.live_state() is None
    life.check()
    assert actions(runner) == ["CREATE"]


def test_a_check_that_found_a_difference_has_it_put_right() -> None:
    found = [Finished(Succeeded({"inputs": {"size": 9}})), Finished(Succeeded({"in_sync": True}))]
    runner = a_runner(look=found)
    life = made(runner)
    with pytest.raises(ResourceFailure, match="not as the template says"):
        life.check()
    given = dict(life.definition.properties)
    assert life.update(given) == "updated"
    assert runner.requests[-1].action == "UPDATE"
    life.check()


def test_timeouts_are_of_one_action_each() -> None:
    runner = a_runner(mk=[Running(poll_after=5)])
    life = a_life(runner, timeouts={"CREATE": 20}, on_timeout="cancel")
    with pytest.raises(ResourceFailure, match="CREATE took longer than its timeout"):
        life.create()
    assert runner.cancelled == ["exec-1"]
    long = a_runner(up=[*[Running(poll_after=100)] * 5, Succeeded({})])
    life = made(long, timeouts={"CREATE": 20})
    assert life.update({**life.definition.properties, "input": {"size": 4}}) == "updated"


def test_retries_are_of_one_action_each() -> None:
    runner = a_runner(
        mk=[Finished(Failed("no")), Finished(Succeeded({}))], up=[Finished(Failed("x"))]
    )
    life = made(runner, retries={"CREATE": 1})
    assert actions(runner) == ["CREATE", "CREATE"]
    with pytest.raises(ResourceFailure):
        life.update({**life.definition.properties, "input": {"size": 4}})
    assert actions(runner) == ["CREATE", "CREATE", "UPDATE"]


@pytest.mark.parametrize("allowed", [True, False])
def test_another_id(allowed: bool) -> None:
    runner = a_runner(up=ends(resource_id="x2"))
    life = made(runner, allow_id_change=allowed)
    changed = {**life.definition.properties, "input": {"size": 4}}
    if not allowed:
        with pytest.raises(ResourceFailure, match="another resource_id"):
            life.update(changed)
        assert (life.resource_id, actions(runner)) == ("x1", ["CREATE", "UPDATE"])
        return
    life.update(changed)
    assert (life.resource_id, actions(runner)) == ("x2", ["CREATE", "UPDATE", "DELETE"])
    assert runner.requests[-1].resource.physical_id == "x1"


def test_a_listed_input_replaces() -> None:
    runner = a_runner()
    life = made(runner, replace_on_change_inputs=["size"])
    assert life.update({**life.definition.properties, "input": {"size": 4}}) == "replaced"
