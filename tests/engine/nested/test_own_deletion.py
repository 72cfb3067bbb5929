"""A nested stack that is deleted for its own sake, and the stack above afterwards."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.nested_trees import Tree, root
from tests.engine.plan.test_snapshots import Vault

from zonda.core.engine.actions import DeleteStack, ProtectStack, UpdateStack
from zonda.hooks.errors import ActionInProgress, Conflict, NotSupported


@pytest.fixture
def tree(bench: Any) -> Tree:
    bench.types["Test::Vault"] = type("Vault", (Vault,), {"journal": bench.journal})
    bench.restart()
    tree = Tree(bench)
    tree.create(root())
    return tree


def delete(tree: Tree, way: str) -> None:
    child = tree.stacks()[way]
    tree.run(DeleteStack(child.id, nested=True))
    assert tree.reader.stack_row(child.id).deleted_at is not None


@pytest.mark.parametrize("way", ["c", "c/d"])
def test_the_stack_above_is_deletable_without_it(tree: Tree, way: str) -> None:
    stack_id = tree.bench.stack.id
    delete(tree, way)
    assert tree.calls("b").count("handle_delete") == 1
    tree.run(DeleteStack("s"))
    assert tree.reader.stack_row(stack_id).deleted_at is not None
    assert tree.calls("b").count("handle_delete") == 1


def test_an_update_that_changes_its_owner_makes_it_again(tree: Tree) -> None:
    delete(tree, "c")
    assert tree.update(root("two")).state == "UPDATE_COMPLETE"
    assert {"c/a", "c/d/b"} <= set(tree.states())


def test_a_deletion_that_was_interrupted_goes_on(tree: Tree) -> None:
    child = tree.stacks()["c"]
    polls = iter([False] * 2)
    tree.bench.journal.behave["b", "check"] = lambda resource: next(polls, True)
    tree.bench.engine.begin(DeleteStack(child.id, nested=True))
    tree.bench.steps(1)
    tree.bench.restart().recover()
    tree.bench.engine.settle()
    assert tree.reader.stack_row(child.id).deleted_at is not None


def test_it_waits_until_nothing_runs_above(tree: Tree) -> None:
    child = tree.stacks()["c"]
    tree.begin(UpdateStack("s", tree.bundle(root("two"))))
    with pytest.raises(ActionInProgress):
        tree.bench.engine.begin(DeleteStack(child.id, nested=True))


@pytest.mark.parametrize(("way", "name"), [("", "c"), ("c", "d"), ("c/d", "b")])
def test_what_is_protected_above_or_below_keeps_it(tree: Tree, way: str, name: str) -> None:
    tree.run(ProtectStack(tree.stacks()[way].id, (name,), True))
    with pytest.raises(Conflict, match="protected"):
        delete(tree, "c/d")
    assert "handle_delete" not in tree.calls("b")


def test_what_the_environment_protects_keeps_it(tree: Tree) -> None:
    tree.update(root(), environment="zonda: {protect: {b: true}}")
    with pytest.raises(Conflict, match="protected"):
        delete(tree, "c")


def test_it_is_refused_where_the_stack_is_not_said_to_be_nested(tree: Tree) -> None:
    with pytest.raises(NotSupported, match="is nested in the stack s"):
        tree.run(DeleteStack(tree.stacks()["c"].id))
