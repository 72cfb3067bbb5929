"""Classes without recovery of their own, interrupted in each of their handlers."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.conftest import Slow

from zonda.core.engine.actions import (
    AdoptStack,
    CreateStack,
    ResumeStack,
    SnapshotStack,
    SuspendStack,
    UpdateStack,
)
from zonda.hooks.text.borders import Interruption

ONE = "a: {type: Test::Third, properties: {value: one}}"
TWO = "a: {type: Test::Third, properties: {value: two}}"


class Third(Slow):
    """Somebody else's: it has every handler, and the default policy."""

    def handle_snapshot(self) -> Any:
        return self.journal.note(self, "handle_snapshot")

    def handle_adopt(self, resource_data: Any) -> Any:
        super().handle_adopt(resource_data)
        return self.journal.note(self, "handle_adopt")


class Died(Interruption):
    """The process."""


def die(resource: Any) -> None:
    raise Died


ACTIONS = {
    "create": lambda bench: CreateStack("s", bench.bundle(ONE)),
    "adopt": lambda bench: AdoptStack("s", bench.bundle(ONE), {"a": {"resource_id": "thing"}}),
    "update": lambda bench: UpdateStack("s", bench.bundle(TWO)),
    "suspend": lambda bench: SuspendStack("s"),
    "resume": lambda bench: ResumeStack("s"),
    "snapshot": lambda bench: SnapshotStack("s", "one"),
}


@pytest.fixture
def third(bench: Any) -> Any:
    bench.types["Test::Third"] = type("Third", (Third,), {"journal": bench.journal})
    bench.restart()
    return bench


def cut_off(bench: Any, name: str) -> None:
    """Begin an action, lose the engine inside the handler, and go on with another one."""
    if name not in ("create", "adopt"):
        bench.create(ONE)
    if name == "resume":
        bench.suspend()
    handler = f"handle_{name}"
    bench.journal.behave["a", handler] = die
    with pytest.raises(Died):
        bench.run(ACTIONS[name](bench))
    bench.heals("a", handler)
    bench.journal.calls.clear()
    bench.restart().recover()
    bench.engine.settle()


@pytest.mark.parametrize("name", ACTIONS)
def test_what_was_cut_off_has_failed_and_keeps_its_id(name: str, third: Any) -> None:
    cut_off(third, name)

    found = third.resource("a")
    assert third.stack.state == f"{name.upper()}_FAILED"
    assert (found.state, found.physical_id is None) == (f"{name.upper()}_FAILED", False)
    assert f"interrupted in handle_{name}, outcome unknown" in found.status_reason
    assert third.journal.calls == [], "nothing was called again"


@pytest.mark.parametrize("name", [name for name in ACTIONS if name != "adopt"])
def test_a_later_deletion_cleans_up_what_was_cut_off(name: str, third: Any) -> None:
    cut_off(third, name)
    removed: list[str] = []
    third.journal.behave["a", "handle_delete"] = lambda box: removed.append(box.resource_id)
    physical = third.resource("a").physical_id

    assert third.delete().state == "DELETE_COMPLETE"

    assert removed == [physical]


def test_what_was_cut_off_while_it_was_adopted_is_not_ours_to_delete(third: Any) -> None:
    cut_off(third, "adopt")

    assert third.delete().state == "DELETE_COMPLETE"

    assert third.journal.calls == []


@pytest.mark.parametrize("call", ["handle_delete", "check"])
def test_a_deletion_that_was_cut_off_is_carried_on(call: str, third: Any) -> None:
    third.create(ONE)
    third.journal.behave["a", call] = die
    with pytest.raises(Died):
        third.delete()
    third.heals("a", call)
    third.journal.calls.clear()
    stack = third.stack.id

    third.restart().recover()
    third.engine.settle()

    assert third.engine.reader.stack(stack).state == "DELETE_COMPLETE"
    assert third.journal.of("a")[-1] == "check"


def test_a_check_that_was_cut_off_is_made_again(third: Any) -> None:
    third.create(ONE)
    third.journal.behave["a", "handle_check"] = die
    with pytest.raises(Died):
        third.check()
    third.heals("a", "handle_check")

    third.restart().recover()
    third.engine.settle()

    assert third.stack.state == "CHECK_COMPLETE"
