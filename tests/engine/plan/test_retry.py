"""The failed action once more: only what failed or was not reached."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.core.engine.actions import CheckStack, RetryStack, RollbackStack, UpdateStack
from zonda.hooks.errors import Conflict, NotSupported

CHAIN = (
    "a: {type: Test::Box}\nb: {type: Test::Box, depends_on: a}\nc: {type: Test::Box, depends_on: b}"
)


def retried(bench: Any) -> Any:
    bench.journal.calls.clear()
    return bench.run(RetryStack("s"))


def test_a_creation_goes_on_where_it_failed(bench: Any) -> None:
    bench.fails("b", "handle_create")
    assert bench.create(CHAIN).state == "CREATE_FAILED"
    bench.heals("b", "handle_create")
    assert retried(bench).state == "CREATE_COMPLETE"
    assert bench.journal.of("a") == []
    assert bench.journal.of("c") == ["handle_create"]
    assert bench.journal.of("b") == ["handle_delete", "handle_create"], "it is replaced"


def test_what_need_not_be_replaced_is_updated(bench: Any) -> None:
    bench.types["Test::Box"].needs_replace_failed = lambda self: False
    bench.fails("b", "handle_create")
    bench.create(CHAIN)
    bench.heals("b", "handle_create")
    assert retried(bench).state == "CREATE_COMPLETE"
    assert bench.journal.of("b") == ["handle_update"]


def test_a_creation_that_fails_again_can_be_tried_again(bench: Any) -> None:
    bench.fails("b", "handle_create")
    bench.create(CHAIN)
    assert retried(bench).state == "CREATE_FAILED"
    bench.heals("b", "handle_create")
    assert retried(bench).state == "CREATE_COMPLETE"
    assert bench.states() == dict.fromkeys("abc", "CREATE_COMPLETE")


def test_an_update_keeps_its_template(bench: Any) -> None:
    bench.create("a: {type: Test::Box, properties: {value: one}}")
    bench.fails("a", "handle_update")
    changed = "a: {type: Test::Box, properties: {value: two}}"
    assert bench.update(changed).state == "UPDATE_FAILED"
    bench.heals("a", "handle_update")
    assert retried(bench).state == "UPDATE_COMPLETE"
    assert bench.resource("a").properties["value"] == "two"


@pytest.mark.parametrize("verb", ["suspend", "check"])
def test_what_worked_is_left_alone(verb: str, bench: Any) -> None:
    bench.create(CHAIN)
    bench.fails("b", f"handle_{verb}")
    assert getattr(bench, verb)().status == "FAILED"
    assert retried(bench).status == "FAILED"
    bench.heals("b", f"handle_{verb}")
    assert retried(bench).state == f"{verb.upper()}_COMPLETE"
    expected = [("b", f"handle_{verb}")]
    assert [call for call in bench.journal.calls if call[0] == "b"] == expected
    assert ("c", f"handle_{verb}") not in bench.journal.calls


def test_a_check_is_not_taken_for_an_earlier_one(bench: Any) -> None:
    bench.create(CHAIN)
    bench.check()
    bench.fails("b", "handle_check")
    bench.check()
    bench.heals("b", "handle_check")
    retried(bench)
    assert bench.journal.calls == [("b", "handle_check")]


def test_a_resumption_goes_on(bench: Any) -> None:
    bench.create(CHAIN)
    bench.suspend()
    bench.fails("b", "handle_resume")
    assert bench.resume().state == "RESUME_FAILED"
    bench.heals("b", "handle_resume")
    assert retried(bench).state == "RESUME_COMPLETE"
    assert bench.journal.calls == [("b", "handle_resume"), ("c", "handle_resume")]


def test_a_deletion_goes_on(bench: Any) -> None:
    bench.create(CHAIN)
    bench.fails("b", "handle_delete")
    assert bench.delete().state == "DELETE_FAILED"
    bench.heals("b", "handle_delete")
    assert retried(bench).state == "DELETE_COMPLETE"
    assert bench.journal.calls == [("b", "handle_delete"), ("a", "handle_delete")]


def test_a_rollback_goes_on_and_skips_what_it_skipped(bench: Any) -> None:
    box = "{{type: Test::Box, properties: {{value: {0}}}}}"
    two = f"a: {box}\nb: {box}"
    bench.create(two.format("one"))
    bench.update(two.format("two"))
    bench.fails("b", "handle_update")
    assert bench.run(RollbackStack("s", 1, ("a",))).state == "ROLLBACK_FAILED"
    bench.heals("b", "handle_update")
    bench.types["Test::Box"].needs_replace_failed = lambda self: False
    assert retried(bench).state == "ROLLBACK_COMPLETE"
    assert bench.journal.of("a") == []
    assert bench.resource("a").properties["value"] == "two"
    assert bench.resource("b").properties["value"] == "one"


def test_what_has_not_failed_is_not_tried_again(bench: Any) -> None:
    bench.create(CHAIN)
    with pytest.raises(NotSupported, match="nothing to try again"):
        retried(bench)


def test_what_runs_is_not_tried_again(bench: Any) -> None:
    bench.create(CHAIN)
    bench.engine.begin(CheckStack("s"))
    with pytest.raises(Conflict):
        bench.engine.begin(RetryStack("s"))


def test_a_part_stays_a_part(bench: Any) -> None:
    bench.create("a: {type: Test::Box}\nb: {type: Test::Box}")
    bench.fails("a", "handle_update")
    other = (
        "a: {type: Test::Box, properties: {value: x}}\nb: {type: Test::Box, properties: {value: x}}"
    )
    bench.run(UpdateStack("s", bench.bundle(other), targets=("a",)))
    bench.heals("a", "handle_update")
    assert retried(bench).state == "UPDATE_COMPLETE"
    assert bench.journal.of("b") == []
