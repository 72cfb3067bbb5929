"""Cancelled, deleted and rolled back stacks wait for the calls that still run."""

from __future__ import annotations

import threading
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from tests.engine.loading import make_loading

from zonda.core.engine.actions import CancelStack, CreateStack, DeleteStack, UpdateStack
from zonda.core.engine.runtime import sweeps
from zonda.core.engine.runtime.engine import Engine, EngineSettings
from zonda.core.schedule.scheduler import Scheduler
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.core.store.write.database import open_store
from zonda.core.system.clock import SystemClock
from zonda.core.system.ids import Ids

GRACE = 240.0
LONG = 20.0
ONE = "a: {type: Test::Stuck, properties: {value: one}}\nb: {type: Test::Box, depends_on: a}"
TWO = ONE.replace("one", "two")


@pytest.fixture
def told(bench: Any) -> list[tuple[str, Any]]:
    """What was cancelled, by which token; type ``Test::Stuck`` hangs as long as it may."""
    calls: list[tuple[str, Any]] = []

    class Stuck(bench.types["Test::Slow"]):  # type: ignore[misc]
        def handle_create(self) -> Any:
            super().handle_create()
            return {"run": 1}

        def handle_create_cancel(self, token: Any) -> None:
            calls.append(("CREATE", token))
            bench.journal.behave.get((self.name, "cancel"), str)(self)

        def handle_update_cancel(self, token: Any) -> None:
            calls.append(("UPDATE", token))

    bench.types["Test::Stuck"] = Stuck
    bench.restart()  # the types of an engine are those that it began with
    return calls


def hang(bench: Any) -> None:
    bench.journal.behave["a", "check"] = lambda r: r.context.operation.action == "DELETE"


def sweep(bench: Any) -> None:
    driver = bench.engine.driver
    bench.engine.sweep_deadlines()
    driver.run_in_transaction(sweeps.StopSuperseded(driver, GRACE))


def wait(bench: Any, seconds: float) -> None:
    """Let time pass, with polls and sweeps."""
    until = bench.clock.now() + seconds
    for _ in range(2000):
        if bench.clock.now() >= until:
            break
        bench.steps(1)
    assert bench.clock.now() >= until
    sweep(bench)
    bench.steps(8)


def of_a(bench: Any, stack_id: str) -> Any:
    (row,) = [row for row in bench.engine.reader.resource_rows(stack_id) if row.name == "a"]
    return row


def reasons(bench: Any) -> list[str]:
    return [event.reason for event in bench.engine.reader.events(bench.stack.id)]


def begin_rollback(bench: Any) -> None:
    """Roll an update back whose operation on ``a`` hangs."""
    bench.create(ONE)
    bench.journal.behave["a", "check"] = lambda r: r.context.operation.action != "UPDATE"
    bench.engine.begin(UpdateStack("s", bench.bundle(TWO)))
    bench.steps(20)
    bench.engine.begin(CancelStack("s", rollback=True))


def test_a_deletion_stops_at_once_what_waits(bench: Any, told: Any) -> None:
    hang(bench)
    bench.engine.begin(CreateStack("s", bench.bundle(ONE)))
    bench.steps(20)
    stack_id = bench.stack.id
    begun = bench.clock.now()
    bench.engine.begin(DeleteStack("s"))
    bench.steps(20)
    assert told == [("CREATE", {"run": 1})]
    assert bench.engine.reader.stack(stack_id).state == "DELETE_COMPLETE"
    assert bench.clock.now() == begun  # no sweep was needed
    events = [event.reason for event in bench.engine.reader.events(stack_id)]
    assert "CREATE cancelled" in events
    assert bench.journal.of("a")[-2:] == ["handle_delete", "check"]


def test_a_deletion_that_is_taken_up_stops_at_once_what_waits(bench: Any, told: Any) -> None:
    hang(bench)
    bench.engine.begin(CreateStack("s", bench.bundle(ONE)))
    bench.steps(20)
    stack_id = bench.stack.id
    bench.engine.begin(DeleteStack("s"))
    bench.restart().recover()
    begun = bench.clock.now()
    bench.steps(20)
    assert told == [("CREATE", {"run": 1})]
    assert bench.engine.reader.stack(stack_id).state == "DELETE_COMPLETE"
    assert bench.clock.now() == begun


def test_a_deletion_waits_for_the_call_that_is_out(bench: Any, told: Any) -> None:
    """What it comes back with is stored before it is told to stop, so that nothing is left."""
    moving: list[bool] = [True]
    hang(bench)
    bench.engine.begin(CreateStack("s", bench.bundle(ONE)))
    bench.steps(20)
    bench.engine.begin(DeleteStack("s"))
    driver = bench.engine.driver
    running = SimpleNamespace(is_busy=driver.is_busy, is_moving=lambda key: moving[0])
    superseded = sweeps.StopSuperseded(running, GRACE)
    driver.run_in_transaction(superseded)
    bench.steps(3)
    assert told == []
    moving[0] = False
    driver.run_in_transaction(superseded)
    bench.steps(8)
    assert told == [("CREATE", {"run": 1})]


def test_a_second_deletion_does_not_stop_the_first(bench: Any, told: Any) -> None:
    bench.create(ONE)
    stack_id = bench.stack.id
    bench.journal.behave["a", "check"] = lambda resource: False
    bench.engine.begin(DeleteStack("s"))
    bench.steps(20)
    bench.engine.begin(DeleteStack("s"))
    sweep(bench)
    assert of_a(bench, stack_id).op == "DELETE"
    bench.heals("a", "check")
    bench.engine.settle()
    assert bench.journal.of("a").count("handle_delete") == 1
    assert bench.engine.reader.stack(stack_id).state == "DELETE_COMPLETE"


