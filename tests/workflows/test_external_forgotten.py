"""A runner that forgets a run once its result is stored, and a crash right after that."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from zonda.hooks import testing
from zonda.hooks.runner import Lost, PollAnswer, Succeeded
from zonda.workflows.external_resource import ExternalResource


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
