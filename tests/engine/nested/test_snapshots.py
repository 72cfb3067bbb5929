"""Snapshots of stacks with nested ones: taken, restored, deleted."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.nested_trees import FILES, Tree, root, template
from tests.engine.plan.test_snapshots import Vault

from zonda.core.engine.actions import (
    DeleteSnapshot,
    DeleteStack,
    RestoreSnapshot,
    ResumeStack,
    RetryStack,
    SnapshotStack,
    SuspendStack,
    UpdateStack,
)


@pytest.fixture
def tree(bench: Any) -> Tree:
    bench.types["Test::Vault"] = type("Vault", (Vault,), {"journal": bench.journal})
    bench.restart()
    return Tree(bench)


def parts(tree: Tree) -> dict[str, list[tuple[str, str]]]:
    """(action, status) of the snapshots of each stack."""
    return {
        way: [(each.action, each.status) for each in tree.reader.snapshots(stack.id)]
        for way, stack in tree.stacks().items()
    }


DONE = [("SNAPSHOT", "COMPLETE")]


def test_a_snapshot_is_taken_of_every_nested_stack(tree: Tree) -> None:
    tree.create(root())
    assert tree.run(SnapshotStack("s", "first")).state == "SNAPSHOT_COMPLETE"
    assert parts(tree) == {"": DONE, "c": DONE, "c/d": DONE}
    assert set(tree.states().values()) == {"SNAPSHOT_COMPLETE"}
    assert tree.bench.journal.calls.count(("b", "handle_snapshot")) == 1


def test_what_was_given_is_gone_back_to_in_the_leaf(tree: Tree) -> None:
    tree.create(root())
    tree.run(SnapshotStack("s", "first"))
    tree.update(root("two"))
    assert tree.run(RestoreSnapshot("s", "first")).state == "RESTORE_COMPLETE"
    for way in ("c/a", "c/d/b"):
        view = tree.reader.resource(tree.resource(way).stack_id, way[-1])
        assert view.properties == {"value": "one", "backup": "backup of one"}
    assert {stack.action for stack in tree.stacks().values()} == {"RESTORE"}


def test_going_back_visits_what_is_unchanged_by_its_template(tree: Tree) -> None:
    tree.create(root())
    tree.run(SnapshotStack("s", "first"))
    assert tree.run(RestoreSnapshot("s", "first")).state == "RESTORE_COMPLETE"
    assert tree.calls("b")[-1] == "handle_update"
    before = len(tree.bench.journal.calls)
    tree.update(root())
    assert [call for call in tree.bench.journal.calls[before:] if call[0] in "ab"] == []


def test_two_snapshots_are_told_apart_below(tree: Tree) -> None:
    tree.create(root())
    tree.run(SnapshotStack("s", "first"))
    tree.update(root("two"))
    tree.run(SnapshotStack("s", "second"))
    tree.run(RestoreSnapshot("s", "first"))
    view = tree.reader.resource(tree.resource("c/d/b").stack_id, "b")
    assert view.properties["backup"] == "backup of one"
    tree.run(RestoreSnapshot("s", "second"))
    view = tree.reader.resource(tree.resource("c/d/b").stack_id, "b")
    assert view.properties["backup"] == "backup of two"


def test_deleting_a_snapshot_deletes_its_parts_and_no_others(tree: Tree) -> None:
    tree.create(root())
    tree.run(SnapshotStack("s", "first"))
    tree.update(root("two"))
    tree.run(SnapshotStack("s", "second"))
    state = tree.run(DeleteSnapshot("s", "first")).state
    assert state == "SNAPSHOT_COMPLETE"
    assert parts(tree) == {"": DONE, "c": DONE, "c/d": DONE}
    assert tree.calls("b").count("delete backup of one") == 1
    assert "delete backup of two" not in tree.calls("b")


def test_a_part_that_failed_is_taken_by_a_retry_and_the_others_are_not_again(tree: Tree) -> None:
    tree.create(root())
    tree.bench.fails("b", "handle_snapshot")
    failed = tree.run(SnapshotStack("s", "first"))
    assert failed.state == "SNAPSHOT_FAILED"
    assert "resources.c.resources.d.resources.b: no" in failed.status_reason
    tree.bench.heals("b", "handle_snapshot")
    assert tree.run(RetryStack("s")).state == "SNAPSHOT_COMPLETE"
    assert parts(tree) == {"": DONE, "c": DONE, "c/d": DONE}
    assert tree.calls("a").count("handle_snapshot") == 1
    assert tree.run(RestoreSnapshot("s", "first")).state == "RESTORE_COMPLETE"


def test_a_part_that_failed_can_be_deleted_with_the_rest(tree: Tree) -> None:
    tree.create(root())
    tree.bench.fails("b", "handle_snapshot")
    tree.run(SnapshotStack("s", "first"))
    tree.run(DeleteSnapshot("s", "first"))
    assert parts(tree) == {"": [], "c": [], "c/d": []}
    assert tree.calls("a").count("delete backup of one") == 1


def test_deleting_the_stack_forgets_what_is_kept_below_first(tree: Tree) -> None:
    tree.create(root())
    tree.run(SnapshotStack("s", "first"))
    assert tree.run(DeleteStack("s")).state == "DELETE_COMPLETE"
    assert tree.calls("b")[-4] == "delete backup of one"
    assert tree.calls("b")[-1] == "handle_delete"


def test_a_nested_stack_that_leaves_takes_its_parts_along(tree: Tree) -> None:
    tree.create(root())
    tree.run(SnapshotStack("s", "first"))
    tree.update(template("r: {type: Test::Box}"))
    assert tree.calls("b")[-4] == "delete backup of one"
    assert tree.calls("b")[-1] == "handle_delete"
    tree.run(RestoreSnapshot("s", "first"))
    assert tree.states()["c/d/b"] == "CREATE_COMPLETE"
    assert tree.run(DeleteSnapshot("s", "first")).state == "RESTORE_COMPLETE"


def test_deletion_policy_snapshot_is_heeded_in_a_nested_stack(tree: Tree) -> None:
    leaf = template(
        "b: {type: Test::Vault, deletion_policy: Snapshot}", "parameters: {v: {type: string}}\n"
    )
    tree.create(root(), files={**FILES, "leaf.yaml": leaf})
    tree.run(DeleteStack("s"))
    calls = [call for call in tree.calls("b") if call.startswith("handle")]
    assert calls[-2:] == ["handle_snapshot", "handle_delete"]


def test_a_deletion_overtakes_a_snapshot_of_the_leaf(tree: Tree) -> None:
    tree.create(root())
    polls: list[bool] = []

    def check(box: Any) -> Any:
        polls.append(True)
        return False

    tree.bench.journal.behave["b", "check_snapshot"] = check
    tree.begin(SnapshotStack("s", "first"), until=lambda: len(polls) > 2)
    del tree.bench.journal.behave["b", "check_snapshot"]
    tree.bench.engine.begin(DeleteStack("s"))
    tree.bench.engine.settle()
    assert tree.reader.stacks(nested=True) == []
    assert "delete backup of one" in tree.calls("a")


def test_what_is_suspended_half_way_down_is_suspended_and_resumed_as_far_as_it_is(
    tree: Tree,
) -> None:
    tree.create(root())
    tree.bench.fails("a", "handle_suspend")
    assert tree.run(SuspendStack("s")).state == "SUSPEND_FAILED"
    tree.bench.heals("a", "handle_suspend")
    assert tree.run(RetryStack("s")).state == "SUSPEND_COMPLETE"
    assert tree.calls("b").count("handle_suspend") == 1
    assert tree.run(ResumeStack("s")).state == "RESUME_COMPLETE"
    assert tree.calls("b").count("handle_resume") == 1


def test_what_a_suspension_did_not_reach_is_not_resumed(tree: Tree) -> None:
    tree.create(root())
    tree.bench.fails("b", "handle_suspend")
    assert tree.run(SuspendStack("s")).state == "SUSPEND_FAILED"
    assert tree.run(ResumeStack("s")).state == "RESUME_COMPLETE"
    assert "handle_resume" not in tree.calls("a")
    assert tree.update(root("two")).state == "UPDATE_COMPLETE"


def test_an_update_after_a_restoration_goes_on_from_it(tree: Tree) -> None:
    tree.create(root())
    tree.run(SnapshotStack("s", "first"))
    tree.update(root("two"))
    tree.bench.fails("b", "handle_update")
    assert tree.run(RestoreSnapshot("s", "first")).state == "RESTORE_FAILED"
    tree.bench.heals("b", "handle_update")
    assert tree.run(RetryStack("s")).state == "RESTORE_COMPLETE"
    view = tree.reader.resource(tree.resource("c/d/b").stack_id, "b")
    assert view.properties["backup"] == "backup of one"
    assert tree.run(UpdateStack("s", tree.bundle(root("two")))).state == "UPDATE_COMPLETE"
