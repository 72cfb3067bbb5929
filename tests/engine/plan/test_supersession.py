"""Operations that a newer plan supersedes have not failed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.engine.nested_trees import Tree, root, template

from zonda.core.engine.actions import Action, CancelStack, CreateStack, DeleteStack, UpdateStack
from zonda.hooks.errors import ResourceFailure

#: Moves of the engine after which the newer plan comes, while the older one runs.
STEPS = (0, 1, 2, 3, 5, 8, 12, 17, 23)
TWO = root("two")
WITHOUT = template("r: {type: Test::Box}")

NEWER: dict[str, Callable[[Tree], Action]] = {
    "another update": lambda tree: UpdateStack("s", tree.bundle(root("three"))),
    "the same once more": lambda tree: UpdateStack("s", tree.bundle(TWO)),
    "back to before": lambda tree: UpdateStack("s", tree.bundle(root())),
    "without it": lambda tree: UpdateStack("s", tree.bundle(WITHOUT)),
    "cancel": lambda tree: CancelStack("s", rollback=True),
    "delete": lambda tree: DeleteStack("s"),
}
ENDS = {"cancel": "ROLLBACK_COMPLETE", "delete": "DELETE_COMPLETE"}


@pytest.fixture
def tree(bench: Any) -> Tree:
    """Two levels of nested stacks, with boxes in them that take some polls."""
    bench.types["Test::Vault"] = bench.types["Test::Slow"]
    for name in ("a", "b"):
        slow(bench, name, iter([False, False, True] * 50))
    return Tree(bench)


def slow(bench: Any, name: str, polls: Any) -> None:
    for call in ("handle_create", "handle_update"):
        bench.journal.behave[name, call] = lambda resource: "token"
    bench.journal.behave[name, "check"] = lambda resource: next(polls)


def told(tree: Tree) -> list[str]:
    """The failures that sinks are told of."""
    return [
        f"{each.stack_name} {each.resource_name} {each.state} {each.reason}"
        for each in tree.reader.events_after(0, 10_000)
        if each.status == "FAILED"
    ]


def ended(tree: Tree, newer: Action) -> str:
    """The state in which a newer action leaves the stack."""
    key = tree.bench.stack.id
    assert not tree.bench.stack.idle
    tree.bench.engine.begin(newer)
    tree.bench.engine.settle()
    state: str = tree.reader.stack_by_id(key).state
    return state


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("newer", NEWER)
def test_an_update_that_is_superseded_fails_nowhere(tree: Tree, newer: str, steps: int) -> None:
    tree.create(root())
    tree.bench.engine.begin(UpdateStack("s", tree.bundle(TWO)))
    tree.bench.steps(steps)

    assert ended(tree, NEWER[newer](tree)) == ENDS.get(newer, "UPDATE_COMPLETE")

    assert told(tree) == []


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("newer", NEWER)
def test_a_creation_that_is_superseded_fails_nowhere(tree: Tree, newer: str, steps: int) -> None:
    tree.bench.engine.begin(CreateStack("s", tree.bundle(TWO)))
    tree.bench.steps(steps)

    assert ended(tree, NEWER[newer](tree)) == ENDS.get(newer, "UPDATE_COMPLETE")

    assert told(tree) == []


def test_the_history_of_what_is_nested_says_that_it_was_superseded(tree: Tree) -> None:
    tree.create(root())
    tree.begin(UpdateStack("s", tree.bundle(TWO)), lambda: "c" in tree.stacks() and busy(tree, "c"))

    assert ended(tree, NEWER["another update"](tree)) == "UPDATE_COMPLETE"

    for way in ("", "c"):
        found = tree.reader.actions(tree.stacks()[way].id)
        ends = [(each.action, each.status) for each in found]
        assert ends[0] == ("CREATE", "COMPLETE")
        assert ("UPDATE", "SUPERSEDED") in ends
        assert ends[-1] == ("UPDATE", "COMPLETE")
        assert tree.reader.list_failed(tree.stacks()[way].id) == []


def busy(tree: Tree, way: str) -> bool:
    return tree.stacks()[way].phase != "IDLE"


def test_what_really_fails_while_it_is_superseded_is_told(tree: Tree) -> None:
    tree.create(root())
    tree.begin(UpdateStack("s", tree.bundle(TWO)), lambda: tree.resource("c/a").op == "UPDATE")

    def check(resource: Any) -> bool:
        if resource.context.operation.action == "UPDATE":
            raise ResourceFailure("out of paper")
        return True

    tree.bench.journal.behave["a", "check"] = check

    assert ended(tree, NEWER["without it"](tree)) == "UPDATE_COMPLETE"

    assert [each.partition(" ")[2] for each in told(tree)][:1] == [
        "a UPDATE_FAILED resources.a: out of paper"
    ]


def test_what_fails_with_the_stack_above_is_told(tree: Tree) -> None:
    """That is a failure: of what runs beside it, with a rollback on."""
    text = template(
        """
        r: {type: Test::Slow, properties: {value: two}}
        c: {type: child.yaml, properties: {v: two}}
        """
    )
    tree.create(text.replace("two", "one"))
    slow(tree.bench, "r", iter([False, False, False]))
    action = UpdateStack("s", tree.bundle(text), rollback=True)
    tree.begin(action, lambda: busy(tree, "c") and tree.resource("r").op == "UPDATE")
    tree.bench.fails("r", "check", ResourceFailure("out of paper"))
    tree.bench.engine.settle()

    assert any("UPDATE_FAILED Stopped with the stack above" in each for each in told(tree))
