"""Drift checks in the engine with threads: hanging calls, and resources that go."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from tests.engine.conftest import Bench
from tests.engine.drifting import Blind, Thing, World
from tests.engine.loading import make_loading

from zonda.core.engine.actions import CheckDrift, CreateStack, SetDrift, UpdateStack
from zonda.core.engine.drift.schedule import compute_next_due
from zonda.core.engine.runtime.engine import Engine, EngineSettings
from zonda.core.schedule.scheduler import Scheduler
from zonda.core.store.read.drift_views import DriftCheckView
from zonda.core.store.write.database import Store
from zonda.core.system.clock import SystemClock
from zonda.core.system.ids import Ids
from zonda.hooks.errors import NotReady
from zonda.hooks.resources.resource import Resource

LONGEST = 20.0
#: Seconds that a look may take, which nobody waits for: the clock leaps.
LIMIT = 600.0
Start = Callable[..., Engine]


class LeapingClock(SystemClock):
    """The system's clocks, which can be set forward."""

    ahead = 0.0

    def now(self) -> float:
        return super().now() + self.ahead

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead


class Soon:
    """A schedule that is due a moment after it was set, then never again."""

    def compute_next_due(self, text: str, stack_id: str, now: float) -> float:
        return compute_next_due(self._compute_next_time, text, stack_id, now)

    def _compute_next_time(self, text: str, after: float) -> float:
        return after + 0.001 if text == "soon" else after + 3600.0


@pytest.fixture
def world(bench: Bench) -> World:
    made = World()
    for cls in (Thing, Blind):
        bench.types[f"Test::{cls.__name__}"] = type(cls.__name__, (cls,), {"world": made})
    return made


@pytest.fixture
def begin(bench: Bench, store: Store, world: World) -> Iterator[Start]:
    """Starts engines with settings of drift."""
    engines: list[Engine] = []

    def make(drive: str = "own", **settings: Any) -> Engine:
        clock = LeapingClock()
        engine = Engine(
            store,
            bench.plugins,
            clock=clock,
            scheduler=Scheduler(clock),
            ids=Ids(clock),
            random=random.Random(0),
            lender=bench.lender,
            load=make_loading(bench.plugins, clock, bench.lender),
            settings=EngineSettings(**settings),
        )
        engine.start(drive)
        engines.append(engine)
        return engine

    yield make
    for engine in engines:
        engine.stop(0.1)


def create(engine: Engine, bench: Bench, number: int) -> str:
    lines = [f"r{n}: {{type: Test::Thing, properties: {{size: {n}}}}}" for n in range(number)]
    accepted = engine.submit(CreateStack("s", bench.bundle("\n".join(lines)))).result(LONGEST)
    engine.drive(accepted.stack_id)
    assert engine.wait(accepted.stack_id, LONGEST).state == "CREATE_COMPLETE"
    return accepted.stack_id


class Ended:
    """Is told by the engine that a check of a whole stack has another verdict than before."""

    def __init__(self, engine: Engine) -> None:
        self._told = threading.Event()
        self.verdicts: list[str] = []
        engine.subscribe(self._heard)

    def _heard(self, notices: Any) -> None:
        for event in [notice.event for notice in notices if notice.event is not None]:
            if event.action == "DRIFT" and not event.resource_name:
                self.verdicts.append(event.status)
                self._told.set()

    def wait(self) -> None:
        assert self._told.wait(LONGEST)
        self._told.clear()


def check(engine: Engine, ended: Ended) -> DriftCheckView:
    accepted = engine.submit(CheckDrift("s")).result(LONGEST)
    ended.wait()
    return engine._reader.drift_check(accepted.check_id)


def test_many_are_looked_at_together_and_no_more_than_may(
    bench: Bench, world: World, begin: Start
) -> None:
    engine = begin(drift_workers=3, workers=16)
    create(engine, bench, 12)
    lock, running, most = threading.Lock(), 0, 0
    together = threading.Barrier(3)

    def behave(resource: Resource) -> Mapping[str, Any]:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        together.wait(LONGEST)
        with lock:
            running -= 1
        return resource.properties.get_stored_values()

    world.behave.update({f"r{n}": behave for n in range(12)})
    assert check(engine, Ended(engine)).verdict == "IN_SYNC"
    assert most == 3


