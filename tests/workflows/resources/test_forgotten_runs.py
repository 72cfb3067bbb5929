"""Runners that forget a run once its result is stored, and a crash right after that."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from zonda.hooks import testing
from zonda.hooks.errors import ResourceFailure
from zonda.hooks.runners import Lost, PollAnswer, Succeeded
from zonda.workflows.resources.external_resource import ExternalResource
from zonda.workflows.resources.zonda_external_resource import ZondaExternalResource


class Forgetful(testing.FakeRunner):
    """Knows a run until it is told to forget it."""

    gone = False

    def forget(self, token: Mapping[str, Any]) -> None:
        self.gone = True

    def poll(self, token: Mapping[str, Any]) -> PollAnswer:
        return Lost("forgotten") if self.gone else super().poll(token)


@pytest.mark.parametrize("action", ["CREATE", "DELETE"])
def test_a_forgotten_run_whose_result_is_stored_is_not_lost(action: str) -> None:
    runner = Forgetful({"flow": [Succeeded({"a": 1})]})
    context = testing.FakeContext(runners={"default": runner})
    thing = testing.Lifecycle(
        ExternalResource, {"actions": {action: {"workflow": "flow"}}}, context=context
    )
    context.operation = testing.FakeOperation("op-1", action, 0.0, 3600.0)
    begin = {"CREATE": "handle_create", "DELETE": "handle_delete"}[action]
    check = {"CREATE": "check_create_complete", "DELETE": "check_delete_complete"}[action]
    token = json.dumps(getattr(thing.instance(), begin)())
    context.clock.advance(1.0)
    assert getattr(thing.instance(), check)(json.loads(token))
    assert runner.gone
    assert getattr(thing.instance(), check)(json.loads(token)), "as after a crash before the end"
    assert len(runner.requests) == 1


@pytest.mark.parametrize(
    ("output", "why"),
    [
        pytest.param({"in_sync": True}, "", id="well"),
        pytest.param({"exists": False}, "It is gone", id="gone"),
        pytest.param({"inputs": {"a": 2}}, "not as the template says", id="different"),
    ],
)
def test_a_check_that_is_taken_up_again_says_the_same(output: dict[str, Any], why: str) -> None:
    runner, thing = observed(Succeeded(output))
    thing.context.operation = testing.FakeOperation("op-1", "CHECK", 0.0, 3600.0)
    token = json.dumps(thing.instance().handle_check())
    thing.context.clock.advance(1.0)
    for _ in range(2):
        check = thing.instance().check_check_complete
        if why:
            with pytest.raises(ResourceFailure, match=why):
                check(json.loads(token))
        else:
            assert check(json.loads(token))
        assert runner.gone


def test_an_import_that_is_taken_up_again_knows_what_is_there() -> None:
    runner, thing = observed(Succeeded({"inputs": {"a": 2}, "more": 3}))
    thing.context.operation = testing.FakeOperation("op-1", "ADOPT", 0.0, 3600.0)
    token = json.dumps(thing.instance().handle_adopt({"resource_id": "r"}))
    thing.context.clock.advance(1.0)
    for _ in range(2):
        one = thing.instance()
        assert one.check_adopt_complete(json.loads(token))
        assert one.get_live_state() == {"input": {"a": 2}}
        assert runner.gone


def test_the_next_run_is_another_one() -> None:
    runner, thing = observed(Succeeded({"in_sync": True}), Succeeded({"exists": False}))
    for name, well in (("op-1", True), ("op-2", False)):
        runner.gone = False
        thing.context.operation = testing.FakeOperation(name, "CHECK", 0.0, 3600.0)
        token = thing.instance().handle_check()
        thing.context.clock.advance(1.0)
        if well:
            assert thing.instance().check_check_complete(token)
        else:
            with pytest.raises(ResourceFailure, match="It is gone"):
                thing.instance().check_check_complete(token)


def observed(*results: Any) -> tuple[Forgetful, testing.Lifecycle]:
    """What a runner says of a thing, one after the other, and the thing."""
    runner = Forgetful({"look": list(results)})
    props = {"actions": {"CHECK": {"workflow": "look"}}, "input": {"a": 1}}
    context = testing.FakeContext(runners={"default": runner})
    return runner, testing.Lifecycle(ZondaExternalResource, props, context=context)
