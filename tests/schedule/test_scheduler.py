"""The scheduler calls the engine again and again, whatever the wall clock says, until it stops."""

from __future__ import annotations

import math
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from apscheduler.schedulers import base

from zonda.core.schedule import jobs, scheduler
from zonda.core.system.clock import SystemClock

LONG = 10.0


class CountingEngine:
    """Counts calls, and tells when each of a sort has come twice."""

    is_member = False

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.twice = {name: threading.Event() for name in jobs.PERIODS}
        self.woken = threading.Event()

    def __getattr__(self, name: str) -> Callable[[], None]:
        if name not in jobs.PERIODS:
            raise AttributeError(name)
        return lambda: self._called(name)

    def _called(self, name: str) -> None:
        self.calls[name] += 1
        if self.calls[name] >= 2:
            self.twice[name].set()
        if name == "wake":
            self.woken.set()


@pytest.fixture
def engine() -> CountingEngine:
    return CountingEngine()


@pytest.fixture
def clock(engine: CountingEngine) -> Iterator[scheduler.Scheduler]:
    made = scheduler.Scheduler(SystemClock())
    yield made
    made.stop()


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in jobs.PERIODS:
        monkeypatch.setitem(jobs.PERIODS, name, 0.01)


def now() -> float:
    return SystemClock().monotonic()


@pytest.mark.usefixtures("often")
def test_every_sweep_runs_again_and_again(
    engine: CountingEngine, clock: scheduler.Scheduler
) -> None:
    clock.start(engine, stays=True)
    clock.wake_at(now())
    assert all(event.wait(LONG) for event in engine.twice.values())


@pytest.mark.usefixtures("often")
def test_a_member_is_not_woken_for_requests(
    engine: CountingEngine, clock: scheduler.Scheduler
) -> None:
    engine.is_member = True
    clock.start(engine, stays=True)
    clock.wake_at(now())
    assert all(event.wait(LONG) for name, event in engine.twice.items() if name != "sweep_requests")
    assert not engine.calls["sweep_requests"]


@pytest.mark.usefixtures("often")
def test_no_sweep_runs_after_stop(engine: CountingEngine, clock: scheduler.Scheduler) -> None:
    clock.start(engine, stays=True)
    clock.wake_at(now())
    assert all(event.wait(LONG) for event in engine.twice.values())

    clock.stop()
    before = engine.calls.copy()

    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if "APScheduler" in name or "zonda-scheduler" in name]
    clock.wake_at(now())
    clock.stop()
    assert engine.calls == before


@pytest.mark.parametrize("stays", [True, False])
def test_the_engine_is_woken_at_the_time_that_was_set_last(
    engine: CountingEngine, clock: scheduler.Scheduler, stays: bool
) -> None:
    clock.start(engine, stays=stays)
    for _ in range(3):
        clock.wake_at(now() + 3000.0)
        clock.wake_at(now() + 0.05)
        assert engine.woken.wait(LONG)
        engine.woken.clear()
    clock.wake_at(now() + 0.05)
    clock.wake_at(now() + 3000.0)
    woken = engine.calls["wake"]
    engine.twice["sweep_requests"].clear()
    engine.calls["sweep_requests"] = 0
    assert engine.twice["sweep_requests"].wait(LONG)
    assert engine.calls["wake"] == woken, "the time was moved"


@pytest.mark.parametrize("stays", [True, False])
@pytest.mark.parametrize("due", [float("inf"), 1e300, float("-inf")])
def test_no_time_is_too_far_away(
    engine: CountingEngine, clock: scheduler.Scheduler, due: float, stays: bool
) -> None:
    clock.start(engine, stays=stays)
    clock.wake_at(due)
    assert engine.twice["sweep_requests"].wait(LONG)
    clock.wake_at(now())
    assert engine.woken.wait(LONG)


def test_all_that_a_command_waits_for_comes_without_apscheduler(
    engine: CountingEngine, clock: scheduler.Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "_FIRST", math.inf)
    clock.start(engine, stays=False)
    clock.wake_at(now())
    assert all(
        engine.twice[name].wait(LONG) for name in ("wake", "sweep_requests", "sweep_deadlines")
    )
    assert clock._jobs is None


def test_it_is_loaded_after_a_while_though_nothing_has_to_wait(
    engine: CountingEngine, clock: scheduler.Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "_FIRST", 0.01)
    monkeypatch.setitem(jobs.PERIODS, "sweep_drift", 0.01)
    clock.start(engine, stays=False)
    assert engine.twice["sweep_drift"].wait(LONG)


def test_a_sweep_that_fails_runs_again(
    engine: CountingEngine, clock: scheduler.Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures: list[int] = []
    twice = threading.Event()

    def fail() -> None:
        failures.append(1)
        if len(failures) >= 2:
            twice.set()
        raise RuntimeError("no")

    monkeypatch.setitem(jobs.PERIODS, "sweep_drift", 0.01)
    monkeypatch.setattr(engine, "sweep_drift", fail, raising=False)
    clock.start(engine, stays=True)
    clock.wake_at(now())
    assert twice.wait(LONG)


@pytest.mark.parametrize("by", [-5 * 86400.0, -3600.0, 3600.0, 5 * 86400.0])
def test_a_wall_clock_that_is_set_delays_nothing(
    engine: CountingEngine, clock: scheduler.Scheduler, monkeypatch: pytest.MonkeyPatch, by: float
) -> None:
    class Set(datetime):
        """The wall clock as APScheduler sees it, once it was set."""

        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return tz.fromutc(datetime.fromtimestamp(SystemClock().now() + by, tz))

    clock.start(engine, stays=True)
    clock.wake_at(now())
    assert engine.woken.wait(LONG)
    monkeypatch.setattr(base, "datetime", Set)
    engine.woken.clear()
    for event in engine.twice.values():
        event.clear()
    engine.calls.clear()
    clock.wake_at(now() + 0.05)
    assert engine.woken.wait(LONG)
    assert engine.twice["sweep_requests"].wait(LONG)


class Still(SystemClock):
    """Stands at two times."""

    def now(self) -> float:
        return 1_000_000.0

    def monotonic(self) -> float:
        return 5.0


def test_the_zone_shows_the_monotonic_clock() -> None:
    zone = jobs.MonotonicZone(Still())
    shown = datetime.now(zone)
    assert shown == datetime.fromtimestamp(1_000_000.0, UTC) == zone.convert(5.0)
    assert shown.timestamp() == 1_000_000.0


def test_the_thread_sleeps_until_the_next_job_is_due(engine: CountingEngine) -> None:
    made = jobs.Jobs(engine, Still())
    made.start()
    try:
        made.wake_at(math.inf)
        assert made._process_jobs() == 0.25
        made.wake_at(5.125)
        assert made._process_jobs() == 0.125
    finally:
        made.shutdown()


def test_a_command_that_ends_at_once_does_not_load_apscheduler() -> None:
    script = (
        "import sys; from zonda.core.schedule.scheduler import Scheduler;"
        "from zonda.core.system.clock import SystemClock; clock = Scheduler(SystemClock());"
        "clock.start(None, stays=False); clock.stop(); print('apscheduler' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.split() == ["False"], done.stderr


def test_nothing_ever_misfires_silently() -> None:
    assert jobs._JOB_DEFAULTS == {"coalesce": True, "max_instances": 1, "misfire_grace_time": None}
