"""Nested stacks in a stack that is halted or planned anew."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.conftest import Bench

from zonda.core.engine.actions import CancelStack, CreateStack, DeleteStack, UpdateStack
from zonda.core.engine.runtime import sweeps

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


def preempt(value: str, *, keeps: bool = True) -> Any:
    """A root stack, a nested stack in it, and one in that with what is slow to be updated."""
    inner = "heat_template_version: 2018-08-31\nparameters: {v: {type: string}}\nresources:\n"
    files = {
        "outer.yaml": inner + "  i: {type: inner.yaml, properties: {v: {get_param: v}}}\n"
        if keeps
        else inner + "  e: {type: Test::Box}\n",
        "inner.yaml": inner + "  slow: {type: Test::Slow, properties: {value: {get_param: v}}}\n",
    }
    return f"o: {{type: outer.yaml, properties: {{v: {value}}}}}", files


def begin_slow_update(bench: Bench) -> str:
    """Update what is nested two levels down, which never ends; gives the id of its stack."""
    template, files = preempt("one")
    bench.create(template, files=files)
    bench.journal.behave["slow", "check"] = lambda r: r.context.operation.action != "UPDATE"
    template, files = preempt("two")
    bench.engine.begin(UpdateStack("s", bench.bundle(template, files=files)))
    bench.steps(60)
    inner = nested(bench)[-1]
    assert [row.op for row in bench.engine.reader.resource_rows(inner.id)] == ["UPDATE"]
    return str(inner.id)


def sweep(bench: Bench) -> None:
    bench.engine.driver.run_in_transaction(sweeps.StopSuperseded(bench.engine.driver, 240.0))


def test_a_newer_update_that_drops_a_nested_stack_stops_what_runs_in_it(bench: Bench) -> None:
    inner = begin_slow_update(bench)
    template, files = preempt("three", keeps=False)
    bench.engine.begin(UpdateStack("s", bench.bundle(template, files=files)))
    for _ in range(4):
        bench.steps(30)
        sweep(bench)
    bench.steps(30)
    assert bench.stack.state == "UPDATE_COMPLETE"
    assert bench.engine.reader.stack(inner).state == "DELETE_COMPLETE"
    assert "handle_delete" in bench.journal.of("slow")


def test_a_newer_update_of_a_nested_stack_lets_what_runs_in_it_end(bench: Bench) -> None:
    begin_slow_update(bench)
    template, files = preempt("three")
    bench.engine.begin(UpdateStack("s", bench.bundle(template, files=files)))
    for _ in range(4):
        bench.steps(30)
        sweep(bench)
    assert bench.stack.state == "UPDATE_IN_PROGRESS"
    bench.heals("slow", "check")
    bench.engine.settle()
    assert bench.stack.state == "UPDATE_COMPLETE"
    row = bench.engine.reader.resource_rows(nested(bench)[-1].id)[0]
    assert bench.engine.services.sealer.load(row.properties) == {"value": "three"}


def test_a_deletion_stops_what_runs_in_nested_stacks(bench: Bench) -> None:
    begin_slow_update(bench)
    root = bench.stack.id
    bench.engine.begin(DeleteStack("s"))
    for _ in range(4):
        bench.steps(30)
        sweep(bench)
    bench.steps(30)
    assert bench.engine.reader.stack(root).state == "DELETE_COMPLETE"