def test_calls_that_never_come_back_cost_their_places_only(
    bench: Bench, world: World, begin: Start
) -> None:
    engine = begin(drift_workers=2, drift_timeout=LIMIT)
    create(engine, bench, 6)
    release, hanging = threading.Event(), threading.Semaphore(0)

    def hangs(resource: Resource) -> Mapping[str, Any]:
        hanging.release()
        release.wait(LONGEST)
        return resource.properties.get_stored_values()

    world.behave["r0"] = hangs
    accepted = engine.submit(CheckDrift("s")).result(LONGEST)
    assert hanging.acquire(timeout=LONGEST)
    _leap_until_over(engine, {"r0"}, accepted.check_id)
    found = engine._reader.drift_check(accepted.check_id)
    assert (found.counts["IN_SYNC"], found.counts["UNKNOWN"]) == (5, 1)
    (told,) = engine._reader.drift_findings(accepted.check_id)
    assert told.reason == "it has not answered within 600 s"

    world.behave["r1"] = hangs
    accepted = engine.submit(CheckDrift("s")).result(LONGEST)
    _leap_until_over(engine, {"r1"}, accepted.check_id)
    told = {each.path: each.reason for each in engine._reader.drift_findings(accepted.check_id)}
    assert told == {
        "r0": "it was not looked at: an earlier call of its plug-in has not come back",
        "r1": "it has not answered within 600 s",
    }
    release.set()


def test_what_hangs_takes_neither_places_nor_threads_from_what_does_not(
    bench: Bench, world: World, begin: Start
) -> None:
    engine = begin(drift_workers=2, drift_timeout=LIMIT, workers=4)
    stack_id = create(engine, bench, 8)
    release, hanging = threading.Event(), threading.Semaphore(0)

    def hangs(resource: Resource) -> Mapping[str, Any]:
        hanging.release()
        release.wait(LONGEST)
        return resource.properties.get_stored_values()

    world.behave.update({f"r{n}": hangs for n in range(6)})
    for _ in range(2):
        accepted = engine.submit(CheckDrift("s")).result(LONGEST)
        _leap_until_over(engine, {f"r{n}" for n in range(6)}, accepted.check_id)
        counts = engine._reader.drift_check(accepted.check_id).counts
        assert (counts["UNKNOWN"], counts["IN_SYNC"]) == (6, 2)
    assert [hanging.acquire(timeout=0) for _ in range(7)] == [True] * 6 + [False]
    engine.submit(UpdateStack("s", bench.bundle("new: {type: Test::Thing}"))).result(LONGEST)
    engine.drive(stack_id)
    assert engine.wait(stack_id, LONGEST).state == "UPDATE_COMPLETE"
    release.set()


def test_threads_that_end_close_their_readers(
    bench: Bench, store: Store, world: World, begin: Start
) -> None:
    """Each look that hangs has a thread of its own, which ends when the look comes back."""
    engine = begin(drift_workers=2, drift_timeout=LIMIT, workers=2)
    create(engine, bench, 8)
    release = threading.Event()

    def hangs(resource: Resource) -> Mapping[str, Any]:
        release.wait(LONGEST)
        return resource.properties.get_stored_values()

    world.behave.update({f"r{n}": hangs for n in range(6)})
    accepted = engine.submit(CheckDrift("s")).result(LONGEST)
    _leap_until_over(engine, {f"r{n}" for n in range(6)}, accepted.check_id)
    pool = engine._driver._pool
    threads = [*pool._threads]
    assert len(threads) > 2
    release.set()
    while engine._driver.checks.made.hanging:
        threading.Event().wait(0.001)
    engine.stop(LONGEST)
    for thread in threads:
        thread.join(LONGEST)
    assert store._readers == [engine._reader]


def test_what_has_come_back_is_looked_at_again(bench: Bench, world: World, begin: Start) -> None:
    engine = begin(drift_workers=2, drift_timeout=LIMIT)
    create(engine, bench, 1)
    release, back = threading.Event(), threading.Event()

    def hangs(resource: Resource) -> Mapping[str, Any]:
        release.wait(LONGEST)
        back.set()
        return resource.properties.get_stored_values()

    world.behave["r0"] = hangs
    ended = Ended(engine)
    engine.submit(CheckDrift("s")).result(LONGEST)
    _leap_until(engine, {"r0"}, ended._told.is_set)
    release.set()
    assert back.wait(LONGEST)
    tick = threading.Event()
    while engine._driver.checks.made.hanging:
        tick.wait(0.001)
    ended._told.clear()
    assert check(engine, ended).verdict == "IN_SYNC"


