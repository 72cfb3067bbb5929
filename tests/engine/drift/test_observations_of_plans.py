"""Observations for the plan of a repair are those of a check."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Mapping
from typing import Any

import pytest
from tests.engine.conftest import Bench
from tests.engine.drifting import Drifting

from zonda.core.engine.actions import RepairDrift
from zonda.core.engine.drift.dry_run import AsFound, check_now
from zonda.core.store.schema.words import DRIFTED, IN_SYNC, UNKNOWN
from zonda.core.system.clock import SystemClock
from zonda.hooks.errors import NotReady, NotSupported
from zonda.hooks.resources.resource import Resource

LONGEST = 20.0
SIX = "\n".join(f"r{n}: {{type: Test::Thing, properties: {{size: 1}}}}" for n in range(6))


@pytest.fixture
def drift(bench: Bench) -> Drifting:
    made = Drifting(bench)
    made.create(SIX)
    return made


def looked(drift: Drifting, *, pause: Any = None, **settings: Any) -> AsFound:
    """What a plan takes the stack for. ``pause`` replaces the clock that never goes back."""
    known = dataclasses.replace(drift.settings, **settings)
    services = dataclasses.replace(drift.engine.services, settings=known)
    if pause is None:
        services = dataclasses.replace(services, clock=SystemClock())
    return check_now(services, RepairDrift("s"), pause or SystemClock().pause)


def test_several_are_looked_at_together_and_no_more_than_may(drift: Drifting) -> None:
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
        return {"size": 2}

    drift.world.behave.update({f"r{n}": behave for n in range(6)})
    found = looked(drift, drift_workers=3, workers=16)
    assert most == 3
    assert found.check.verdict == DRIFTED
    assert found.check.counts[DRIFTED] == 6
    assert [each.path for each in found.findings] == [f"r{n}" for n in range(6)]


def test_one_that_hangs_holds_up_no_other(drift: Drifting) -> None:
    hold, clock = threading.Event(), drift.bench.clock

    def hang(resource: Resource) -> Any:
        if resource.name == "r0":
            clock.advance(40.0)
            hold.wait(LONGEST)
        return {"size": 1}

    drift.world.behave.update({f"r{n}": hang for n in range(6)})
    try:
        found = looked(drift, pause=clock.advance, drift_workers=1, drift_timeout=30.0)
    finally:
        hold.set()
    assert found.check.verdict == UNKNOWN
    [told] = found.findings
    assert (told.path, told.reason) == ("r0", "it has not answered within 30 s")


def test_what_is_not_ready_is_asked_again_and_cancelled_in_the_end(drift: Drifting) -> None:
    asked: dict[str, int] = {}

    def later(resource: Resource) -> Any:
        asked[resource.name] = asked.get(resource.name, 0) + 1
        resource.context.observation["run"] = "7"
        if resource.name == "r1" and asked["r1"] == 2:
            return {"size": 1}
        raise NotReady(5.0, "still at it")

    drift.world.behave.update(r1=later, r2=later)
    found = looked(drift, pause=drift.bench.clock.advance, drift_timeout=30.0)
    assert [(each.path, each.reason) for each in found.findings] == [
        ("r2", "it was not ready (still at it) within 30 s")
    ]
    assert drift.world.cancelled == [("r2", {"run": "7"})]


def test_nothing_of_it_is_stored(drift: Drifting) -> None:
    drift.thing("r3")["size"] = 9
    before = drift.everything()
    found = looked(drift)
    assert found.check.verdict == DRIFTED
    assert drift.everything() == before
    assert drift.checks() == []


def test_all_in_sync(drift: Drifting) -> None:
    found = looked(drift)
    assert (found.check.verdict, found.wrong, found.findings) == (IN_SYNC, {}, [])


def test_a_look_that_cannot_begin_is_an_error(
    drift: Drifting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("no memory left")

    monkeypatch.setattr(type(drift.engine.services.reader()), "drift_ignores", broken)
    with pytest.raises(NotSupported, match="has not come to its end"):
        looked(drift)
