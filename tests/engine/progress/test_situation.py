"""The situation of an instance, computed from its row."""

from __future__ import annotations

from typing import Any

from zonda.core.engine.actions import CreateStack, DeleteStack
from zonda.core.engine.model import causes
from zonda.core.reports.situation import Situation, describe_cause, situations

TWO = "a: {type: Test::Slow}\nb: {type: Test::Box, depends_on: a}"


def told(bench: Any) -> dict[str, Situation]:
    reader = bench.engine.reader
    stack = reader.stack_named("s", "default")
    return {each.row.name: each for each in situations(stack, reader.resource_rows(stack.id))}


def begin(bench: Any, action: Any) -> None:
    bench.engine.begin(action)
    for _ in range(30):
        bench.engine._run_once()


def test_at_work_and_waiting_for_it(bench: Any) -> None:
    bench.journal.behave["a", "check"] = lambda resource: False
    begin(bench, CreateStack("s", bench.bundle(TWO)))
    found = told(bench)
    assert found["a"].doing == "at work"
    assert "asked again and again" in found["a"].told[0]
    assert (found["b"].doing, found["b"].waits_for) == ("waiting", ("a",))


def test_a_token_that_cannot_be_stored_is_told_of(bench: Any) -> None:
    bench.journal.behave["a", "handle_create"] = lambda resource: object()
    bench.journal.behave["a", "check"] = lambda resource: False
    begin(bench, CreateStack("s", bench.bundle(TWO)))
    assert any("is no JSON" in text for text in told(bench)["a"].told)


def test_while_deleting_requirements_wait_for_their_users(bench: Any) -> None:
    bench.create("a: {type: Test::Box}\nb: {type: Test::Slow, depends_on: a}")
    bench.journal.behave["b", "check"] = lambda resource: False
    begin(bench, DeleteStack("s"))
    assert told(bench)["a"].waits_for == ("b",)


def test_at_a_breakpoint(bench: Any) -> None:
    environment = "resource_registry: {resources: {a: {hooks: pre-create}}}"
    begin(bench, CreateStack("s", bench.bundle(TWO, environment=environment)))
    assert told(bench)["a"].doing == "paused"
    assert "pre-create" in told(bench)["a"].told[0]


def test_nothing_is_told_of_what_is_at_rest(bench: Any) -> None:
    bench.create(TWO)
    assert told(bench) == {}


def test_every_cause_is_a_sentence() -> None:
    for why in ("fixed", "plugin", "type", "failed", "missing", "always", ""):
        text = describe_cause(causes.Cause("replace", why, ("size",), ("size",)))
        assert text.startswith("it was replaced last because ")
    assert describe_cause(causes.Cause("update", changed=("a", "b"))).endswith(
        "because a, b changed"
    )
