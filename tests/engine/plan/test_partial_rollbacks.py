"""Rollbacks of partial updates."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.core.engine.actions import (
    CancelStack,
    CreateStack,
    RetryStack,
    RollbackStack,
    UpdateStack,
)
from zonda.core.engine.preview.preview import build_preview
from zonda.hooks.errors import Conflict

BOTH = """
    a: {type: Test::Box, properties: {value: "%s"}}
    b: {type: Test::Box, properties: {fixed: "%s"}}
"""
A = 'a: {type: Test::Box, properties: {value: "%s"}}'
AND_C = BOTH + "    c: {type: Test::Box, depends_on: b}"


def update(bench: Any, text: str, **given: Any) -> Any:
    return bench.run(UpdateStack("s", bench.bundle(text), **given))


def ids(bench: Any) -> dict[str, str]:
    return {row.name: row.physical_id for row in bench.resource_rows() if row.want == "PRESENT"}


def test_what_two_updates_exclude_is_not_replaced_by_the_rollback_of_the_second(
    bench: Any,
) -> None:
    bench.create(BOTH % (1, 1))
    update(bench, BOTH % (2, 2), targets=("a",))
    before = ids(bench)
    bench.fails("a", "handle_update")
    bench.journal.calls.clear()

    update(bench, BOTH % (3, 2), targets=("a",), rollback=True)

    assert ids(bench)["b"] == before["b"]
    assert bench.journal.of("b") == []


def test_what_two_updates_exclude_is_not_deleted_by_the_rollback_of_the_second(bench: Any) -> None:
    bench.create(BOTH % (1, 1))
    update(bench, A % 2, excludes=("b",))
    bench.fails("a", "handle_update")

    update(bench, A % 3, excludes=("b",), rollback=True)

    assert "b" in bench.states()
    assert bench.journal.of("b") == ["handle_create"]


def test_a_rollback_takes_what_an_earlier_part_left_out_back_to_where_it_was(bench: Any) -> None:
    bench.create(BOTH % (1, 1))
    update(bench, BOTH % (2, 2), targets=("a",))
    before = ids(bench)
    bench.fails("c", "handle_create")

    view = update(bench, AND_C % (3, 3), rollback=True)

    assert view.state == "ROLLBACK_COMPLETE"
    assert ids(bench) == before
    assert bench.resource("a").properties["value"] == "2"
    assert bench.resource("b").properties["fixed"] == "1"


def test_what_was_left_out_of_a_template_is_back_after_a_rollback(bench: Any) -> None:
    bench.create(BOTH % (1, 1))
    update(bench, A % 2, excludes=("b",))
    before = ids(bench)
    bench.fails("a", "handle_update")
    bench.fails("a", "handle_create")

    assert update(bench, A % 3, rollback=True).state == "ROLLBACK_FAILED"
    bench.journal.behave.clear()

    assert bench.run(RollbackStack("s")).state == "ROLLBACK_COMPLETE"
    assert ids(bench)["b"] == before["b"], "no template has it, and it had been excluded"


def test_what_was_not_created_by_a_part_is_not_there_after_a_rollback(bench: Any) -> None:
    bench.run(CreateStack("s", bench.bundle(BOTH % (1, 1)), targets=("a",)))
    bench.fails("c", "handle_create")

    view = update(bench, AND_C % (1, 1), rollback=True)

    assert view.state == "ROLLBACK_COMPLETE"
    assert set(bench.states()) == {"a"}


def test_a_rollback_knows_the_parts_still_after_another_rollback(bench: Any) -> None:
    bench.create(BOTH % (1, 1))
    update(bench, BOTH % (2, 2), targets=("a",))
    before = ids(bench)
    bench.fails("c", "handle_create")
    for _ in range(2):
        view = update(bench, AND_C % (3, 3), rollback=True)
        assert view.state == "ROLLBACK_COMPLETE"
    assert ids(bench) == before


def test_a_cancelled_part_rolls_back_that_part_only(bench: Any) -> None:
    text = BOTH.replace("Test::Box", "Test::Slow")
    bench.create(text % (1, 1))
    bench.journal.behave["a", "check"] = lambda a: False
    bench.engine.begin(UpdateStack("s", bench.bundle(text % (2, 2)), targets=("a",)))
    while "check" not in bench.journal.of("a")[2:]:
        bench.steps(1)
    before = ids(bench)
    del bench.journal.behave["a", "check"]

    view = bench.run(CancelStack("s", rollback=True))

    assert view.state == "ROLLBACK_COMPLETE"
    assert ids(bench) == before


def test_a_rollback_of_a_part_that_failed_is_of_that_part_when_it_is_tried_again(
    bench: Any,
) -> None:
    bench.create(BOTH % (1, 1))
    update(bench, A % 2, excludes=("b",))
    bench.fails("a", "handle_update")
    bench.fails("a", "handle_create")
    assert update(bench, A % 3, excludes=("b",), rollback=True).state == "ROLLBACK_FAILED"
    bench.journal.behave.clear()

    assert bench.run(RetryStack("s")).state == "ROLLBACK_COMPLETE"
    assert set(bench.states()) == {"a", "b"}


def test_what_is_kept_for_a_part_that_uses_it_is_there_after_a_rollback(bench: Any) -> None:
    text = A % 1 + "\nb: {type: Test::Box, properties: {value: {get_resource: a}}}"
    bench.create(text)
    update(bench, "c: {type: Test::Box}", targets=("c",), excludes=())
    before = ids(bench)
    bench.fails("d", "handle_create")

    changed = text.replace("value: {get_resource", "fixed: {get_resource")
    bad = f"{changed}\nd: {{type: Test::Box, depends_on: b}}"
    assert update(bench, bad, rollback=True).state == "ROLLBACK_COMPLETE"

    assert ids(bench) == before


def test_what_runs_is_not_left_outside(bench: Any) -> None:
    text = BOTH.replace("Test::Box", "Test::Slow").replace("fixed", "value")
    bench.create(text % (1, 1))
    bench.journal.behave["b", "check"] = lambda b: False
    bench.engine.begin(UpdateStack("s", bench.bundle(text % (1, 2))))
    while "check" not in bench.journal.of("b")[2:]:
        bench.steps(1)

    with pytest.raises(Conflict, match=r"b .*UPDATE is running"):
        bench.engine.begin(UpdateStack("s", bench.bundle(text % (2, 2)), targets=("a",)))

    del bench.journal.behave["b", "check"]
    bench.engine.settle()
    assert bench.stack.state == "UPDATE_COMPLETE"


# -- what is looked at before, or shown ------------------------------------------------------------


def shown(bench: Any) -> dict[str, Any]:
    """What a rollback would do with what is wanted: name -> (action, properties)."""
    found = build_preview(bench.engine.services, RollbackStack("s")).resources
    judged = [(each.entry, each.entry.verdict) for each in found if each.entry.verdict is not None]
    return {
        entry.name: (entry.action, dict(verdict.wanted.properties)) for entry, verdict in judged
    }


def test_the_plan_of_a_rollback_has_each_part_as_its_own_template_has_it(bench: Any) -> None:
    bench.create(BOTH % (1, 1))
    update(bench, BOTH % (2, 2), targets=("a",))
    bench.fails("c", "handle_create")
    assert update(bench, AND_C % (3, 3)).state == "UPDATE_FAILED"
    assert shown(bench) == {"a": ("update", {"value": "2"}), "b": ("none", {"fixed": "1"})}


def test_the_plan_of_a_rollback_has_what_only_an_older_template_has(bench: Any) -> None:
    bench.create(BOTH % (1, 1))
    update(bench, A % 2, excludes=("b",))
    bench.fails("c", "handle_create")
    assert update(bench, "c: {type: Test::Box}").state == "UPDATE_FAILED"
    assert shown(bench) == {"a": ("none", {"value": "2"}), "b": ("none", {"fixed": "1"})}
