"""Resources that moved into another stack move back when nothing runs on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.engine.conftest import KEY
from tests.engine.plan.test_moves_across import Layout, N, Tree, pair, path, ways, with_last

from zonda.core.engine.actions import (
    CancelStack,
    CreateStack,
    RestoreSnapshot,
    SnapshotStack,
    UpdateStack,
)
from zonda.core.store.values.sealing import Sealer
from zonda.core.store.write.database import open_store
from zonda.hooks.errors import Conflict, NotSupported

SLOW = "{type: Test::Slow, properties: {value: %s}}"
BEFORE = Layout(f"a: {SLOW % 'one'}\nlast: {SLOW % 'one'}\n")
AFTER = Layout(
    f"nested: {{type: nested.yaml}}\nlast: {SLOW % 'two'}\n",
    ((N, f"resources:\n  b: {SLOW % 'two'}\n"),),
    {"a": "nested.b"},
)


@pytest.fixture
def tree() -> Iterator[Tree]:
    store = open_store(":memory:", sealer=Sealer(KEY))
    yield Tree(store)
    store.close()


def begun(tree: Tree, ends: list[int]) -> str:
    """Begin the update, and go on until what has moved is being updated; gives what it was."""
    tree.run(tree.bring(CreateStack, BEFORE))
    key = tree.ids()["a"]
    tree.journal.behave["b", "check"] = lambda _: bool(ends)
    tree.engine.begin(tree.bring(UpdateStack, AFTER, rollback=True))
    while "check" not in tree.journal.of("b"):
        assert tree.engine._run_once()
    assert tree.ids()["nested/b"] == key
    return key


def fails_after(tree: Tree) -> Callable[[Any], bool]:
    def check(_: Any) -> bool:
        if "check" in tree.journal.of("b"):
            raise RuntimeError("no")
        return tree.stack.action != "UPDATE"

    return check


@pytest.mark.parametrize("restarts", [False, True])
def test_a_rollback_waits_for_what_runs_on_it(tree: Tree, *, restarts: bool) -> None:
    ends: list[int] = []
    tree.journal.behave["last", "check"] = fails_after(tree)
    key = begun(tree, ends)
    tree.steps(30)
    assert tree.ids()["nested/b"] == key
    assert tree.stack.state == "UPDATE_FAILED"
    if restarts:
        tree.restart().recover()
    tree.journal.behave.pop(("last", "check"))
    ends.append(1)
    while tree.engine._run_once():
        pass
    assert tree.stack.state == "ROLLBACK_COMPLETE"
    assert tree.ids()["a"] == key
    assert sorted(tree.ids()) == ["a", "last"]
    assert "handle_create" not in tree.journal.of("b")


def test_a_cancellation_that_would_have_to_wait_is_refused(tree: Tree) -> None:
    ends: list[int] = []
    key = begun(tree, ends)
    with pytest.raises(Conflict, match="Resource nested/b of stack s cannot go back to a yet"):
        tree.engine.begin(CancelStack("s", True))
    ends.append(1)
    while tree.engine._run_once():
        pass
    assert tree.stack.state == "UPDATE_COMPLETE"
    assert tree.ids()["nested/b"] == key


@ways
def test_a_cancellation_after_every_step_brings_it_back_or_is_refused(old: str, new: str) -> None:
    steps, ended = 0, False
    while not ended:
        steps += 3
        store = open_store(":memory:", sealer=Sealer(KEY))
        tree = Tree(store)
        before, after = pair(old, new)
        tree.run(tree.bring(CreateStack, with_last(before, "one")))
        then = tree.ids()
        tree.engine.begin(tree.bring(UpdateStack, with_last(after, "two"), rollback=True))
        tree.steps(steps)
        place = path(old)
        try:
            tree.engine.begin(CancelStack("s", True))
        except NotSupported:
            ended, place = True, path(new)
        except Conflict:
            place = path(new)
        while tree.engine._run_once():
            pass
        assert tree.stack.status == "COMPLETE", (steps, tree.stack.status_reason)
        assert tree.ids()[place] == then[path(old)], steps
        assert tree.delete().state == "DELETE_COMPLETE", steps
        assert not tree.world, steps
        store.close()


@ways
def test_a_snapshot_of_before_brings_it_back(tree: Tree, old: str, new: str) -> None:
    before, after = pair(old, new)
    tree.run(tree.bring(CreateStack, before))
    then = tree.ids()
    tree.run(SnapshotStack("s", "one"))
    tree.run(tree.bring(UpdateStack, after))
    ended = tree.run(RestoreSnapshot("s", "one"))
    assert ended.state == "RESTORE_COMPLETE", ended.status_reason
    assert tree.ids()[path(old)] == then[path(old)]
