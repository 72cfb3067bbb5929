"""Rollback on demand: its target, and the resources that it leaves alone."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.core.engine.actions import CreateStack, RollbackStack, UpdateStack
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.errors import Conflict, NotFound, NotSupported

ONE = "a: {type: Test::Box, properties: {value: one}}"
TWO = "a: {type: Test::Box, properties: {value: two}}\nb: {type: Test::Box, depends_on: a}"
THREE = "a: {type: Test::Box, properties: {value: three}}"


def rolled_back(bench: Any, *skip: str, to: int | None = None) -> Any:
    return bench.run(RollbackStack("s", to, skip))


def test_a_failed_update_without_rollback_is_undone_when_asked_for(bench: Any) -> None:
    bench.create(ONE)
    bench.fails("b", "handle_create")
    assert bench.update(TWO, rollback=False).state == "UPDATE_FAILED"
    assert rolled_back(bench).state == "ROLLBACK_COMPLETE"
    assert bench.states() == {"a": "UPDATE_COMPLETE"}
    assert bench.resource("a").properties["value"] == "one"


def test_a_creation_that_failed_is_undone_to_nothing(bench: Any) -> None:
    bench.fails("b", "handle_create")
    bench.create(TWO)
    assert rolled_back(bench).state == "ROLLBACK_COMPLETE"
    assert bench.states() == {}


def test_an_earlier_generation_is_gone_back_to(bench: Any) -> None:
    bench.create(ONE)
    bench.update(TWO)
    bench.update(THREE)
    assert rolled_back(bench, to=2).state == "ROLLBACK_COMPLETE"
    assert bench.resource("a").properties["value"] == "two"
    assert set(bench.states()) == {"a", "b"}
    rolled_back(bench, to=1)
    assert bench.resource("a").properties["value"] == "one"
    assert set(bench.states()) == {"a"}


def test_without_a_failure_the_generation_must_be_named(bench: Any) -> None:
    bench.create(ONE)
    with pytest.raises(NotSupported, match="nothing to roll back"):
        rolled_back(bench)
    with pytest.raises(NotFound, match="7"):
        rolled_back(bench, to=7)


def test_a_suspended_stack_is_not_rolled_back(bench: Any) -> None:
    bench.create(ONE)
    bench.suspend()
    with pytest.raises(NotSupported, match="suspended"):
        rolled_back(bench, to=1)


def test_a_running_update_is_overtaken(bench: Any) -> None:
    bench.create(ONE)
    bench.journal.behave["b", "check"] = lambda b: False
    bench.engine.begin(
        UpdateStack("s", bench.bundle(TWO.replace("b: {type: Test::Box", "b: {type: Test::Slow")))
    )
    bench.steps(12)
    bench.engine.begin(RollbackStack("s"))
    bench.journal.behave["b", "check"] = lambda b: True
    bench.engine.settle()
    assert bench.stack.state == "ROLLBACK_COMPLETE"
    assert bench.states() == {"a": "UPDATE_COMPLETE"}


def test_what_is_skipped_stays_as_it_is_until_the_next_update(bench: Any) -> None:
    bench.create(ONE)
    bench.fails("b", "handle_create")
    bench.update(TWO, rollback=False)
    bench.journal.calls.clear()
    assert rolled_back(bench, "a").state == "ROLLBACK_COMPLETE"
    assert ("a", "handle_update") not in bench.journal.calls
    assert bench.resource("a").properties["value"] == "two"
    bench.update(ONE)
    assert bench.resource("a").properties["value"] == "one"


def test_what_is_skipped_keeps_what_it_requires(bench: Any) -> None:
    bench.create("z: {type: Test::Box}")
    more = "z: {type: Test::Box}\nx: {type: Test::Box}\ny: {type: Test::Box, depends_on: x}\n"
    bench.fails("w", "handle_create")
    bench.update(more + "w: {type: Test::Box}", rollback=False)
    assert rolled_back(bench, "y").state == "ROLLBACK_COMPLETE"
    assert bench.journal.of("x") == ["handle_create"], "its user is still there"
    assert bench.states() == {"y": "CREATE_COMPLETE", "z": "CREATE_COMPLETE"}
    bench.update("z: {type: Test::Box}")
    assert bench.states() == {"z": "CREATE_COMPLETE"}
    assert bench.journal.calls[-2:] == [("y", "handle_delete"), ("x", "handle_delete")]


def test_a_dependant_of_what_is_skipped_is_rolled_back(bench: Any) -> None:
    both = "a: {{type: Test::Box, properties: {{value: {0}}}}}\n"
    both += "c: {{type: Test::Box, depends_on: a, properties: {{value: {0}}}}}"
    bench.create(both.format("one"))
    bench.fails("d", "handle_create")
    bench.update(both.format("two") + "\nd: {type: Test::Box}", rollback=False)
    assert rolled_back(bench, "a").state == "ROLLBACK_COMPLETE"
    assert bench.resource("a").properties["value"] == "two"
    assert bench.resource("c").properties["value"] == "one"


def test_a_replacement_that_failed_may_be_skipped(bench: Any) -> None:
    bench.create("a: {type: Test::Box, properties: {fixed: one}}")
    bench.fails("a", "handle_create")
    bench.update("a: {type: Test::Box, properties: {fixed: two}}", rollback=False)
    assert rolled_back(bench, "a").state == "ROLLBACK_COMPLETE"
    assert bench.states() == {"a": "CREATE_FAILED"}
    bench.heals("a", "handle_create")
    bench.update("a: {type: Test::Box, properties: {fixed: three}}")
    assert bench.states() == {"a": "CREATE_COMPLETE"}


def test_what_is_not_there_cannot_be_skipped(bench: Any) -> None:
    bench.create(ONE)
    bench.update(TWO)
    with pytest.raises(NotFound, match="aa") as caught:
        rolled_back(bench, "aa", to=1)
    assert "a" in caught.value.hint


def test_what_is_at_work_cannot_be_skipped(bench: Any) -> None:
    bench.create(ONE)
    bench.journal.behave["b", "check"] = lambda b: False
    slow = TWO.replace("b: {type: Test::Box", "b: {type: Test::Slow")
    bench.engine.begin(UpdateStack("s", bench.bundle(slow)))
    bench.steps(12)
    with pytest.raises((Conflict, NotFound)):
        bench.engine.begin(RollbackStack("s", None, ("b",)))
    assert bench.stack.state == "UPDATE_IN_PROGRESS"


def test_what_was_never_made_cannot_be_skipped_where_it_is_required(bench: Any) -> None:
    chain = "a: {type: Test::Box, properties: {fixed: one}}\nb: {type: Test::Box, depends_on: a}"
    bench.create(chain)
    bench.fails("a", "handle_create")
    bench.update(chain.replace("one", "two"), rollback=False)
    with pytest.raises(NotSupported, match="b requires it") as caught:
        rolled_back(bench, "a")
    assert caught.value.hint == "Skip b, too."
    assert rolled_back(bench, "a", "b").state == "ROLLBACK_COMPLETE"


def test_the_description_goes_back_too(bench: Any) -> None:
    for word in ("first", "second"):
        text = f"heat_template_version: 2018-08-31\ndescription: {word}\n"
        bundle = Bundle(text)
        if word == "first":
            bench.run(CreateStack("s", bundle))
        else:
            bench.run(UpdateStack("s", bundle))
    assert bench.stack.description == "second"
    assert rolled_back(bench, to=1).description == "first"
