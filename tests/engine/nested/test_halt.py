"""Nested stacks in a stack that is halted or planned anew."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.conftest import Bench

from zonda.core.engine.actions import CancelStack, CreateStack, UpdateStack

CHILD = "heat_template_version: 2018-08-31\nresources:\n  inside: {type: Test::Slow}\n"
ROOT = "c: {type: child.yaml}\nd: {type: Test::Slow, depends_on: c}"


def begun(bench: Bench, *, steps: int) -> None:
    """A creation, so many moves after its plan."""
    polls = iter([False] * 20)
    bench.journal.behave["inside", "check"] = lambda resource: next(polls, True)
    files = {"child.yaml": CHILD}
    bench.engine.begin(CreateStack("s", bench.bundle(ROOT, files=files), rollback=False))
    bench.steps(steps)


def nested(bench: Bench) -> list[Any]:
    return bench.engine.reader.tree(bench.stack.id)[1:]


@pytest.mark.parametrize("steps", range(8))
def test_nothing_is_planned_below_once_the_stack_was_cancelled(bench: Bench, steps: int) -> None:
    """The owner had begun and was about to plan its nested stack: it did, and all of that ran."""
    begun(bench, steps=steps)
    before = len(nested(bench))

    bench.engine.begin(CancelStack("s", rollback=False))
    after = len(nested(bench))
    bench.engine.settle()

    assert len(nested(bench)) == after <= before + 1
    assert bench.stack.state == "CREATE_FAILED"
    assert all((each.phase, each.status) == ("IDLE", "FAILED") for each in nested(bench))


@pytest.mark.parametrize("steps", range(8))
def test_nothing_is_planned_below_for_a_plan_that_was_overtaken(bench: Bench, steps: int) -> None:
    begun(bench, steps=steps)

    bench.engine.begin(UpdateStack("s", bench.bundle("e: {type: Test::Box}")))
    bench.engine.settle()

    assert bench.stack.state == "UPDATE_COMPLETE"
    assert not nested(bench)
