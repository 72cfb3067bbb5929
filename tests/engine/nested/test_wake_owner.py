"""The end of a nested stack wakes its owner at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.engine.nested_trees import FILES, Tree, root, template

from zonda.core.engine.actions import (
    Action,
    CheckStack,
    CreateStack,
    DeleteSnapshot,
    DeleteStack,
    RestoreSnapshot,
    ResumeStack,
    SnapshotStack,
    SuspendStack,
    UpdateStack,
)
from zonda.core.engine.runtime.engine import Engine
from zonda.hooks.testing.fakes import FakeClock

LONG = 20.0
#: More owners than threads, two levels below each.
MANY = "\n".join(f"c{n}: {{type: child.yaml, properties: {{v: VALUE}}}}" for n in range(20))
#: What is backed up is polled once: that would take its time.
QUICK = {name: text.replace("Test::Vault", "Test::Box") for name, text in FILES.items()}


class Still(FakeClock):
    """Stands still, however many threads ask it."""


@pytest.fixture
def ended(bench: Any, start: Callable[..., Engine]) -> Callable[[Action], str]:
    """Carries an action out while the clock stands still; gives how it ended."""
    clock = Still()
    engine = start("own", clock)

    def carry_out(action: Action) -> str:
        accepted = engine.submit(action).result(LONG)
        engine.drive(accepted.stack_id)
        with ThreadPoolExecutor(1) as waiting:
            found = waiting.submit(engine.wait, accepted.stack_id, 1000.0)
            try:
                return found.result(LONG).state
            finally:
                clock.advance(0.0 if found.done() else 1000.0)

    return carry_out


def test_every_action_comes_to_its_end_without_a_clock(bench: Any, ended: Any) -> None:
    tree = Tree(bench)

    def bundle(value: str) -> Any:
        return tree.bundle(template(MANY.replace("VALUE", value)), QUICK)

    assert ended(CreateStack("s", bundle("one"))) == "CREATE_COMPLETE"
    assert ended(UpdateStack("s", bundle("two"))) == "UPDATE_COMPLETE"
    assert ended(UpdateStack("s", bundle("two"))) == "UPDATE_COMPLETE"
    assert ended(CheckStack("s")) == "CHECK_COMPLETE"
    assert ended(SuspendStack("s")) == "SUSPEND_COMPLETE"
    assert ended(ResumeStack("s")) == "RESUME_COMPLETE"
    assert ended(SnapshotStack("s", "one")) == "SNAPSHOT_COMPLETE"
    assert ended(RestoreSnapshot("s", "one")) == "RESTORE_COMPLETE"
    assert ended(DeleteSnapshot("s", "one")) == "RESTORE_COMPLETE"
    assert ended(DeleteStack("s")) == "DELETE_COMPLETE"


def test_a_failure_in_every_leaf_is_told_at_once_and_undone(bench: Any, ended: Any) -> None:
    bench.fails("b", "handle_create")
    text = template(MANY.replace("VALUE", "one"))
    action = CreateStack("s", Tree(bench).bundle(text, QUICK), rollback=True)
    assert ended(action) == "ROLLBACK_COMPLETE"


def test_a_deletion_overtakes_what_is_being_made_below(
    bench: Any, start: Callable[..., Engine]
) -> None:
    gate, began = threading.Event(), threading.Event()

    def hold(box: Any) -> None:
        began.set()
        gate.wait(LONG)

    bench.journal.behave["b", "handle_create"] = hold
    engine = start("own", Still())
    accepted = engine.submit(CreateStack("s", Tree(bench).bundle(root(), QUICK))).result(LONG)
    engine.drive(accepted.stack_id)
    assert began.wait(LONG)
    engine.submit(DeleteStack("s")).result(LONG)
    gate.set()
    with ThreadPoolExecutor(1) as waiting:
        view = waiting.submit(engine.wait, accepted.stack_id).result(LONG)
    assert view.state == "DELETE_COMPLETE"
    assert bench.journal.of("b")[-1] == "handle_delete"
