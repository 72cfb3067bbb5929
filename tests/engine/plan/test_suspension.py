"""Partly suspended stacks can be resumed."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.core.engine.actions import MarkResource
from zonda.hooks.errors import NotSupported

TWO = "a: {type: Test::Box}\nb: {type: Test::Box, depends_on: a}\nc: {type: Test::Box}"


def test_a_suspension_that_failed_half_way_can_be_resumed(bench: Any) -> None:
    bench.create(TWO)
    bench.fails("b", "handle_suspend")
    assert bench.suspend().state == "SUSPEND_FAILED"
    bench.journal.calls.clear()
    assert bench.resume().state == "RESUME_COMPLETE"
    assert sorted(bench.journal.calls) == [("b", "handle_resume"), ("c", "handle_resume")]
    assert bench.states() == {
        "a": "CREATE_COMPLETE",
        "b": "RESUME_COMPLETE",
        "c": "RESUME_COMPLETE",
    }
    assert bench.update(TWO).state == "UPDATE_COMPLETE"


def test_what_was_resumed_is_not_resumed_again(bench: Any) -> None:
    bench.create(TWO)
    bench.suspend()
    bench.fails("b", "handle_resume")
    assert bench.resume().state == "RESUME_FAILED"
    bench.heals("b", "handle_resume")
    bench.journal.calls.clear()
    assert bench.resume().state == "RESUME_COMPLETE"
    assert bench.journal.calls == [("b", "handle_resume")]


def test_a_check_of_a_suspended_stack_leaves_it_suspended(bench: Any) -> None:
    bench.create(TWO)
    bench.suspend()
    assert bench.check().state == "CHECK_COMPLETE"
    with pytest.raises(NotSupported, match="suspended"):
        bench.update(TWO)
    assert bench.resume().state == "RESUME_COMPLETE"
    assert set(bench.states().values()) == {"RESUME_COMPLETE"}
    assert bench.update(TWO).state == "UPDATE_COMPLETE"


def test_a_resource_that_failed_is_not_suspended(bench: Any) -> None:
    bench.fails("b", "handle_create")
    bench.create(TWO)
    assert bench.suspend().state == "SUSPEND_FAILED"
    assert bench.states()["b"] == "CREATE_FAILED"
    assert ("b", "handle_suspend") not in bench.journal.calls
    assert bench.states()["a"] == "CREATE_COMPLETE", "its dependant comes first"
    assert bench.states()["c"] == "SUSPEND_COMPLETE"


def test_a_suspension_is_tried_again_after_it_failed(bench: Any) -> None:
    bench.create(TWO)
    bench.fails("b", "handle_suspend")
    bench.suspend()
    bench.heals("b", "handle_suspend")
    assert bench.suspend().state == "SUSPEND_COMPLETE"
    assert set(bench.states().values()) == {"SUSPEND_COMPLETE"}


@pytest.mark.parametrize("how", ["marked", "checked"])
def test_what_is_not_well_is_not_well_after_it_was_resumed(bench: Any, how: str) -> None:
    bench.create(TWO)
    before = bench.resource("a").physical_id
    bench.suspend()
    if how == "marked":
        bench.run(MarkResource("s", "a"))
    else:
        bench.fails("a", "handle_check")
        bench.check()
    assert bench.states()["a"] == "CHECK_FAILED"
    assert bench.resume().state == "RESUME_COMPLETE"

    assert bench.update(TWO).state == "UPDATE_COMPLETE"

    assert bench.resource("a").physical_id != before


def test_an_update_may_replace_what_cannot_be_resumed(bench: Any) -> None:
    """Then nothing is suspended any more, and the stack can be updated like any other."""
    bench.create(TWO)
    bench.suspend()
    bench.fails("b", "handle_resume")
    bench.resume()
    assert bench.stack.suspended
    assert bench.update(TWO).state == "UPDATE_COMPLETE"
    assert not bench.stack.suspended
    assert bench.update(TWO.replace("c:", "d:")).state == "UPDATE_COMPLETE"


def test_what_an_update_leaves_suspended_is_told_and_resumed(bench: Any) -> None:
    bench.create(TWO)
    bench.suspend()
    bench.fails("a", "handle_resume")
    bench.resume()
    assert bench.states()["b"] == "SUSPEND_COMPLETE", "it waited for a"
    view = bench.update(TWO)
    assert view.status_reason.endswith("; still suspended: b")
    assert view.suspended
    with pytest.raises(NotSupported, match="suspended"):
        bench.update(TWO)
    assert bench.resume().state == "RESUME_COMPLETE"
    assert not bench.stack.suspended
    assert bench.update(TWO).state == "UPDATE_COMPLETE"