def _leap_until(engine: Engine, hanging: set[str], is_over: Callable[[], bool]) -> None:
    """Let the time limit pass whenever no look is out, or about to begin, but some that hang."""
    checks, clock, tick = engine._driver.checks.made, engine.clock, threading.Event()
    assert isinstance(clock, LeapingClock)
    for _ in range(int(LONGEST / 0.01)):
        left = sum(check.left for check in list(checks._running.values()))
        out = [job.path for job in list(checks._asked) if not job.is_abandoned]
        if out and hanging.issuperset(out) and len(out) in (checks._places, left):
            clock.ahead += LIMIT
            engine.sweep_deadlines()
        if is_over():
            return
        tick.wait(0.01)
    raise AssertionError("the check has not ended")


def _leap_until_over(engine: Engine, hanging: set[str], check_id: str) -> None:
    _leap_until(engine, hanging, lambda: not engine._reader.drift_check(check_id).is_running)


def test_an_engine_that_stops_interrupts_its_check_and_the_next_one_begins_anew(
    bench: Bench, world: World, begin: Start
) -> None:
    engine = begin("all", timing=Soon())
    stack_id = create(engine, bench, 1)
    entered, release = threading.Event(), threading.Event()

    def hangs(resource: Resource) -> Mapping[str, Any]:
        entered.set()
        release.wait(LONGEST)
        return resource.properties.get_stored_values()

    world.behave["r0"] = hangs
    _due(engine, stack_id)
    engine.sweep_drift()
    assert entered.wait(LONGEST)
    engine.stop(0.1)
    release.set()
    world.behave.clear()

    other = begin("all", timing=Soon())
    ended = Ended(other)
    other.sweep_drift()
    ended.wait()
    states = [each.status for each in other._reader.drift_checks(stack_id)]
    assert states == ["COMPLETE", "INTERRUPTED"]


def _due(engine: Engine, stack_id: str) -> None:
    """Set a schedule, and let it be due."""
    engine.submit(SetDrift("s", "15m")).result(LONGEST)

    def due(tx: Any) -> None:
        stack = tx.stack(stack_id)
        stack.drift_next = engine.clock.now() - 1

    engine.keep(due)


def test_a_command_fires_no_schedule(bench: Bench, world: World, begin: Start) -> None:
    engine = begin("own", timing=Soon())
    stack_id = create(engine, bench, 1)
    _due(engine, stack_id)
    engine.sweep_drift()
    engine.keep(lambda tx: None)
    assert engine._reader.drift_checks(stack_id) == []


def test_a_stop_cancels_what_is_awaited(bench: Bench, world: World, begin: Start) -> None:
    engine = begin("all")
    create(engine, bench, 1)
    asked = threading.Event()

    def behave(resource: Resource) -> Mapping[str, Any]:
        resource.context.observation["run"] = 1
        asked.set()
        raise NotReady(LONGEST)

    world.behave["r0"] = behave
    engine.submit(CheckDrift("s")).result(LONGEST)
    assert asked.wait(LONGEST)
    engine.stop(LONGEST)
    assert world.cancelled == [("r0", {"run": 1})]


def test_a_look_that_comes_back_too_late_is_cancelled_then(
    bench: Bench, world: World, begin: Start
) -> None:
    engine = begin("all", drift_timeout=LIMIT)
    create(engine, bench, 1)
    release, cancelled = threading.Event(), threading.Event()

    def behave(resource: Resource) -> Mapping[str, Any]:
        release.wait(LONGEST)
        resource.context.observation["run"] = 1
        raise NotReady(1.0)

    class Told(list[Any]):
        def append(self, item: Any) -> None:
            super().append(item)
            cancelled.set()

    world.behave["r0"], world.cancelled = behave, Told()
    ended = Ended(engine)
    engine.submit(CheckDrift("s")).result(LONGEST)
    _leap_until(engine, {"r0"}, ended._told.is_set)
    assert ended.verdicts == ["UNKNOWN"]
    release.set()
    assert cancelled.wait(LONGEST)
    assert list(world.cancelled) == [("r0", {"run": 1})]
