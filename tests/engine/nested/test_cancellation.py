"""Stop, overtaking and timeout at the top reach every nested stack."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.handlers.test_cancel import GRACE, sweep, wait
from tests.engine.nested_trees import FILES, Tree, root, template

from zonda.core.engine.actions import (
    CancelStack,
    CreateStack,
    DeleteStack,
    RetryStack,
    RollbackStack,
    UpdateStack,
)
from zonda.hooks.errors import ResourceFailure, UsageError

#: After the leaf's ``b`` comes ``z``; ``b`` is polled.
LEAF = template(
    """
    b: {type: Test::Stuck, properties: {value: {get_param: v}}}
    z: {type: Test::Box, depends_on: b}
    """,
    "parameters: {v: {type: string}}\noutputs: {o: {value: 1}}\n",
)
STUCK = {"child.yaml": FILES["child.yaml"].replace("Test::Vault", "Test::Box"), "leaf.yaml": LEAF}


@pytest.fixture
def told(bench: Any) -> list[str]:
    """What was cancelled."""
    calls: list[str] = []

    class Stuck(bench.types["Test::Slow"]):  # type: ignore[misc]
        def handle_create_cancel(self, token: Any) -> None:
            calls.append("CREATE")

        def handle_update_cancel(self, token: Any) -> None:
            calls.append("UPDATE")

    bench.types["Test::Stuck"] = Stuck
    return calls


@pytest.fixture
def tree(bench: Any, told: list[str]) -> Tree:
    bench.restart()
    return Tree(bench)


def hang(tree: Tree, action: str = "CREATE") -> None:
    """``b`` hangs in the leaf."""
    tree.bench.journal.behave["b", "check"] = lambda r: r.context.operation.action != action


def go_on(tree: Tree) -> None:
    del tree.bench.journal.behave["b", "check"]


def polls(tree: Tree) -> bool:
    return "check" in tree.calls("b")


def creating(tree: Tree, **given: Any) -> None:
    """The creation has come as far as the leaf, and hangs there."""
    hang(tree)
    tree.begin(CreateStack("s", tree.bundle(root(), STUCK), **given), until=lambda: polls(tree))


def running(tree: Tree) -> list[str]:
    return [row.name for stack in tree.stacks().values() for row in tree.rows(stack) if row.op]


def updating(tree: Tree, value: str = "two") -> None:
    tree.create(root(), files=STUCK)
    tree.bench.journal.calls.clear()
    hang(tree, "UPDATE")
    action = UpdateStack("s", tree.bundle(root(value), STUCK))
    tree.begin(action, until=lambda: polls(tree))


def test_a_cancelled_creation_begins_nothing_more_in_the_leaf(tree: Tree) -> None:
    creating(tree)
    tree.bench.engine.begin(CancelStack("s"))
    go_on(tree)
    assert tree.settle().state == "CREATE_FAILED"
    assert tree.bench.stack.status_reason.endswith("User cancelled operation")
    assert tree.states()["c/d/b"] == "CREATE_COMPLETE"
    assert "handle_create" not in tree.calls("z")


def test_after_the_grace_what_hangs_in_the_leaf_is_told(tree: Tree, told: list[str]) -> None:
    creating(tree)
    tree.bench.engine.begin(CancelStack("s"))
    wait(tree.bench, GRACE + 1)
    go_on(tree)
    assert tree.settle().state == "CREATE_FAILED"
    assert told == ["CREATE"]
    assert running(tree) == []
    assert {stack.phase for stack in tree.stacks().values()} == {"IDLE"}


def test_what_was_cancelled_is_gone_on_with_by_a_retry(tree: Tree) -> None:
    creating(tree)
    tree.bench.engine.begin(CancelStack("s"))
    go_on(tree)
    tree.settle()
    assert tree.run(RetryStack("s")).state == "CREATE_COMPLETE"
    assert tree.calls("b").count("handle_create") == 1
    assert tree.states()["c/d/z"] == "CREATE_COMPLETE"


def test_a_cancelled_update_goes_back_in_the_leaf(tree: Tree) -> None:
    updating(tree)
    tree.bench.engine.begin(CancelStack("s", rollback=True))
    go_on(tree)
    assert tree.settle().state == "ROLLBACK_COMPLETE"
    view = tree.reader.resource(tree.resource("c/d/b").stack_id, "b")
    assert view.properties == {"value": "one"}


def test_a_deletion_overtakes_a_creation_in_the_leaf(tree: Tree) -> None:
    creating(tree)
    tree.bench.engine.begin(DeleteStack("s"))
    go_on(tree)
    tree.bench.engine.settle()
    assert tree.reader.stacks(nested=True) == []
    assert "handle_create" not in tree.calls("z")
    assert tree.calls("b")[-2:] == ["handle_delete", "check"]


def test_a_deletion_does_not_wait_for_the_leaf(tree: Tree, told: list[str]) -> None:
    creating(tree)
    tree.bench.engine.begin(DeleteStack("s"))
    tree.bench.engine.settle()
    assert told == ["CREATE"]
    assert tree.reader.stacks(nested=True) == []


def test_an_update_overtakes_another_one_in_the_leaf(tree: Tree) -> None:
    updating(tree)
    tree.bench.engine.begin(UpdateStack("s", tree.bundle(root("three"), STUCK)))
    go_on(tree)
    assert tree.settle().state == "UPDATE_COMPLETE"
    view = tree.reader.resource(tree.resource("c/d/b").stack_id, "b")
    assert view.properties == {"value": "three"}
    assert tree.states()["c/d/z"] == "CREATE_COMPLETE"


def test_an_update_that_wants_the_same_below_lets_it_go_on(tree: Tree) -> None:
    creating(tree)
    more = root() + "  x: {type: Test::Box}\n"
    tree.bench.engine.begin(UpdateStack("s", tree.bundle(more, STUCK)))
    go_on(tree)
    assert tree.settle().state == "UPDATE_COMPLETE"
    assert tree.calls("b").count("handle_create") == 1
    assert tree.stacks()["c"].generation == 1


def test_a_failure_beside_it_rolls_back_what_is_being_made_below(tree: Tree) -> None:
    hang(tree)
    beside = root() + "  x: {type: Test::Slow}\n"

    def check(box: Any) -> bool:
        if box.context.operation.action == "CREATE" and polls(tree):
            raise ResourceFailure("no")
        return bool(box.context.operation.action != "CREATE")

    tree.bench.journal.behave["x", "check"] = check
    action = CreateStack("s", tree.bundle(beside, STUCK), rollback=True)
    tree.begin(action, until=lambda: tree.bench.stack.action == "ROLLBACK")
    go_on(tree)
    assert tree.settle().state == "ROLLBACK_COMPLETE"
    assert list(tree.stacks()) == [""]
    assert tree.calls("b")[-2:] == ["handle_delete", "check"]
    assert "handle_create" not in tree.calls("z")


def test_the_time_of_the_stack_ends_all_below(tree: Tree, told: list[str]) -> None:
    creating(tree, timeout_mins=1)
    wait(tree.bench, 61)
    tree.bench.engine.settle()
    assert tree.bench.stack.state == "CREATE_FAILED"
    assert tree.bench.stack.status_reason.endswith("Create timed out")
    assert told == ["CREATE"]
    assert running(tree) == []
    assert {stack.phase for stack in tree.stacks().values()} == {"IDLE"}
    go_on(tree)
    assert tree.run(RetryStack("s")).state == "CREATE_COMPLETE"


def test_the_time_of_nested_stacks_is_that_of_the_top(tree: Tree) -> None:
    creating(tree, timeout_mins=5)
    deadlines = {stack.deadline for stack in tree.stacks().values()}
    assert len(deadlines) == 1


def test_a_longer_time_counts_below_as_well(tree: Tree) -> None:
    tree.run(CreateStack("s", tree.bundle(root(), STUCK), timeout_mins=1))
    hang(tree, "UPDATE")
    action = UpdateStack("s", tree.bundle(root("two"), STUCK), timeout_mins=5)
    tree.bench.journal.calls.clear()
    tree.begin(action, until=lambda: polls(tree))
    wait(tree.bench, 100)
    assert running(tree) == ["c", "d", "b"]
    go_on(tree)
    assert tree.settle().state == "UPDATE_COMPLETE"
    tree.bench.journal.behave["b", "check"] = lambda r: r.context.operation.action != "DELETE"
    tree.begin(DeleteStack("s"), until=lambda: "handle_delete" in tree.calls("b"))
    wait(tree.bench, 100)
    assert running(tree) == ["c", "d", "b"]


def test_sweeps_leave_alone_what_is_wanted_below(tree: Tree) -> None:
    creating(tree)
    sweep(tree.bench)
    assert running(tree) == ["c", "d", "b"]
    go_on(tree)
    assert tree.settle().state == "CREATE_COMPLETE"


def test_an_engine_that_dies_goes_on_below_where_it_was(tree: Tree) -> None:
    creating(tree)
    tree.bench.restart()
    tree.bench.engine.recover()
    go_on(tree)
    assert tree.settle().state == "CREATE_COMPLETE"
    assert tree.calls("b").count("handle_create") == 1


def test_an_engine_that_dies_while_all_is_stopped_stops_it_below(tree: Tree) -> None:
    creating(tree)
    tree.bench.engine.begin(CancelStack("s"))
    tree.bench.restart()
    tree.bench.engine.recover()
    go_on(tree)
    assert tree.settle().state == "CREATE_FAILED"
    assert "handle_create" not in tree.calls("z")


def values(tree: Tree) -> Any:
    return tree.reader.resource(tree.resource("c/d/b").stack_id, "b").properties["value"]


def test_going_back_to_a_generation_reaches_the_leaf(tree: Tree) -> None:
    tree.create(root("one"), files=STUCK)
    tree.update(root("two"), files=STUCK)
    tree.update(root("three"), files=STUCK)
    assert tree.run(RollbackStack("s", 1)).state == "ROLLBACK_COMPLETE"
    assert values(tree) == "one"
    assert tree.run(RollbackStack("s", 2)).state == "ROLLBACK_COMPLETE"
    assert values(tree) == "two"


def test_going_back_brings_back_the_files_of_then(tree: Tree) -> None:
    tree.create(root(), files=STUCK)
    other = {**STUCK, "leaf.yaml": LEAF.replace("z: {type", "y: {type")}
    tree.update(root(), files=other)
    assert "c/d/y" in tree.states()
    tree.run(RollbackStack("s", 1))
    assert "c/d/z" in tree.states()
    assert "c/d/y" not in tree.states()


def test_an_owner_that_is_skipped_stays_as_it_is_with_all_below(tree: Tree) -> None:
    tree.create(root("one"), files=STUCK)
    tree.update(root("two"), files=STUCK)
    assert tree.run(RollbackStack("s", 1, ("c",))).state == "ROLLBACK_COMPLETE"
    assert values(tree) == "two"
    assert tree.update(root("one"), files=STUCK).state == "UPDATE_COMPLETE"
    assert values(tree) == "one"


def test_an_update_of_one_owner_leaves_the_others_alone(tree: Tree) -> None:
    two = root("one") + "  e: {type: child.yaml, properties: {v: one}}\n"
    tree.create(two, files=STUCK)
    changed = two.replace("v: one", "v: two")
    action = UpdateStack("s", tree.bundle(changed, STUCK), targets=("e",))
    assert tree.run(action).state == "UPDATE_COMPLETE"
    assert values(tree) == "one"
    assert tree.stacks()["c"].generation == 1
    view = tree.reader.resource(tree.resource("e/d/b").stack_id, "b")
    assert view.properties["value"] == "two"


def test_a_member_is_no_target(tree: Tree) -> None:
    tree.create(root("one"), files=STUCK)
    with pytest.raises(UsageError, match="no resource c/d"):
        tree.run(UpdateStack("s", tree.bundle(root("two"), STUCK), targets=("c/d",)))


# -- housekeeping ----------------------------------------------------------------------------------


def templates(tree: Tree) -> int:
    with tree.bench.store.transaction() as tx:
        return int(tx._execute("SELECT count(*) FROM template").fetchone()[0])


def forget(tree: Tree, days: float = 200.0) -> None:
    tree.bench.clock.advance(days * 86400.0)
    with tree.bench.store.transaction() as tx:
        now = tree.bench.clock.now()
        for _ in range(2):  # what is built on goes after what builds on it
            tx.forget(now - 90 * 86400.0, now - 3600.0, now - 86400.0)
    tree.bench.restart()


def test_what_nested_templates_build_on_is_kept_as_long_as_they_are(tree: Tree) -> None:
    tree.create(root("one"), files=STUCK)
    for number in range(4):  # the nested stacks are not planned by these
        tree.update(root("one") + f"  x{number}: {{type: Test::Box}}\n", files=STUCK)
    assert tree.stacks()["c"].generation == 1
    forget(tree)
    assert templates(tree) == 4  # the root's last and first, and the two that build on that
    assert tree.update(root("two"), files=STUCK).state == "UPDATE_COMPLETE"
    forget(tree)
    # of what was not touched, r and c/d/z, there is still what it was made from
    assert templates(tree) == 5
    assert tree.run(DeleteStack("s")).state == "DELETE_COMPLETE"


def test_nothing_is_left_of_nested_stacks_that_were_deleted(tree: Tree) -> None:
    tree.create(root(), files=STUCK)
    tree.run(DeleteStack("s"))
    forget(tree)
    with tree.bench.store.transaction() as tx:
        left = {
            table: tx._execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("stack", "template", "event", "action", "resource", "edge", "snapshot")
        }
    assert set(left.values()) == {0}


def test_what_was_left_alone_keeps_the_files_that_it_was_made_of(tree: Tree) -> None:
    tree.create(root().replace("child.yaml,", "child.yaml, deletion_policy: Retain,"), files=STUCK)
    name = tree.stacks()["c"].name
    tree.run(DeleteStack("s"))
    forget(tree)
    assert tree.run(DeleteStack(name)).state == "DELETE_COMPLETE"
    assert "handle_delete" in tree.calls("b")
