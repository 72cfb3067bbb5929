"""Signals that start a nested plan while another plan is carried out."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from tests.engine.conftest import Bench

from zonda.core.engine.actions import CreateStack, DeleteStack, SignalResource, UpdateStack
from zonda.core.engine.runtime.engine import Engine
from zonda.hooks.errors import Conflict
from zonda.hooks.resources.nested_stack import CONVERGE, Child, ChildTemplate, NestedStack

BEFORE = "r: {type: Test::Slow}\ng: {type: Test::Some, depends_on: r}"
AFTER = "r: {type: Test::Slow, properties: {value: x}}\ng: {type: Test::Some, depends_on: r}"


class Some(NestedStack):
    """So many boxes as signals have asked for."""

    def child_template(self) -> dict[str, Any]:
        names = [f"m{number}" for number in range(int(self.data().get("size", 1)))]
        resources = {name: {"type": "Test::Box"} for name in names}
        return {"heat_template_version": "2018-08-31", "resources": resources}

    def next_template(self, child: Child | None, applied: int) -> ChildTemplate | None:
        return None if applied else ChildTemplate(self.child_template())

    def handle_signal(self, details: Any = None) -> Any:
        self.data_set("size", str(int(self.data().get("size", 1)) + 1))
        return CONVERGE


@pytest.fixture
def group(bench: Bench) -> Bench:
    bench.types["Test::Some"] = Some
    bench.engine.run(CreateStack("s", bench.bundle(BEFORE), rollback=False))
    return bench


def members(bench: Bench) -> list[str]:
    child = bench.engine.reader.tree(bench.stack.id)[1]
    return sorted(row.name for row in bench.engine.reader.resource_rows(child.id))


def test_a_signal_has_one_more_made(group: Bench) -> None:
    group.run(SignalResource("s", "g", {}))
    assert members(group) == ["m0", "m1"]


def test_nothing_is_begun_before_a_running_plan_has_come_to_the_resource(group: Bench) -> None:
    """It was: beside the plan, before what it requires was there."""
    polls = iter([False] * 20)
    group.journal.behave["r", "check"] = lambda resource: next(polls, True)
    group.engine.begin(UpdateStack("s", group.bundle(AFTER)))
    group.steps(3)

    with pytest.raises(Conflict, match="Resource g is being worked on"):
        group.engine.begin(SignalResource("s", "g", {}))
    group.engine.settle()

    assert group.stack.state == "UPDATE_COMPLETE"
    assert members(group) == ["m0"]
    owner = next(
        row for row in group.engine.reader.resource_rows(group.stack.id) if row.name == "g"
    )
    assert group.engine.reader.read_sealed_data(owner.id) == []


LONG = 20.0


def test_what_goes_on_in_a_stack_that_is_nested_no_more_comes_to_its_end(
    bench: Bench, start: Callable[..., Engine]
) -> None:
    """Its owner was deleted, and it retained: it stood still, since nobody drove it any more."""

    class Fan(Some):
        def child_template(self) -> dict[str, Any]:
            found = super().child_template()
            for number in range(2, len(found["resources"])):
                found["resources"][f"m{number}"]["depends_on"] = "m1"
            return found

        def handle_signal(self, details: Any = None) -> Any:
            self.data_set("size", "9")
            return CONVERGE

    bench.types["Test::Fan"] = Fan
    begun, go_on = threading.Event(), threading.Event()

    def held_up(resource: Any) -> None:
        begun.set()
        go_on.wait(LONG)

    bench.journal.behave["m1", "handle_create"] = held_up
    engine = start("own")
    files = {"child.yaml": bench.bundle("g: {type: Test::Fan}").template}
    bundle = bench.bundle("c: {type: child.yaml, deletion_policy: Retain}", files=files)
    root_id = engine.submit(CreateStack("s", bundle)).result(LONG).stack_id
    engine.drive(root_id)
    assert engine.wait(root_id, LONG).state == "CREATE_COMPLETE"
    child_id = engine._reader.tree(root_id)[1].id
    engine.submit(SignalResource(child_id, "g", {})).result(LONG)
    assert begun.wait(LONG)
    engine.submit(DeleteStack("s")).result(LONG)
    assert engine.wait(root_id, LONG).state == "DELETE_COMPLETE"

    go_on.set()
    engine.wait(child_id, LONG)

    assert bench.journal.of("m8") == ["handle_create"]
