"""Resources that change or go while they are observed are UNKNOWN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.engine.conftest import Bench
from tests.engine.drifting import Drifting

from zonda.core.engine.actions import Action, CheckDrift, DeleteStack, RepairDrift, UpdateStack
from zonda.hooks.errors import NotReady, NotSupported
from zonda.hooks.resources.resource import Resource

ONLY_B = "    b: {type: Test::Thing, properties: {size: 2}}\n"
ONLY_A = "    a: {type: Test::Thing, properties: {size: 1, zone: here}}\n"
BOTH = ONLY_A + ONLY_B


@pytest.fixture
def drift(bench: Bench) -> Drifting:
    made = Drifting(bench)
    made.create(BOTH)
    return made


def meanwhile(drift: Drifting, action: Action, tells: dict[str, Any], name: str = "a") -> None:
    """While one is looked at, something else is done, to the end; only then it tells."""

    def behave(resource: Resource) -> Any:
        kept = resource.context.observation
        if "begun" not in kept:
            kept["begun"] = True
            drift.engine.begin(action)
            raise NotReady(100.0)
        return tells

    drift.world.behave[name] = behave


def updated(drift: Drifting, resources: str) -> Action:
    return UpdateStack("s", drift.bench.bundle(resources))


def removed(drift: Drifting) -> Action:
    return updated(drift, ONLY_B)


def replaced(drift: Drifting) -> Action:
    return updated(drift, BOTH.replace("here", "there"))


def test_the_check_of_a_stack_that_is_deleted_has_failed(drift: Drifting) -> None:
    meanwhile(drift, DeleteStack("s"), {"size": 1, "zone": "here"})
    check = drift.check()
    assert (check.status, check.verdict) == ("FAILED", "")
    assert check.reason == "the stack was deleted while it was looked at"
    told = [(each.action, each.status) for each in drift.reader.events(check.stack_id)]
    assert told[-1] == ("DELETE", "COMPLETE"), "the last word on a stack that is gone"


def test_a_repair_of_a_stack_that_is_deleted_says_so(drift: Drifting) -> None:
    meanwhile(drift, DeleteStack("s"), {"size": 9})
    with pytest.raises(NotSupported, match="was deleted while it was looked at"):
        drift.engine.run(RepairDrift("s"))


@pytest.mark.parametrize("scope", [(), ("a",)], ids=["all", "of which nothing is left"])
@pytest.mark.parametrize("change", [removed, replaced])
def test_what_is_gone_by_then_is_not_in_sync(
    drift: Drifting, change: Callable[[Drifting], Action], scope: tuple[str, ...]
) -> None:
    meanwhile(drift, change(drift), {"size": 1, "zone": "here"})
    check = drift.check(*scope)
    assert (check.status, check.verdict) == ("COMPLETE", "UNKNOWN")
    assert drift.findings(check)["a"].reason == "it has gone while it was looked at"
    assert check.counts["UNKNOWN"] == 1


def test_what_has_gone_before_it_is_looked_at_is_not_in_sync(
    drift: Drifting, monkeypatch: pytest.MonkeyPatch
) -> None:
    cls, looks = type(drift.reader), [drift.reader.drift_rows(drift.bench.stack.id), []]
    monkeypatch.setattr(cls, "drift_rows", lambda reader, stack_id: looks.pop(0))
    check = drift.engine.begin(CheckDrift("s", ("a",)))
    drift.engine.settle()
    monkeypatch.undo()
    found = drift.reader.drift_check(check.check_id)
    assert (found.status, found.verdict) == ("COMPLETE", "UNKNOWN")


def test_what_is_changed_while_it_is_looked_at_is_not_known(drift: Drifting) -> None:
    """It was found otherwise, but what was found is of before."""
    drift.thing("a")["size"] = 9
    meanwhile(drift, updated(drift, BOTH.replace("size: 1", "size: 5")), {"size": 2}, "b")
    check = drift.check()
    found = drift.findings(check)["a"]
    assert (check.verdict, found.verdict) == ("UNKNOWN", "UNKNOWN")
    assert found.reason == "it was changed while it was looked at"
    assert found.differences == ()
    assert ("a", "DRIFTED") not in drift.told()
    assert drift.now()["a"] != "DRIFTED"
