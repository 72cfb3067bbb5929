"""Calls of plug-ins that never return: their limit, and the engine beside them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.engine.loading import make_loading

from zonda.core.engine.actions import CreateStack, DeleteStack, UpdateStack
from zonda.core.engine.execution.loop import Task
from zonda.core.engine.model.effects import LONGEST_CALL, Call, GivenUp
from zonda.core.engine.plugins.hanging import OF_ALL, OF_STACK, Hanging
from zonda.core.engine.runtime.engine import Engine, EngineSettings
from zonda.core.engine.runtime.light_calls import Job
from zonda.core.schedule.scheduler import Scheduler
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.core.store.write.database import open_store
from zonda.core.system.clock import SystemClock
from zonda.core.system.ids import Ids

LONG = 20.0
WORKERS = 2


def test_of_one_resource_one_call_hangs_and_of_a_stack_and_of_all_so_many() -> None:
    hanging = Hanging(of_stack=2, of_all=3)
    lost: list[int] = []
    hanging.spare = lost.append
    hanging.add("first", "a", "s")
    assert hanging.forbids("s", "a") == "an earlier call of its plug-in has not come back"
    assert hanging.forbids("s", "b") == hanging.forbids("s") == ""
    hanging.add("second", "b", "s")
    assert "2 earlier calls of plug-ins for the stack have not come back" in hanging.forbids("s")
    assert hanging.forbids("t", "d") == hanging.forbids_all() == ""
    hanging.add("third", "d", "t")
    assert "3 earlier calls of plug-ins have not" in hanging.forbids("t", "e")
    assert "3 earlier calls of plug-ins have not" in hanging.forbids_all()
    assert hanging.drop("first")
    assert not hanging.drop("never hung")
    assert hanging.forbids("s", "a") == ""
    assert lost == [1, 1, 1, -1]
    assert OF_STACK < OF_ALL


class Late(SystemClock):
    """A clock that can be put forward."""

    ahead = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead

    def now(self) -> float:
        return super().now() + self.ahead


@pytest.fixture
def clock() -> Late:
    return Late()


@pytest.fixture
def engine(bench: Any, tmp_path: Path, clock: Late) -> Iterator[Engine]:
    """An engine with two threads."""
    store = open_store(tmp_path / "z.db", sealer=Sealer(make_key()))
    made = Engine(
        store,
        bench.plugins,
        clock=clock,
        scheduler=Scheduler(clock),
        ids=Ids(clock),
        random=Random(0),
        lender=bench.lender,
        load=make_loading(bench.plugins, clock, bench.lender),
        settings=EngineSettings(workers=WORKERS),
    )
    made.start("all")
    yield made
    made.stop(LONG)
    store.close()


def until(condition: Callable[[], Any], engine: Engine) -> None:
    """Wait for a condition, sweeping as the clock would."""
    pause = threading.Event()
    for _ in range(int(LONG / 0.01)):
        engine.sweep_deadlines()
        if condition():
            return
        pause.wait(0.01)
    raise AssertionError("that never came true")


def create(engine: Engine, bench: Any, name: str, resources: str, **given: Any) -> str:
    action = CreateStack(name, bench.bundle(resources, **given))
    return engine.submit(action).result(LONG).stack_id


def boxes(count: int) -> str:
    return "".join(f"r{at}: {{type: Test::Box}}\n" for at in range(count))


LIMIT = 'zonda: {timeouts: {"*": 0.1}}'


def test_handlers_that_never_return_leave_their_threads_and_places_to_others(
    bench: Any, engine: Engine
) -> None:
    free, began = threading.Event(), threading.Semaphore(0)

    def hangs(resource: Any) -> None:
        began.release()
        free.wait(LONG)

    count = 8 * WORKERS
    bench.journal.behave.update({(f"r{at}", "handle_create"): hangs for at in range(count)})
    stuck = create(engine, bench, "stuck", boxes(count), environment=LIMIT)
    until(lambda: engine._reader.stack_by_id(stuck).idle, engine)
    assert engine._reader.stack_by_id(stuck).state == "CREATE_FAILED"

    well = create(engine, bench, "well", "a: {type: Test::Box}\nb: {type: Test::Slow}")
    assert engine.wait(well, LONG).state == "CREATE_COMPLETE"
    engine.submit(DeleteStack("stuck")).result(LONG)
    assert engine.wait(stuck, LONG).state == "DELETE_COMPLETE"

    free.set()
    until(lambda: len(engine.services.hanging) == 0, engine)
    assert engine._driver._pool._size == WORKERS
    assert engine._driver._admitted == 0


def test_a_call_that_has_not_begun_when_its_operation_is_over_is_not_made() -> None:
    made: list[str] = []
    jobs = [Job(Task(None), Call(lambda name=name: made.append(name))) for name in "ab"]  # type: ignore[misc,arg-type]
    jobs[1].is_off = True
    for job in jobs:
        job.make(0.0)
    assert made == ["a"]
    assert [type(job.error) for job in jobs] == [type(None), GivenUp]


def test_no_more_calls_hang_than_may_and_operations_say_so(bench: Any, engine: Engine) -> None:
    free = threading.Event()
    hanging, reader = engine.services.hanging, engine._reader
    names = [f"r{at}" for at in range(WORKERS)]
    hangs = {(name, "handle_create"): lambda resource: free.wait(LONG) for name in names}
    bench.journal.behave.update(hangs)
    stuck = create(engine, bench, "stuck", boxes(WORKERS), environment=LIMIT)
    until(lambda: reader.stack_by_id(stuck).idle and len(hanging) == WORKERS, engine)

    hanging._of_stack = WORKERS
    other = create(engine, bench, "other", "a: {type: Test::Box}")
    assert engine.wait(other, LONG).state == "CREATE_COMPLETE"
    engine.submit(UpdateStack("stuck", bench.bundle("a: {type: Test::Box}"))).result(LONG)
    reason = engine.wait(stuck, LONG).status_reason
    assert f"CREATE was not begun: {WORKERS} earlier calls of plug-ins for the stack" in reason

    hanging._of_all = WORKERS
    refused = create(engine, bench, "refused", "a: {type: Test::Box}")
    reason = engine.wait(refused, LONG).status_reason
    assert f"CREATE was not begun: {WORKERS} earlier calls of plug-ins have not come" in reason
    assert "Restart the engine" in reason
    free.set()
    until(lambda: len(hanging) == 0, engine)
    engine.submit(DeleteStack("refused")).result(LONG)
    assert engine.wait(refused, LONG).state == "DELETE_COMPLETE"


@pytest.mark.parametrize("what", ["__init__", "validate"])
def test_what_hangs_before_anything_is_begun_is_given_up_after_an_hour(
    what: str, bench: Any, engine: Engine, clock: Late
) -> None:
    """``validate`` while the stack is planned; ``__init__`` while one resource is prepared."""
    free, began, planned = threading.Event(), threading.Event(), what == "validate"
    kind: Any = bench.types["Test::Box"]

    def hangs(self: Any, *given: Any) -> None:
        if planned or getattr(given[-1] if given else None, "uuid", ""):
            began.set()
            free.wait(LONG)

    made = type("Bad", (kind,), {})
    if planned:
        made.validate = hangs
    else:
        made.needs_replace_failed = lambda self: True
        init = kind.__init__

        def __init__(self: Any, *given: Any) -> None:
            init(self, *given)
            hangs(self, *given)

        made.__init__ = __init__
    bench.types["Test::Bad"] = made
    create_bad = CreateStack("s", bench.bundle("a: {type: Test::Bad}"), timeout_mins=600)
    submitted = engine.submit(create_bad)
    assert began.wait(LONG)
    clock.ahead = LONGEST_CALL + 1
    said = f"A plug-in has not come back within {LONGEST_CALL:g} s"
    if planned:
        until(submitted.done, engine)
        assert said in str(submitted.exception())
    else:
        accepted = submitted.result(LONG)
        until(lambda: engine._reader.stack_by_id(accepted.stack_id).idle, engine)
        assert said in engine._reader.stack_by_id(accepted.stack_id).status_reason
    well = create(engine, bench, "well", "a: {type: Test::Box}")
    assert engine.wait(well, LONG).state == "CREATE_COMPLETE"
    free.set()
    until(lambda: len(engine.services.hanging) == 0, engine)


@pytest.mark.parametrize("rollback", [False, True])
def test_a_stack_names_what_it_has_waited_for_though_that_had_not_begun(
    rollback: bool, bench: Any, engine: Engine, clock: Late
) -> None:
    free, began = threading.Event(), threading.Event()

    def hangs(resource: Any) -> None:
        if not began.is_set():
            began.set()
            free.wait(LONG)

    def update(value: str, **given: Any) -> None:
        action = UpdateStack("s", bench.bundle(text.format(value=value)), **given)
        engine.submit(action).result(LONG)

    text = "a: {{type: Test::Inward, properties: {{value: {value}}}}}\nb: {{type: Test::Box}}"
    stack = create(engine, bench, "s", text.format(value="one"))
    assert engine.wait(stack, LONG).state == "CREATE_COMPLETE"
    bench.journal.behave["a", "handle_update"] = hangs
    update("two", rollback=rollback, timeout_mins=1)
    assert began.wait(LONG)
    clock.ahead = 61.0
    until(lambda: engine._reader.stack_by_id(stack).idle, engine)
    events = [each for each in engine._reader.events(stack) if each.status == "FAILED"]
    said = {(each.resource_name, each.reason) for each in events}
    assert {("", "Update timed out"), ("a", "UPDATE aborted (stack timed out)")} == said
    expected = "ROLLBACK_COMPLETE" if rollback else "UPDATE_FAILED"
    assert engine._reader.stack_by_id(stack).state == expected
    free.set()
    until(lambda: len(engine.services.hanging) == 0, engine)
    update("three")
    assert engine.wait(stack, LONG).state == "UPDATE_COMPLETE"
