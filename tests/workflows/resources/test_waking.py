"""Runs that wait for a time of their own: what they say, and how they are rung meanwhile."""

from __future__ import annotations

import pytest

from zonda.hooks.errors import NotReady
from zonda.hooks.runners import Finished, Retry, Succeeded
from zonda.hooks.runners.waking import Waker, keep_waker
from zonda.hooks.testing import FakeContext, FakeOperation, FakeRunner, Lifecycle
from zonda.workflows.resources.external_resource import ExternalResource


def test_a_run_that_is_rung_does_not_wait_until_it_was_to_look_again() -> None:
    runner = FakeRunner({"mk": [Retry(60.0, "full", True), Finished(Succeeded({}))]})
    context = FakeContext(runners={"default": runner})
    context.operation = FakeOperation("op", "CREATE", 0.0, 2e9)
    given = {"actions": {"CREATE": {"workflow": "mk"}}}
    external = Lifecycle(ExternalResource, given, name="x", context=context).instance()
    token, waker = external.handle_create(), Waker(lambda: None)
    with keep_waker(waker):
        with pytest.raises(NotReady) as early:
            external.check_create_complete(token)
        assert early.value.delay == 60.0
        assert runner.requests == []
        waker.ring()
        with pytest.raises(NotReady) as sent:
            external.check_create_complete(token)
    assert sent.value.delay == 0.0
    assert len(runner.requests) == 1


def test_a_run_in_a_queue_sends_the_same_request_when_its_turn_has_come() -> None:
    runner = FakeRunner({"mk": [Retry(10.0, "full", True, queued=True), Finished(Succeeded({}))]})
    context = FakeContext(runners={"default": runner})
    context.operation = FakeOperation("op", "CREATE", 0.0, 2e9)
    given = {"actions": {"CREATE": {"workflow": "mk"}}}
    external = Lifecycle(ExternalResource, given, name="x", context=context).instance()
    waker = Waker(lambda: None)
    with keep_waker(waker):
        with pytest.raises(NotReady) as queued:
            external.handle_create()
        assert (queued.value.queued, queued.value.delay) == (True, 10.0)
        waker.ring()
        token = external.handle_create()
        assert external.check_create_complete(token)
    [sent] = runner.requests
    assert (sent.attempt, sent.memory) == (1, {})
    assert context.messages == ["waiting for the runner: full", "running"]


def test_a_run_that_was_accepted_is_running_while_it_is_asked_again() -> None:
    script = [Retry(4.0, "1 of 2", True, accepted=True), Finished(Succeeded({}))]
    context = FakeContext(runners={"default": FakeRunner({"mk": script})})
    given = {"actions": {"CREATE": {"workflow": "mk"}}}
    Lifecycle(ExternalResource, given, name="x", context=context).create()
    assert context.messages == ["1 of 2", "running"]
