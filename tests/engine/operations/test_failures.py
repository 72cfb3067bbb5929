"""Failed operations: their records, and the reasons for which an instance waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from zonda.core.engine.actions import CancelStack, CreateStack
from zonda.core.engine.model import causes
from zonda.core.store.read.views import FailedView
from zonda.hooks.errors import Permanent, ResourceFailure, UpdateReplace

ONE = "a: {type: Test::Slow, properties: {value: one, secret: s3cret-word}}"
IDLE_TIME = 5000.0


def failed(bench: Any) -> list[FailedView]:
    reader = bench.engine.reader
    stacks = reader.stacks()
    key = stacks[0].id if stacks else reader.get_deleted_stack("s").id
    found: list[FailedView] = reader.list_failed(key)
    return found


def raising(error: Exception) -> Callable[[Any], None]:
    def behave(resource: Any) -> None:
        raise error

    return behave


@pytest.mark.parametrize(
    ("call", "error", "expected"),
    [
        pytest.param(
            "handle_create", Permanent("no"), ("handle", "Permanent", "ZON301"), id="handler"
        ),
        pytest.param(
            "check", ResourceFailure("no"), ("poll", "ResourceFailure", "ZON300"), id="poll"
        ),
        pytest.param("check", KeyError("x"), ("poll", "KeyError", ""), id="a plug-in's own"),
    ],
)
def test_the_kind_of_a_failure_is_kept(
    bench: Any, call: str, error: Exception, expected: tuple[str, str, str]
) -> None:
    bench.journal.behave["a", call] = raising(error)
    bench.create(ONE)
    (view,) = failed(bench)
    assert (view.during, view.kind, view.code) == expected
    assert (view.op, view.attempt, view.generation) == ("CREATE", 1, 1)
    assert view.started_at is not None


def test_properties_are_kept_sealed_and_shown_without_what_is_hidden(bench: Any) -> None:
    bench.journal.behave["a", "check"] = raising(ResourceFailure("not with s3cret-word"))
    bench.create(ONE)
    (view,) = failed(bench)
    assert view.properties == {"value": "one", "secret": "(hidden)"}
    assert "s3cret" not in view.reason
    rows = bench.store._connection.execute("SELECT properties, reason FROM failed").fetchall()
    assert "s3cret" not in repr(rows)


def test_it_outlives_the_rollback(bench: Any) -> None:
    bench.journal.behave["a", "check"] = raising(ResourceFailure("no"))
    bench.journal.behave["a", "check"] = lambda resource: (
        raising(ResourceFailure("no"))(resource)
        if resource.context.operation.action == "CREATE"
        else True
    )
    bench.create(ONE, rollback=True)
    assert bench.engine.reader.resource_rows(bench.engine.reader.stacks()[0].id) == []
    assert [view.op for view in failed(bench)] == ["CREATE"]


def test_what_could_not_be_begun(bench: Any) -> None:
    bench.create("a: {type: Test::Box, properties: {frozen: one}}")
    bench.update("a: {type: Test::Box, properties: {frozen: two}}")
    (view,) = failed(bench)
    assert (view.during, view.kind, view.op, view.attempt) == ("prepare", "Immutable", "UPDATE", 0)
    assert view.path == ("resources", "a", "properties", "frozen")


def test_a_definition_that_cannot_be_resolved(bench: Any) -> None:
    bench.journal.behave["b", "handle_create"] = raising(ResourceFailure("unused"))
    bench.create(
        """
        a: {type: Test::Box, properties: {value: xyz}}
        b:
          type: Test::Box
          properties: {value: {str_split: [x, {get_attr: [a, value]}, 7]}}
        """
    )
    (view,) = failed(bench)
    assert (view.resource_name, view.during) == ("b", "prepare")
    assert view.code.startswith("ZON")
    assert view.path[:4] == ("resources", "b", "properties", "value")


def _cancel(bench: Any) -> None:
    bench.engine.begin(CancelStack("s"))


@pytest.mark.parametrize(
    ("before", "kind"),
    [
        pytest.param(_cancel, "Cancelled", id="cancelled"),
        pytest.param(lambda bench: None, "StackTimedOut", id="deadline of the stack"),
    ],
)
def test_what_is_ended_from_outside(bench: Any, before: Callable[[Any], None], kind: str) -> None:
    bench.journal.behave["a", "check"] = lambda resource: False
    bench.engine.begin(CreateStack("s", bench.bundle(ONE)))
    bench.engine.driver.admit()
    for _ in range(20):
        bench.engine._run_once()
    before(bench)
    bench.clock.advance(IDLE_TIME)
    bench.engine.sweep_deadlines()
    assert (failed(bench)[0].kind, failed(bench)[0].during) == (kind, "outside")


def cause(bench: Any) -> causes.Cause | None:
    row = bench.engine.reader.resource_rows(bench.engine.reader.stacks()[0].id)[0]
    found: causes.Cause | None = causes.parse_cause(row.cause)
    return found


def test_the_properties_of_an_update_are_kept(bench: Any) -> None:
    bench.create(ONE)
    assert cause(bench) is None
    bench.update(ONE.replace("one", "two"))
    assert cause(bench) == causes.Cause("update", changed=("value",))


def test_the_property_that_forced_a_replacement_is_kept(bench: Any) -> None:
    bench.create("a: {type: Test::Box, properties: {value: one, fixed: one}}")
    bench.update("a: {type: Test::Box, properties: {value: two, fixed: two}}")
    assert cause(bench) == causes.Cause("replace", "fixed", ("fixed",), ("value", "fixed"))


def test_a_replacement_that_the_plug_in_asked_for(bench: Any) -> None:
    bench.create(ONE)
    bench.journal.behave["a", "handle_update"] = raising(UpdateReplace("a"))
    bench.update(ONE.replace("one", "two"))
    assert cause(bench) == causes.Cause("replace", "plugin", ("value",), ("value",))


def test_a_replacement_after_a_failure(bench: Any) -> None:
    bench.journal.behave["a", "check"] = raising(ResourceFailure("no"))
    bench.create(ONE)
    bench.journal.behave.clear()
    bench.update(ONE)
    assert cause(bench) == causes.Cause("replace", "failed")
