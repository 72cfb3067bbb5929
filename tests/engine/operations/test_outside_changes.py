"""Attributes that change outside of an update, and signals between operations."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.core.engine.actions import CancelStack, CreateStack, SignalResource
from zonda.core.engine.handlers import signal as signals
from zonda.core.engine.model import effects
from zonda.core.engine.operations import timeouts
from zonda.hooks.errors import NotReady
from zonda.hooks.text.borders import Interruption

READER = """
a: {type: Test::Box}
b: {type: Test::Box, properties: {value: {get_attr: [a, value]}}}
"""


def test_who_reads_an_attribute_learns_that_suspending_changed_it(bench: Any) -> None:
    bench.journal.behave["a", "handle_suspend"] = lambda a: a.data_set("signal", "suspended")
    bench.create(READER)
    bench.suspend()
    bench.resume()
    bench.update(READER)
    assert bench.resource("b").properties == {"value": "suspended"}


def test_who_reads_an_attribute_learns_that_a_signal_changed_it(bench: Any) -> None:
    bench.create(READER)
    bench.signal("a", word="signalled")
    bench.update(READER)
    assert bench.resource("b").properties == {"value": "signalled"}


def test_a_signal_under_way_does_not_undo_what_an_update_has_stored(bench: Any) -> None:
    template = "a: {{type: Test::Box, properties: {{value: {}}}}}\n"
    template += "b: {{type: Test::Box, properties: {{value: {{get_attr: [a, value]}}}}}}"
    bench.create(template.format("one"))
    bench.journal.behave["a", "handle_signal"] = lambda a: a.data_delete_all()
    signal = SignalResource("s", "a", {"word": "w"})
    step = signals.signal(bench.engine.services, signal, lambda work, accepted: None)
    seen = next(step).run()
    delivered = step.send(seen).run()
    transaction = step.send(delivered)
    bench.update(template.format("two"))
    while True:
        if isinstance(transaction, effects.Tx):
            value = bench.engine.driver.run_in_transaction(transaction.run)
        else:
            value = transaction.run()
        try:
            transaction = step.send(value)
        except StopIteration:
            break
    assert bench.resource("a").attributes == {"value": "two"}


def test_what_is_cancelled_is_not_rolled_back(bench: Any) -> None:
    bench.journal.behave["a", "check"] = lambda a: False
    resources = "a: {type: Test::Slow}\nb: {type: Test::Box, depends_on: a}"
    bench.engine.begin(CreateStack("s", bench.bundle(resources), rollback=True))
    bench.steps(20)
    bench.engine.begin(CancelStack("s"))
    bench.fails("a", "check")
    bench.engine.settle()
    assert bench.stack.state == "CREATE_FAILED"
    assert bench.states()["a"] == "CREATE_FAILED"


def test_a_rollback_that_was_owed_is_void_once_the_user_has_cancelled(bench: Any) -> None:
    bench.journal.behave["b", "check"] = lambda b: False
    bench.fails("a", "handle_create")
    resources = "a: {type: Test::Box}\nb: {type: Test::Slow}"
    bench.engine.begin(CreateStack("s", bench.bundle(resources), rollback=True))
    driver = bench.engine.driver
    for _ in range(90):
        if any(not task.key for task, _ in driver._units) and bench.stack.status == "FAILED":
            break
        bench.steps(1)
    else:
        pytest.fail("no rollback was planned")
    stack_id = bench.stack.id
    driver.run_in_transaction(lambda work: timeouts.cancel(work, work.tx.stack(stack_id), 9.0))
    bench.heals("b", "check")
    bench.engine.settle()
    assert bench.stack.state == "CREATE_FAILED"


def test_a_handler_that_asked_to_be_called_again_survives_a_crash(bench: Any) -> None:
    bench.fails("a", "handle_create", NotReady(30.0))
    bench.engine.begin(CreateStack("s", bench.bundle("a: {type: Test::Slow}")))
    stored = bench.engine.reader.resource_rows
    for _ in range(30):
        if [row.op_state for row in stored(bench.stack.id)] == ["RETRY"]:
            break
        bench.steps(1)
    else:
        pytest.fail("what the handler asked for was not stored")
    bench.heals("a", "handle_create")
    bench.restart().recover()
    bench.engine.settle()
    assert bench.stack.state == "CREATE_COMPLETE"


def test_a_handler_that_was_called_again_and_cut_off_has_failed(bench: Any) -> None:
    class Died(Interruption):
        pass

    def behave(resource: Any) -> None:
        if len(bench.journal.calls) == 1:
            raise NotReady(1.0)
        raise Died

    bench.journal.behave["a", "handle_create"] = behave
    with pytest.raises(Died):
        bench.create("a: {type: Test::Slow}")
    bench.restart().recover()
    bench.engine.settle()
    assert bench.resource("a").status_reason.endswith("outcome unknown")


def test_handle_find_may_be_not_ready(bench: Any) -> None:
    class Died(Interruption):
        pass

    def die(resource: Any) -> None:
        raise Died

    def find(resource: Any) -> Any:
        if bench.journal.of("a").count("handle_find") == 1:
            raise NotReady(1.0)
        return {"found": 1}

    bench.journal.behave["a", "handle_create"] = die
    with pytest.raises(Died):
        bench.create("a: {type: Test::Finder}")
    bench.heals("a", "handle_create")
    bench.journal.behave["a", "handle_find"] = find
    bench.journal.calls.clear()
    bench.restart().recover()
    bench.engine.settle()
    assert bench.journal.of("a") == ["handle_find", "handle_find", "check"]
    assert bench.stack.state == "CREATE_COMPLETE"


def test_an_attribute_that_cannot_be_read_does_not_undo_a_creation(bench: Any) -> None:
    def away(resource: Any, name: str) -> Any:
        raise KeyError("away")

    bench.types["Test::Box"]._resolve_attribute = away
    stack = bench.create(
        "a: {type: Test::Box}", rest="outputs: {o: {value: {get_attr: [a, value]}}}\n"
    )
    assert stack.state == "CREATE_COMPLETE"
    assert bench.resource("a").attributes == {}
