"""Crashes, take-overs, deadlines, cancellation and newer plans on the inline engine."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.core.engine.actions import CreateStack, DeleteStack, UpdateStack
from zonda.core.engine.operations import timeouts
from zonda.hooks.errors import Conflict, NotSupported
from zonda.hooks.text.borders import Interruption


def interrupted(bench: Any, kind: str, *, when: str) -> None:
    """Create resource ``a``, and lose the engine during ``when``."""

    class Died(Interruption):
        pass

    def die(resource: Any) -> None:
        raise Died

    bench.journal.behave["a", when] = die
    with pytest.raises(Died):
        bench.create(f"a: {{type: Test::{kind}}}")
    bench.heals("a", when)
    bench.journal.calls.clear()
    bench.restart().recover()


@pytest.mark.parametrize(
    ("kind", "calls", "state"),
    [
        pytest.param(
            "Idempotent", ["handle_create", "check"], "CREATE_COMPLETE", id="called again"
        ),
        pytest.param("Slow", [], "CREATE_FAILED", id="given up"),
        pytest.param(
            "Finder", ["handle_find", "handle_create", "check"], "CREATE_COMPLETE", id="not found"
        ),
    ],
)
def test_a_handler_that_was_cut_off_goes_on_by_policy(
    kind: str, calls: list[str], state: str, bench: Any
) -> None:
    interrupted(bench, kind, when="handle_create")
    bench.engine.settle()
    assert bench.journal.of("a") == calls
    assert bench.stack.state == state
    assert bench.resource("a").physical_id is not None


@pytest.mark.parametrize(
    ("kind", "stored"),
    [
        pytest.param("Idempotent", [True, True], id="at once"),
        # the first check comes in the same turn as the handler
        pytest.param("Inward", [False, False], id="with the answer"),
    ],
)
def test_a_write_is_durable_when_it_must_be(kind: str, stored: list[bool], bench: Any) -> None:
    found = []

    def look(resource: Any) -> dict[str, int]:
        found.append(bench.resource("a").physical_id is not None)
        return {"token": 1}

    bench.journal.behave["a", "handle_create"] = look
    bench.journal.behave["a", "check"] = look
    bench.create(f"a: {{type: Test::{kind}}}")
    assert found == stored


def test_what_was_found_is_not_begun_again(bench: Any) -> None:
    bench.journal.behave["a", "handle_find"] = lambda resource: {"token": 1}
    interrupted(bench, "Finder", when="handle_create")
    bench.engine.settle()
    assert bench.journal.of("a") == ["handle_find", "check"]


def test_an_interrupted_operation_keeps_its_id(bench: Any) -> None:
    interrupted(bench, "Idempotent", when="handle_create")
    bench.engine.settle()
    assert len(set(bench.journal.op_ids)) == 1


def test_a_poll_goes_on_from_the_stored_token(bench: Any) -> None:
    seen: list[Any] = []

    class Keeps(bench.types["Test::Slow"]):  # type: ignore[misc]
        def handle_create(self) -> Any:
            super().handle_create()
            return {"step": 1}

        def check_create_complete(self, token: Any) -> bool:
            seen.append(dict(token))
            token["step"] += 1
            return super()._check(token)

    bench.types["Test::Keeps"] = Keeps
    bench.restart()  # the types of an engine are those that it began with
    bench.journal.behave["a", "check"] = lambda resource: False
    bench.engine.begin(CreateStack("s", bench.bundle("a: {type: Test::Keeps}")))
    while len(seen) < 3:
        bench.steps(1)
    bench.steps(1)
    bench.restart().recover()
    bench.heals("a", "check")
    bench.engine.settle()
    assert [token["step"] for token in seen] == [1, 2, 3, 4]
    assert bench.journal.of("a").count("handle_create") == 1


def test_a_token_that_is_no_json_is_lost_with_the_process(bench: Any) -> None:
    bench.journal.behave["a", "handle_create"] = lambda resource: object()
    bench.journal.behave["a", "check"] = lambda resource: False
    bench.engine.begin(CreateStack("s", bench.bundle("a: {type: Test::Slow}")))
    bench.steps(20)
    bench.restart().recover()
    bench.engine.settle()
    assert bench.stack.state == "CREATE_FAILED"
    assert "interrupted in handle_create" in bench.stack.status_reason


def test_a_token_that_is_no_json_serves_as_long_as_the_process_lives(bench: Any) -> None:
    bench.journal.behave["a", "handle_create"] = lambda resource: object()
    assert bench.create("a: {type: Test::Slow}").state == "CREATE_COMPLETE"


# -- overtaking -------------------------------------------------------------------------------


def hanging(bench: Any, text: str = "a: {type: Test::Slow, properties: {value: one}}") -> None:
    """Begin a creation that does not end."""
    bench.journal.behave["a", "check"] = lambda resource: False
    bench.engine.begin(CreateStack("s", bench.bundle(text)))
    bench.steps(20)
    assert bench.resource("a").state == "CREATE_IN_PROGRESS"


def test_a_newer_update_overtakes_and_the_running_operation_ends_first(bench: Any) -> None:
    hanging(bench)
    text = "a: {type: Test::Slow, properties: {value: two}}"
    bench.engine.begin(UpdateStack("s", bench.bundle(text)))
    bench.heals("a", "check")
    bench.engine.settle()
    assert bench.stack.state == "UPDATE_COMPLETE"
    assert bench.journal.of("a").count("handle_create") == 1
    assert bench.journal.of("a").count("handle_update") == 1
    assert bench.resource("a").properties == {"value": "two"}


def test_a_deletion_hears_first_of_what_has_ended(bench: Any) -> None:
    hanging(bench)
    bench.engine.begin(DeleteStack("s"))
    bench.heals("a", "check")
    bench.engine.settle()
    calls = [call for call in bench.journal.of("a") if call != "check"]
    assert calls == ["handle_create", "handle_delete"]


def test_other_actions_wait_their_turn(bench: Any) -> None:
    hanging(bench)
    with pytest.raises(Conflict, match="already has an action"):
        bench.suspend()


def test_cancelling_starts_nothing_more(bench: Any) -> None:
    hanging(bench, "a: {type: Test::Slow}\nb: {type: Test::Box, depends_on: a}")
    from zonda.core.engine.actions import CancelStack

    bench.engine.begin(CancelStack("s"))
    bench.heals("a", "check")
    bench.engine.settle()
    assert bench.stack.state == "CREATE_FAILED"
    assert "cancelled" in bench.stack.status_reason
    assert bench.states() == {"a": "CREATE_COMPLETE", "b": "INIT_COMPLETE"}


def test_cancelling_with_rollback_goes_back(bench: Any) -> None:
    bench.create("a: {type: Test::Slow, properties: {value: one}}")
    bench.journal.behave["a", "check"] = lambda resource: False
    text = "a: {type: Test::Slow, properties: {value: two}}"
    bench.engine.begin(UpdateStack("s", bench.bundle(text)))
    bench.steps(20)
    from zonda.core.engine.actions import CancelStack

    bench.engine.begin(CancelStack("s", rollback=True))
    bench.heals("a", "check")
    bench.engine.settle()
    assert bench.stack.state == "ROLLBACK_COMPLETE"
    assert bench.resource("a").properties == {"value": "one"}


def test_there_is_nothing_to_cancel_in_an_idle_stack(bench: Any) -> None:
    bench.create("a: {type: Test::Box}")
    for rollback in (False, True):
        with pytest.raises(NotSupported):
            bench.cancel(rollback=rollback)


# -- deadlines --------------------------------------------------------------------------------


def sweep(bench: Any) -> None:
    """What the deadline sweep does."""

    def overdue(work: Any) -> None:
        for key in work.tx.overdue_stacks(work.now):
            timeouts.fail_overdue_stack(work, key)
        for key in work.tx.overdue(work.now):
            timeouts.fail_overdue(work, key)

    bench.engine.driver.run_in_transaction(overdue)


@pytest.mark.parametrize("rollback", [False, True])
def test_a_stack_that_takes_too_long_fails(rollback: bool, bench: Any) -> None:
    bench.journal.behave["a", "check"] = lambda resource: False
    text = "a: {type: Test::Slow}\nb: {type: Test::Box, depends_on: a}"
    bench.engine.begin(CreateStack("s", bench.bundle(text), rollback=rollback, timeout_mins=1))
    bench.steps(20)
    bench.clock.advance(61.0)
    sweep(bench)
    bench.heals("a", "check")
    bench.engine.settle()
    assert bench.stack.state == ("ROLLBACK_COMPLETE" if rollback else "CREATE_FAILED")
    reasons = [event.reason for event in bench.engine.reader.events(bench.stack.id)]
    assert "Create timed out" in reasons
    assert "CREATE aborted (stack timed out)" in reasons


def test_whoever_waits_is_told_that_its_operation_was_given_up(bench: Any) -> None:
    told: list[str] = []

    class Cancels(bench.types["Test::Slow"]):  # type: ignore[misc]
        def handle_create_cancel(self, token: Any) -> None:
            told.append(self.name)

    bench.types["Test::Cancels"] = Cancels
    bench.restart()  # the types of an engine are those that it began with
    bench.journal.behave["a", "check"] = lambda resource: False
    text = bench.bundle("a: {type: Test::Cancels}")
    bench.engine.begin(CreateStack("s", text, timeout_mins=1))
    bench.steps(20)
    bench.clock.advance(61.0)
    sweep(bench)
    bench.engine.settle()
    assert told == ["a"]
    assert bench.stack.status_reason == "Create timed out"


def test_what_is_not_late_is_left_alone(bench: Any) -> None:
    hanging(bench)
    sweep(bench)
    assert bench.resource("a").state == "CREATE_IN_PROGRESS"
