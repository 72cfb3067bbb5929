"""Data that a plug-in stores: only while the operation is its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from zonda.core.engine.model.work_item import WorkItem
from zonda.core.engine.operations import transitions
from zonda.hooks.resources.resource import Resource

BOX = "a: {type: Test::Slow, properties: {value: one}, metadata: {given: 1, other: 1}}"


@pytest.fixture
def running(bench: Any) -> Any:
    """A bench with a creation that is polled."""
    bench.journal.behave["a", "handle_create"] = lambda box: "token"
    bench.journal.behave["a", "check"] = lambda box: False
    bench.engine.begin(create(bench))
    while not any(row.op_state == "POLLING" for row in bench.resource_rows()):
        bench.engine._run_once()
    return bench


def create(bench: Any) -> Any:
    from zonda.core.engine.actions import CreateStack

    return CreateStack("s", bench.bundle(BOX))


def instance(bench: Any) -> Resource:
    """The resource as one who works on it now has it."""
    reader = bench.engine.reader
    (row,) = bench.resource_rows()
    stack = reader.stack_row(row.stack_id)
    instances = bench.engine.services.instances
    seen = WorkItem(row, stack, reader.read_sealed_data(row.id))
    made: Resource = instances.make(seen, context=instances.context(seen, operation=True))
    return made


def take_over(bench: Any) -> None:
    (row,) = bench.resource_rows()
    bench.engine.driver.run_in_transaction(
        lambda work: transitions.take_over(work, work.tx.resource(row.id))
    )


WRITES: dict[str, Callable[[Resource], Any]] = {
    "metadata": lambda box: box.metadata_set({"by": "a zombie"}),
    "data": lambda box: box.data_set("by", "a zombie"),
}


@pytest.mark.parametrize("what", WRITES)
def test_who_was_taken_over_stores_nothing(running: Any, what: str) -> None:
    """It is the same operation, by its id: the fence tells who carries it out."""
    zombie = instance(running)
    take_over(running)
    WRITES[what](zombie)
    assert "zombie" not in str(running.resource_rows())
    assert instance(running).data() == {}

    WRITES[what](instance(running))
    assert "zombie" in str(running.resource_rows()) + str(instance(running).data())


def test_what_was_made_outside_is_known_whoever_has_taken_the_operation_over(running: Any) -> None:
    zombie = instance(running)
    take_over(running)
    zombie.resource_id_set("made by a zombie")
    assert running.resource_rows()[0].physical_id == "made by a zombie"


def stored(bench: Any) -> dict[str, Any]:
    return instance(bench).metadata_get()


def test_two_that_store_metadata_keep_each_other_s_keys(running: Any) -> None:
    """A signal's instance and the operation's own are alive at the same time."""
    first, second = instance(running), instance(running)
    first.metadata_set({**first.metadata_get(), "first": 1})
    second.metadata_set({**second.metadata_get(), "second": 2, "given": 7})
    first.metadata_set({**first.metadata_get(), "first": 3})
    assert stored(running) == {"given": 7, "other": 1, "first": 3, "second": 2}


def test_metadata_that_one_takes_away_is_not_brought_back_by_the_other(running: Any) -> None:
    first, second = instance(running), instance(running)
    first.metadata_set({"given": 1})
    second.metadata_set({**second.metadata_get(), "second": 2})
    assert stored(running) == {"given": 1, "second": 2}


def test_metadata_is_replaced_where_nobody_else_stores_any(running: Any) -> None:
    box = instance(running)
    box.metadata_set({"given": True, "new": None})
    assert stored(running) == {"given": True, "new": None}
    box.metadata_set({})
    assert stored(running) == {}
