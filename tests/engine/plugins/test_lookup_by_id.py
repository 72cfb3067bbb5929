"""Look-ups by physical id: resources of the project, as stored."""

from __future__ import annotations

from typing import Any

from zonda.core.engine.actions import CreateStack, DeleteStack, SignalResource
from zonda.core.engine.handlers import signal
from zonda.core.engine.model import effects
from zonda.hooks.resources.resource import Resource

ONE = "a: {type: Test::Box, properties: {value: one}}"


def finding(bench: Any, reference: Any) -> dict[str, Any]:
    """What ``b`` finds by ``reference(b)`` when it is made."""
    seen: dict[str, Any] = {}

    def look(resource: Any) -> None:
        seen["found"] = resource.context.find_resource(reference(resource))

    bench.journal.behave["b", "handle_create"] = look
    return seen


def test_a_resource_is_found_by_its_id_and_for_reading_only(bench: Any) -> None:
    bench.create(ONE)
    key = bench.resource("a").id
    seen = finding(bench, lambda b: key)
    bench.update(ONE + "\nb: {type: Test::Box}")
    found = seen["found"]
    assert (found.name, found.properties["value"], found.state) == (
        "a",
        "one",
        ("CREATE", "COMPLETE"),
    )
    physical = bench.resource("a").physical_id
    found.resource_id_set("stolen")
    found.data_set("k", "v")
    assert bench.resource("a").physical_id == physical
    assert bench.engine.reader.resource_data(key) == {}


def test_a_resource_of_another_stack_is_found(bench: Any) -> None:
    bench.engine.run(CreateStack("other", bench.bundle(ONE)))
    stack = bench.engine.reader.stack("other")
    key = bench.engine.reader.resource(stack.id, "a").id
    seen = finding(bench, lambda b: key)
    bench.create("b: {type: Test::Box}")
    assert seen["found"].stack.name == "other"


def test_what_is_not_there_is_not_found(bench: Any) -> None:
    seen = finding(bench, lambda b: "nothing")
    bench.create("b: {type: Test::Box}")
    assert seen == {"found": None}


def test_who_is_about_to_be_made_is_not_found(bench: Any) -> None:
    def rows(b: Any) -> str:
        stack = bench.engine.reader.stack("s")
        named = {row.name: row.id for row in bench.engine.reader.resource_rows(stack.id)}
        return named["c"]

    seen = finding(bench, rows)
    bench.create("b: {type: Test::Box}\nc: {type: Test::Box, depends_on: b}")
    assert seen["found"] is None


def test_a_resource_of_another_project_is_not_found(bench: Any) -> None:
    bench.create(ONE)
    key = bench.resource("a").id
    with bench.store.transaction() as tx:
        stack = tx.stack(bench.stack.id)
        stack.project = "somebody-else"
    seen = finding(bench, lambda b: key)
    bench.engine.run(CreateStack("mine", bench.bundle("b: {type: Test::Box}")))
    assert seen["found"] is None


# -- signals


def played(bench: Any, step: Any, meanwhile: Any) -> Any:
    """Run a step; ``meanwhile`` happens before its first transaction."""
    effect = next(step)
    while True:
        if isinstance(effect, effects.Tx):
            meanwhile()
            value = bench.engine.driver.run_in_transaction(effect.run)
        else:
            value = effect.run()
        try:
            effect = step.send(value)
        except StopIteration as ended:
            return ended.value


def test_of_two_signals_at_once_to_an_inward_type_none_is_lost(bench: Any) -> None:
    inward = bench.types["Test::Inward"]
    heard: list[int] = []

    def count(resource: Resource) -> None:
        before = int(resource.data().get("count", "0"))
        heard.append(before)
        resource.data_set("count", str(before + 1))

    bench.journal.behave["a", "handle_signal"] = count
    assert not inward.has_side_effects
    bench.create(
        "a: {type: Test::Inward}\nb: {type: Test::Box, properties: {value: {get_attr: [a, value]}}}"
    )
    details = {"word": "w"}
    step = signal.signal(
        bench.engine.services, SignalResource("s", "a", details), lambda work, accepted: None
    )
    once = [lambda: bench.signal("a", word="other")]
    played(bench, step, lambda: once.pop()() if once else None)
    assert bench.engine.reader.resource_data(bench.resource("a").id)["count"] == "2"
    assert heard == [0, 0, 1]


def test_what_a_signal_stores_is_there_for_the_check_that_runs(bench: Any) -> None:
    bench.journal.behave["a", "check"] = lambda a: "signal" in a.data()
    bench.engine.begin(CreateStack("s", bench.bundle("a: {type: Test::Slow}")))
    bench.steps(30)
    assert bench.states()["a"] == "CREATE_IN_PROGRESS"
    bench.signal("a", word="go")
    assert bench.states()["a"] == "CREATE_COMPLETE"


def test_what_is_being_removed_hears_a_signal_and_keeps_its_reference(bench: Any) -> None:
    bench.create("a: {type: Test::Slow}")
    reference = [row.reference for row in bench.resource_rows()]
    bench.journal.behave["a", "check"] = lambda a: False
    bench.engine.begin(DeleteStack("s"))
    bench.steps(30)
    [row] = bench.resource_rows()
    assert row.op == "DELETE"
    bench.engine.begin(SignalResource("s", "a", {"word": "w"}))
    assert bench.engine.reader.resource_data(row.id) == {"signal": "w"}
    assert [row.reference for row in bench.resource_rows()] == reference
