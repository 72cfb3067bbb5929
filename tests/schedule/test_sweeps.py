"""The sweeps call the engine again and again, until they are stopped."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator

import pytest

from zonda.core.schedule import sweeps

SOON = dict.fromkeys(sweeps.PERIODS, 0.01)


class CountingEngine:
    """Counts sweeps, and tells when each has run twice."""

    def __init__(self) -> None:
        self.runs: Counter[str] = Counter()
        self.twice = threading.Event()

    def _ran(self, name: str) -> None:
        self.runs[name] += 1
        if all(self.runs[each] >= 2 for each in SOON):
            self.twice.set()

    def sweep_polls(self) -> None:
        self._ran("sweep_polls")

    def sweep_deadlines(self) -> None:
        self._ran("sweep_deadlines")

    def sweep_requests(self) -> None:
        self._ran("sweep_requests")

    def sweep_drift(self) -> None:
        self._ran("sweep_drift")

    def sweep_reconcile(self) -> None:
        self._ran("sweep_reconcile")

    def housekeeping(self) -> None:
        self._ran("housekeeping")


@pytest.fixture
def engine() -> CountingEngine:
    return CountingEngine()


@pytest.fixture
def running(engine: CountingEngine, monkeypatch: pytest.MonkeyPatch) -> Iterator[sweeps.Sweeps]:
    monkeypatch.setattr(sweeps, "PERIODS", SOON)
    scheduler = sweeps.Sweeps(engine)
    scheduler.start()
    yield scheduler
    scheduler.stop()


def test_every_sweep_runs_again_and_again(engine: CountingEngine, running: sweeps.Sweeps) -> None:
    assert engine.twice.wait(10)


def test_no_sweep_runs_after_stop(engine: CountingEngine, running: sweeps.Sweeps) -> None:
    assert engine.twice.wait(10)

    running.stop()
    before = engine.runs.copy()

    assert not [thread for thread in threading.enumerate() if "APScheduler" in thread.name]
    assert engine.runs == before


def test_stopping_twice_is_fine(running: sweeps.Sweeps) -> None:
    running.stop()
    running.stop()


def test_rescheduled_sweeps_go_on(engine: CountingEngine, running: sweeps.Sweeps) -> None:
    assert engine.twice.wait(10)
    engine.twice.clear()
    engine.runs.clear()

    running.reschedule()

    assert engine.twice.wait(10)


def test_a_sweep_that_fails_runs_again(
    engine: CountingEngine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    failed: list[int] = []

    def fail() -> None:
        failed.append(1)
        if len(failed) >= 2:
            engine.twice.set()
        raise RuntimeError("no")

    monkeypatch.setattr(sweeps, "PERIODS", {"sweep_polls": 0.01})
    monkeypatch.setattr(engine, "sweep_polls", fail)
    scheduler = sweeps.Sweeps(engine)
    scheduler.start()

    assert engine.twice.wait(10)
    scheduler.stop()


def test_nothing_ever_misfires_silently() -> None:
    assert sweeps._JOB_DEFAULTS["misfire_grace_time"] is None
    assert sweeps._JOB_DEFAULTS["coalesce"] is True
    assert sweeps._JOB_DEFAULTS["max_instances"] == 1