def test_a_rollback_says_what_it_waits_for(bench: Any, told: Any) -> None:
    said: list[str] = []
    bench.engine.driver.listeners.subscribe(
        lambda notices: said.extend(notice.message for notice in notices)
    )
    begin_rollback(bench)
    deadline = of_a(bench, bench.stack.id).deadline
    wait(bench, GRACE / 4)
    assert told == []
    assert "waiting for UPDATE to end; it is cancelled after 240 s" in said
    # A request that is sent again must be the same: the operation's deadline is untouched.
    assert of_a(bench, bench.stack.id).deadline == deadline


def test_what_a_sweep_remembers_of_stacks_goes_with_them(bench: Any, told: Any) -> None:
    driver = bench.engine.driver
    superseded = sweeps.StopSuperseded(driver, GRACE)

    def sweep_undone(work: Any) -> None:
        superseded(work)
        raise ZeroDivisionError

    bench.create(ONE)
    bench.journal.behave["a", "check"] = lambda resource: False
    bench.engine.begin(DeleteStack("s"))
    bench.steps(20)
    with pytest.raises(ZeroDivisionError):
        driver.run_in_transaction(sweep_undone)
    assert superseded._settled == {}
    driver.run_in_transaction(superseded)
    assert superseded._settled == {bench.stack.id: 2}
    bench.heals("a", "check")
    bench.engine.settle()
    driver.run_in_transaction(superseded)
    assert superseded._settled == {}


def test_a_cancelled_creation_fails_after_the_grace(bench: Any, told: Any) -> None:
    hang(bench)
    bench.engine.begin(CreateStack("s", bench.bundle(ONE)))
    bench.steps(20)
    bench.engine.begin(CancelStack("s"))
    wait(bench, GRACE / 4)
    assert bench.stack.status == "IN_PROGRESS"
    wait(bench, GRACE)
    assert told == [("CREATE", {"run": 1})]
    assert bench.stack.state == "CREATE_FAILED"
    assert "User cancelled operation" in bench.stack.status_reason
    assert (bench.resource("a").state, bench.resource("a").status_reason) == (
        "CREATE_FAILED",
        "CREATE cancelled",
    )
    assert bench.resource("b").state == "INIT_COMPLETE"
    assert bench.delete().state == "DELETE_COMPLETE"


def test_a_rollback_goes_on_after_the_grace(bench: Any, told: Any) -> None:
    begin_rollback(bench)
    wait(bench, GRACE + 20)
    bench.engine.settle()
    assert [action for action, _ in told] == ["UPDATE"]
    assert bench.stack.state == "ROLLBACK_COMPLETE"
    assert bench.resource("a").properties == {"value": "one"}
    assert "UPDATE cancelled" in reasons(bench)


def test_the_grace_survives_a_restart(bench: Any, told: Any) -> None:
    begin_rollback(bench)
    wait(bench, GRACE / 4)
    bench.restart().recover()
    bench.steps(10)
    assert told == []
    wait(bench, GRACE)
    bench.engine.settle()
    assert [action for action, _ in told] == ["UPDATE"]
    assert bench.stack.state == "ROLLBACK_COMPLETE"


def test_what_ends_in_time_is_not_cancelled(bench: Any, told: Any) -> None:
    begin_rollback(bench)
    wait(bench, GRACE / 4)
    bench.heals("a", "check")
    bench.engine.settle()
    assert bench.stack.state == "ROLLBACK_COMPLETE"
    assert told == []


def test_a_call_that_is_running_is_cancelled_when_it_comes_back(
    bench: Any, told: Any, tmp_path: Path
) -> None:
    begun, go_on, cancelled = threading.Event(), threading.Event(), threading.Event()

    def block(resource: Any) -> None:
        begun.set()
        assert go_on.wait(LONG)

    bench.journal.behave["a", "handle_create"] = block
    bench.journal.behave["a", "cancel"] = lambda resource: cancelled.set()
    store = open_store(tmp_path / "z.db", sealer=Sealer(make_key()))
    clock = SystemClock()
    engine = Engine(
        store,
        bench.plugins,
        clock=clock,
        scheduler=Scheduler(clock),
        ids=Ids(clock),
        random=Random(0),
        lender=bench.lender,
        load=make_loading(bench.plugins, clock, bench.lender),
        settings=EngineSettings(cancel_grace=0.0),
    )
    engine.start("all")
    try:
        stack_id = engine.submit(CreateStack("s", bench.bundle(ONE))).result(LONG).stack_id
        assert begun.wait(LONG)
        engine.submit(DeleteStack("s")).result(LONG)
        failed = threading.Event()
        engine.subscribe(
            lambda notices: (
                failed.set()
                if any(each.event and "cancelled" in each.event.reason for each in notices)
                else None
            )
        )
        engine.sweep_deadlines()
        assert failed.wait(LONG)
        go_on.set()
        assert engine.wait(stack_id, LONG).state == "DELETE_COMPLETE"
        assert cancelled.wait(LONG)  # the call may come back after the deletion
    finally:
        go_on.set()
        engine.stop(LONG)
        store.close()
    assert told == [("CREATE", {"run": 1})]
