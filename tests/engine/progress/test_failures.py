"""Failures that only follow from another failure are told apart from it."""

from __future__ import annotations

from typing import Any

from zonda.core.engine.actions import CancelStack, CreateStack
from zonda.core.reports.failures import failures, find_failed_action
from zonda.hooks.errors import ResourceFailure

TWO = "a: {type: Test::Slow}\nb: {type: Test::Slow}"


def test_what_was_cancelled_after_a_failure_is_not_the_reason(bench: Any) -> None:
    def fail(resource: Any) -> None:
        raise ResourceFailure("no such luck")

    bench.journal.behave["a", "check"] = lambda resource: False
    bench.journal.behave["b", "check"] = fail
    bench.engine.begin(CreateStack("s", bench.bundle(TWO)))
    for _ in range(30):
        bench.engine._run_once()
    bench.engine.begin(CancelStack("s"))
    bench.clock.advance(1000)
    bench.engine.sweep_deadlines()
    reader = bench.engine.reader
    stack = reader.stack("s")
    action = find_failed_action(reader.actions(stack.id), None)
    assert action is not None
    found = failures(reader, stack, action)
    assert [each.view.resource_name for each in found.found] == ["b"]
    assert found.followed == ("a",)


def test_attempts_before_the_last_one_are_told_with_it(bench: Any) -> None:
    environment = "zonda: {retries: {a: {create: {attempts: 3, delay: 1}}}}"

    def fail(resource: Any) -> None:
        raise ResourceFailure("no such luck")

    bench.journal.behave["a", "handle_create"] = fail
    bench.create("a: {type: Test::Slow}", environment=environment)
    reader = bench.engine.reader
    stack = reader.stack("s")
    action = find_failed_action(reader.actions(stack.id), None)
    assert action is not None
    (found,) = failures(reader, stack, action).found
    assert found.view.attempt == 3
    assert len(found.tried) == 2
