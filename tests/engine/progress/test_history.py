"""The history: one row per plan, with its caller and its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from zonda.core.engine import actions
from zonda.core.engine.actions import Caller, CancelStack, CreateStack, UpdateStack
from zonda.core.engine.runtime import sweeps
from zonda.core.engine.runtime.requests import Requests
from zonda.core.store.read.views import ActionView
from zonda.hooks.errors import ResourceFailure

ONE = "a: {type: Test::Slow, properties: {value: one}}"
TWO = ONE.replace("one", "two")
FIXED = "a: {type: Test::Slow, properties: {fixed: two}}"


def history(bench: Any) -> list[ActionView]:
    stack = bench.engine.reader.stacks()
    key = stack[0].id if stack else bench.engine.reader.get_deleted_stack("s").id
    found: list[ActionView] = bench.engine.reader.actions(key)
    return found


def told(bench: Any) -> list[tuple[int, str, str]]:
    return [(each.generation, each.action, each.status) for each in history(bench)]


def fail(bench: Any, call: str) -> None:
    def behave(resource: Any) -> None:
        raise ResourceFailure("no such luck")

    bench.journal.behave["a", call] = behave


def hang(bench: Any) -> None:
    bench.journal.behave["a", "check"] = lambda resource: False


def test_each_action_has_a_row_with_times_and_template(bench: Any) -> None:
    stack = bench.create(ONE)
    bench.clock.advance(10)
    bench.update(TWO)
    first, second = history(bench)
    assert (first.action, first.status, first.generation) == ("CREATE", "COMPLETE", 1)
    assert first.ended_at is not None
    assert second.started_at >= first.ended_at + 10
    assert first.template_id == stack.template_id != second.template_id
    assert first.template_hash != second.template_hash
    assert first.environment_hash == second.environment_hash
    assert second.status_reason == "Stack UPDATE completed successfully"


def test_a_verb_keeps_the_template_and_its_hashes(bench: Any) -> None:
    bench.create(ONE)
    bench.suspend()
    first, second = history(bench)
    assert second.action == "SUSPEND"
    assert second.template_id == first.template_id
    assert second.template_hash == first.template_hash != ""


def test_a_deleted_stack_keeps_its_history(bench: Any) -> None:
    bench.create(ONE)
    bench.delete()
    assert told(bench) == [(1, "CREATE", "COMPLETE"), (2, "DELETE", "COMPLETE")]


def test_a_failure_and_the_rollback_that_it_asks_for(bench: Any) -> None:
    bench.create(ONE)
    fail(bench, "handle_update")
    bench.engine.services = bench.engine.services.for_caller(Caller("ann"))
    bench.update(TWO, rollback=True)
    assert told(bench)[1:] == [(2, "UPDATE", "FAILED"), (3, "ROLLBACK", "COMPLETE")]
    update, rollback = history(bench)[1:]
    assert "no such luck" in update.status_reason
    assert rollback.detail == {"because": 2}
    assert (update.by, rollback.by) == ("ann", "ann")
    assert rollback.template_hash == history(bench)[0].template_hash


def test_a_newer_update_supersedes(bench: Any) -> None:
    hang(bench)
    bench.engine.begin(CreateStack("s", bench.bundle(ONE)))
    bench.engine.begin(UpdateStack("s", bench.bundle(TWO)))
    assert told(bench) == [(1, "CREATE", "SUPERSEDED"), (2, "UPDATE", "IN_PROGRESS")]
    assert history(bench)[0].ended_at is not None


def _cancel(bench: Any) -> None:
    bench.engine.begin(CancelStack("s"))
    bench.clock.advance(1000)
    bench.engine.sweep_deadlines()


def _roll_back(bench: Any) -> None:
    bench.engine.begin(CancelStack("s", rollback=True))


def _wait(bench: Any) -> None:
    bench.clock.advance(3601)
    bench.engine.sweep_deadlines()


@pytest.mark.parametrize(
    ("end", "status"),
    [
        pytest.param(_cancel, "CANCELLED", id="cancelled"),
        pytest.param(_roll_back, "CANCELLED", id="cancelled with rollback"),
        pytest.param(_wait, "TIMED_OUT", id="past its deadline"),
    ],
)
def test_other_ends(bench: Any, end: Callable[[Any], None], status: str) -> None:
    hang(bench)
    bench.engine.begin(CreateStack("s", bench.bundle(ONE)))
    end(bench)
    assert told(bench)[0] == (1, "CREATE", status)


def test_the_action_of_an_engine_that_died_is_in_progress_until_it_is_taken_up(bench: Any) -> None:
    hang(bench)
    bench.engine.begin(CreateStack("s", bench.bundle(ONE)))
    engine = bench.restart()
    assert told(bench) == [(1, "CREATE", "IN_PROGRESS")]
    bench.journal.behave.clear()
    engine.recover()
    engine.settle()
    assert told(bench) == [(1, "CREATE", "COMPLETE")]


def test_a_refused_action_leaves_no_row(bench: Any) -> None:
    bench.create(ONE)
    with pytest.raises(Exception, match="already exists"):
        bench.create(ONE)
    assert len(history(bench)) == 1


def test_the_asking_user_is_recorded_not_the_engine_s(bench: Any) -> None:
    asked = actions.to_json(CreateStack("s", bench.bundle(ONE)), Caller("ann"))
    assert actions.from_json(asked) == CreateStack("s", bench.bundle(ONE))
    store = bench.store
    with store.transaction() as tx:
        tx.add_request("r", store.sealer.seal(asked), bench.clock.now())
    driver = bench.engine.driver
    driver.services = driver.services.for_caller(Caller("the holder"))
    Requests(driver, lambda stack_id: None, lambda key: True).sweep()
    bench.engine.settle()
    assert [each.by for each in history(bench)] == ["ann"]


def test_old_history_goes_with_its_events_but_not_what_a_stack_is_at(bench: Any) -> None:
    bench.create(ONE)
    bench.update(TWO)
    bench.clock.advance(100 * 86400)
    bench.engine.driver.run_in_transaction(lambda work: sweeps.delete_old(work, 90 * 86400.0))
    assert told(bench) == [(2, "UPDATE", "COMPLETE")]


def test_old_failures_go_with_their_events(bench: Any) -> None:
    fail(bench, "handle_create")
    stack = bench.create(ONE)
    assert len(bench.engine.reader.list_failed(stack.id)) == 1
    bench.clock.advance(100 * 86400)
    bench.engine.driver.run_in_transaction(lambda work: sweeps.delete_old(work, 90 * 86400.0))
    assert bench.engine.reader.list_failed(stack.id) == []


def test_who_has_cancelled_is_noted(bench: Any) -> None:
    hang(bench)
    bench.engine.begin(CreateStack("s", bench.bundle(ONE)))
    bench.engine.services = bench.engine.services.for_caller(Caller("bob"))
    _cancel(bench)
    assert history(bench)[0].detail == {"cancelled_by": "bob"}


def test_who_has_cancelled_with_a_rollback_is_noted_of_both(bench: Any) -> None:
    hang(bench)
    bench.engine.begin(CreateStack("s", bench.bundle(ONE)))
    bench.engine.services = bench.engine.services.for_caller(Caller("bob"))
    _roll_back(bench)
    first, second = history(bench)
    assert (first.status, first.detail) == ("CANCELLED", {"cancelled_by": "bob"})
    assert (second.action, second.by, second.detail) == ("ROLLBACK", "bob", {"because": 1})
