"""The rate of observations at one runner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.engine.conftest import Bench
from tests.engine.drifting import Drifting, with_settings

from zonda.hooks.errors import NotReady
from zonda.hooks.resources.resource import Resource

MANY = "\n".join(f"r{n}: {{type: Test::Thing, properties: {{size: {n}}}}}" for n in range(20))


@pytest.fixture
def drift(bench: Bench) -> Drifting:
    made = Drifting(bench)
    made.create(MANY)
    runners = {"a": object(), "b": object()}
    bench.lender.runner = lambda name, project: (runners[name], name)  # type: ignore[method-assign]
    return made


def uses(drift: Drifting, runner_of: Any) -> list[tuple[str, float, int]]:
    """Every resource asks for a runner and is asked twice; gives (name, when, which call)."""
    begun: list[tuple[str, float, int]] = []

    def behave(resource: Resource) -> Mapping[str, Any]:
        kept = resource.context.observation
        runner_of(resource)
        kept["calls"] = kept.get("calls", 0) + 1
        begun.append((resource.name, resource.context.clock.monotonic(), kept["calls"]))
        if kept["calls"] < 2:
            raise NotReady(0.01)
        return resource.properties.get_stored_values()

    drift.world.behave.update({f"r{n}": behave for n in range(20)})
    return begun


def times(begun: list[tuple[str, float, int]]) -> list[float]:
    found = [at for _, at, call in begun if call == 1]
    return [round(at - found[0], 3) for at in found]


def test_so_many_begin_per_second_and_asking_again_is_free(drift: Drifting) -> None:
    begun = uses(drift, lambda resource: resource.context.runner("a"))
    assert drift.check().verdict == "IN_SYNC"
    assert times(begun) == [round(n / 10, 3) for n in range(20)]
    assert len(begun) == 40


def test_runners_do_not_wait_for_each_other(drift: Drifting) -> None:
    begun = uses(drift, lambda r: r.context.runner("a" if int(r.name[1:]) % 2 else "b"))
    drift.check()
    assert max(times(begun)) == 0.9


def test_waiting_for_a_turn_is_no_time_of_ones_own(drift: Drifting) -> None:
    with_settings(drift, drift_rate=0.1, drift_timeout=30.0)
    uses(drift, lambda resource: resource.context.runner("a"))
    assert drift.check().counts["UNKNOWN"] == 0


def test_without_a_rate_or_a_runner_nobody_waits(drift: Drifting) -> None:
    begun = uses(drift, lambda resource: None)
    drift.check()
    assert max(times(begun)) < 0.05
    with_settings(drift, drift_rate=0.0)
    begun = uses(drift, lambda resource: resource.context.runner("a"))
    drift.check()
    assert max(times(begun)) < 0.05
