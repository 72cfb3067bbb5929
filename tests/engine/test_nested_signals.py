"""A signal that makes a nested stack work, while a plan is carried out."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.conftest import Bench

from zonda.core.engine.actions import CreateStack, SignalResource, UpdateStack
from zonda.hooks.errors import Conflict
from zonda.hooks.nested import CONVERGE, Child, ChildTemplate, NestedStack

BEFORE = "r: {type: Test::Slow}\ng: {type: Test::Some, depends_on: r}"
AFTER = "r: {type: Test::Slow, properties: {value: x}}\ng: {type: Test::Some, depends_on: r}"


class Some(NestedStack):
    """So many boxes as signals have asked for."""

    def child_template(self) -> dict[str, Any]:
        names = [f"m{number}" for number in range(int(self.data().get("size", 1)))]
        resources = {name: {"type": "Test::Box"} for name in names}
        return {"heat_template_version": "2018-08-31", "resources": resources}

    def next_child(self, child: Child | None, applied: int) -> ChildTemplate | None:
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
    assert group.engine.reader.sealed_data(owner.id) == []
