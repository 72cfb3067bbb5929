"""Nested stacks in deletion, and newer plans that want them."""

from __future__ import annotations

import pytest
from tests.engine.conftest import Bench

from zonda.core.engine.actions import Action, CancelStack, DeleteStack, UpdateStack

CHILD = """heat_template_version: 2018-08-31
resources:
  a: {type: Test::Box}
  b: {type: Test::Slow, depends_on: a}
"""
FILES = {"child.yaml": CHILD}
KEPT = "k: {type: Test::Box, properties: {value: %s}}\n"


@pytest.fixture
def going(bench: Bench) -> Bench:
    """Just when an update deletes ``c``: ``b`` in it is being deleted, ``a`` is not yet."""
    bench.create("c: {type: child.yaml}\n" + KEPT % "x", files=FILES)
    polls = iter([False] * 3)
    bench.journal.behave["b", "check"] = lambda resource: next(polls, True)
    bench.engine.begin(UpdateStack("s", bench.bundle(KEPT % "x", files=FILES)))
    while "handle_delete" not in bench.journal.of("b"):
        bench.steps(1)
    return bench


def ends(bench: Bench, stack_id: str = "") -> list[tuple[str, str]]:
    """How deletions ended, in the whole tree."""
    events = bench.engine.reader.tree_events(stack_id or bench.stack.id)
    return [
        (each.resource_name, each.status)
        for each in events
        if each.action == "DELETE" and each.resource_name and each.status != "IN_PROGRESS"
    ]


def update(bench: Bench, value: str) -> Action:
    return UpdateStack("s", bench.bundle(KEPT % value, files=FILES), rollback=False)


def test_a_newer_update_leaves_it_to_its_end(going: Bench) -> None:
    """It was stopped, and begun anew at the end of the update."""
    assert going.run(update(going, "y")).state == "UPDATE_COMPLETE"
    assert ends(going) == [("b", "COMPLETE"), ("a", "COMPLETE"), ("c", "COMPLETE")]


def test_it_comes_to_its_end_where_the_newer_update_fails(going: Bench) -> None:
    """Half of it was left, DELETE_FAILED, while what is not nested was deleted."""
    going.fails("k", "handle_update")
    assert going.run(update(going, "y")).state == "UPDATE_FAILED"
    assert ends(going) == [("b", "COMPLETE"), ("a", "COMPLETE"), ("c", "COMPLETE")]


def test_a_deletion_of_the_whole_leaves_it_to_its_end(going: Bench) -> None:
    stack_id = going.stack.id
    going.run(DeleteStack("s"))
    assert sorted(ends(going, stack_id)) == [(name, "COMPLETE") for name in "abck"]


def test_what_wants_another_one_of_that_name_leaves_it_to_its_end(going: Bench) -> None:
    bundle = going.bundle("c: {type: child.yaml}\n" + KEPT % "x", files=FILES)
    assert going.run(UpdateStack("s", bundle, rollback=False)).state == "UPDATE_COMPLETE"
    assert ends(going) == [("b", "COMPLETE"), ("a", "COMPLETE"), ("c", "COMPLETE")]
    assert going.states() == {"c": "CREATE_COMPLETE", "k": "CREATE_COMPLETE"}


def test_a_cancellation_stops_it(going: Bench) -> None:
    going.run(CancelStack("s", rollback=False))
    assert ("a", "COMPLETE") not in ends(going)
    found = {row.name: row for row in going.resource_rows()}["c"]
    assert (found.action, found.status) == ("DELETE", "FAILED")
