"""Repairs of stacks whose last plan has failed."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.conftest import Bench
from tests.engine.drift.test_repair import planned
from tests.engine.drift.test_repeated_repairs import create_nested, the_thing
from tests.engine.drifting import Drifting

from zonda.core.engine.actions import CheckStack, RollbackStack, SetDrift, UpdateStack
from zonda.hooks.errors import NotSupported, ResourceFailure
from zonda.hooks.resources.resource import Resource

TWO = """
    a: {type: Test::Thing, properties: {size: 1}}
    b: {type: Test::Thing, properties: {size: 1}}
"""
B = "b: {type: Test::Thing, properties: {size: 2"
MORE = TWO + "    x: {type: Test::Box}\n"


@pytest.fixture
def drift(bench: Bench) -> Drifting:
    return Drifting(bench)


class NoUpdates:
    """While it is entered, no thing can be updated."""

    def __init__(self, drift: Drifting) -> None:
        self._cls: Any = drift.bench.types["Test::Thing"]

    def __enter__(self) -> None:
        self._known = self._cls.handle_update

        def handle_update(resource: Resource, *given: Any) -> None:
            raise ResourceFailure("no route")

        self._cls.handle_update = handle_update

    def __exit__(self, *_: object) -> None:
        self._cls.handle_update = self._known


def failed(drift: Drifting) -> None:
    """An update to another template that did not work."""
    drift.create(TWO)
    drift.bench.fails("x", "handle_create")
    drift.bench.update(MORE)
    assert drift.bench.stack.state == "UPDATE_FAILED"


@pytest.mark.parametrize("state", ["UPDATE_FAILED", "CHECK_FAILED", "CHECK_COMPLETE"])
def test_what_has_not_worked_does_not_become_the_last_good_template(
    drift: Drifting, state: str
) -> None:
    if state == "CHECK_COMPLETE":
        drift.create(TWO)
        with NoUpdates(drift):
            drift.bench.update(TWO.replace("b: {type: Test::Thing, properties: {size: 1", B))
    else:
        failed(drift)
    if state != "UPDATE_FAILED":
        drift.engine.run(CheckStack("s"))
    assert drift.bench.stack.state == state
    before = drift.bench.stack
    drift.thing("a")["size"] = 9
    with pytest.raises(NotSupported, match="has not worked yet"):
        drift.repair("a")
    stack = drift.bench.stack
    assert (stack.state, stack.generation) == (before.state, before.generation)
    assert stack.good_template_id == before.good_template_id != stack.template_id
    assert drift.world.changed() == []
    drift.engine.run(RollbackStack("s"))
    assert drift.bench.stack.state == "ROLLBACK_COMPLETE"
    assert drift.repair("a").state == "UPDATE_COMPLETE"
    assert drift.thing("a")["size"] == 1


def test_a_schedule_tells_of_it_each_time_and_changes_nothing(drift: Drifting) -> None:
    failed(drift)
    drift.engine.run(SetDrift("s", "15m", "repair"))
    drift.thing("a")["size"] = 9
    for count in (1, 2):
        at = drift.bench.stack.drift_next
        assert at is not None
        drift.bench.clock.advance(at - drift.bench.clock.now())
        drift.sweep()
        drift.sweep()
        assert drift.told().count(("", "FAILED")) == count
    assert drift.bench.stack.state == "UPDATE_FAILED"
    assert drift.world.changed() == []


def test_a_repair_that_failed_is_tried_again_where_parts_are_of_another_template(
    drift: Drifting,
) -> None:
    drift.create(TWO)
    later = drift.bench.bundle(TWO.replace("size: 1", "size: 2"))
    assert drift.engine.run(UpdateStack("s", later, targets=("a",))).state == "UPDATE_COMPLETE"
    drift.thing("a")["size"] = 9
    with NoUpdates(drift):
        assert drift.repair().state == "UPDATE_FAILED"
    assert drift.repair().state == "UPDATE_COMPLETE"
    assert drift.world.changed() == [("a", "update")]
    assert (drift.thing("a")["size"], drift.thing("b")["size"]) == (2, 1)


def test_one_of_two_that_failed_may_be_put_right_by_hand(drift: Drifting) -> None:
    drift.create(TWO)
    drift.thing("a")["size"] = drift.thing("b")["size"] = 9
    with NoUpdates(drift):
        assert drift.repair().state == "UPDATE_FAILED"
    drift.thing("a")["size"] = 1
    shown = {each["name"]: each["action"] for each in planned(drift)["resources"]}
    assert (shown["a"], shown["b"]) == ("update", "update")
    assert drift.repair().state == "UPDATE_COMPLETE"
    assert sorted(drift.world.changed()) == [("a", "update"), ("b", "update")]
    assert drift.thing("b")["size"] == 1
    assert drift.repair().generation == drift.bench.stack.generation == 3


def test_all_that_failed_may_be_put_right_by_hand(drift: Drifting) -> None:
    drift.create(TWO)
    drift.thing("a")["size"] = 9
    with NoUpdates(drift):
        assert drift.repair().state == "UPDATE_FAILED"
    drift.thing("a")["size"] = 1
    assert drift.repair().state == "UPDATE_COMPLETE"
    assert drift.world.changed() == [("a", "update")]


def test_in_a_nested_stack_too(drift: Drifting) -> None:
    create_nested(drift, TWO)
    the_thing(drift, "a")["size"] = 9
    with NoUpdates(drift):
        assert drift.repair().state == "UPDATE_FAILED"
    the_thing(drift, "a")["size"] = 1
    assert drift.repair().state == "UPDATE_COMPLETE"
    assert drift.world.changed() == [("a", "update")]
    assert all(row.given is None for row in drift.reader.tree_resources(drift.bench.stack.id))
