"""Adoption and abandonment of stacks with nested ones."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.nested_trees import Tree, root
from tests.engine.plan.test_adoption import abandoned, exporting
from tests.engine.plan.test_snapshots import Vault

from zonda.core.engine.actions import (
    AdoptStack,
    CheckStack,
    DeleteStack,
    ImportResource,
    RetryStack,
    UpdateStack,
)
from zonda.hooks.errors import Conflict, NotSupported, UsageError


@pytest.fixture
def tree(bench: Any) -> Tree:
    bench.types["Test::Vault"] = type("Vault", (Vault,), {"journal": bench.journal})
    bench.restart()
    return Tree(bench)


#: As Heat's ``stack abandon`` gives it: an owner's entry is the document of its nested stack.
HEATS: dict[str, Any] = {
    "r": {"name": "r", "resource_id": "thing-r", "type": "Test::Box", "action": "CREATE"},
    "c": {
        "name": "s-c-x2p4",
        "id": "4d5e",
        "action": "CREATE",
        "status": "COMPLETE",
        "template": {},
        "resources": {
            "a": {"name": "a", "resource_id": "thing-a", "resource_data": {"signal": "kept"}},
            "d": {
                "name": "s-c-x2p4-d-77",
                "id": "9f0a",
                "resources": {"b": {"name": "b", "resource_id": "thing-b"}},
            },
        },
    },
}


def adopt(tree: Tree, things: Any = None, name: str = "s", **given: Any) -> Any:
    bundle = tree.bundle(root())
    return tree.run(AdoptStack(name, bundle, HEATS if things is None else things, **given))


def made_or_deleted(tree: Tree) -> list[tuple[str, str]]:
    calls = tree.bench.journal.calls
    return [call for call in calls if call[1] in ("handle_create", "handle_delete")]


def test_heats_document_is_adopted_all_the_way_down(tree: Tree) -> None:
    assert adopt(tree).state == "ADOPT_COMPLETE"
    assert set(tree.states().values()) == {"ADOPT_COMPLETE"}
    assert tree.resource("c/a").physical_id == "thing-a"
    assert tree.resource("c/d/b").physical_id == "thing-b"
    assert {stack.action for stack in tree.stacks().values()} == {"ADOPT"}
    assert made_or_deleted(tree) == []


def test_what_was_adopted_is_a_stack_like_any_other(tree: Tree) -> None:
    adopt(tree)
    assert tree.run(CheckStack("s")).state == "CHECK_COMPLETE"
    assert tree.update(root("two")).state == "UPDATE_COMPLETE"
    assert tree.run(DeleteStack("s")).state == "DELETE_COMPLETE"
    assert {name for name, call in made_or_deleted(tree)} == {"r", "a", "b"}


def test_what_was_abandoned_is_bound_again(tree: Tree) -> None:
    tree.create(root())
    ids = {way: tree.resource(way).physical_id for way in ("r", "c/a", "c/d/b")}
    document, _ = abandoned(tree.bench)
    assert tree.reader.stacks(nested=True) == []
    before = len(tree.bench.journal.calls)
    assert adopt(tree, document["resources"]).state == "ADOPT_COMPLETE"
    assert {way: tree.resource(way).physical_id for way in ids} == ids
    assert {call for _, call in tree.bench.journal.calls[before:]} <= {"handle_adopt"}
    assert tree.run(DeleteStack("s")).state == "DELETE_COMPLETE"


def test_what_is_at_work_below_is_not_abandoned(tree: Tree) -> None:
    tree.create(root())
    with tree.bench.store.transaction() as tx:
        tx.stack(tree.stacks()["c"].id).phase = "UP"
    with pytest.raises(Conflict, match=r"Stack s-c-.* already has an action"):
        abandoned(tree.bench)


def test_a_member_that_the_document_does_not_know_fails_with_the_way_to_it(tree: Tree) -> None:
    things = {**HEATS, "c": {**HEATS["c"], "resources": {"a": HEATS["c"]["resources"]["a"]}}}
    found = adopt(tree, things)
    assert found.state == "ADOPT_FAILED"
    assert "resources.c.resources.d.resources.b" in found.status_reason


def test_hidden_values_left_out_below_are_refused_at_once(tree: Tree) -> None:
    leaf = {"b": {"resource_id": "thing-b", "resource_data": {"key": "(hidden)"}}}
    things = {"c": {"resources": {"d": {"resources": leaf}}}}
    with pytest.raises(UsageError, match="resource b"):
        adopt(tree, things)


def failed(tree: Tree, **given: Any) -> Any:
    """An adoption that has failed in the leaf."""
    tree.bench.fails("b", "handle_adopt")
    tree.bench.types["Test::Vault"].handle_adopt = lambda box, data: (
        box.resource_id_set(data["resource_id"]),
        box.journal.note(box, "handle_adopt"),
    )[1]
    found = adopt(tree, **given)
    tree.bench.heals("b", "handle_adopt")
    return found


def test_what_has_failed_to_be_adopted_is_not_deleted_with_the_stack(tree: Tree) -> None:
    assert failed(tree).state == "ADOPT_FAILED"
    assert tree.run(DeleteStack("s")).state == "DELETE_COMPLETE"
    assert made_or_deleted(tree) == []
    assert tree.reader.stacks(nested=True) == []


def test_a_rollback_leaves_it_alone_as_well(tree: Tree) -> None:
    assert failed(tree, rollback=True).state == "ROLLBACK_COMPLETE"
    assert made_or_deleted(tree) == []
    assert list(tree.stacks()) == [""]


def test_a_retry_adopts_what_is_left_and_takes_all_over(tree: Tree) -> None:
    failed(tree)
    assert tree.run(RetryStack("s")).state == "ADOPT_COMPLETE"
    assert tree.calls("a").count("handle_adopt") == 1
    tree.run(DeleteStack("s"))
    assert ("b", "handle_delete") in made_or_deleted(tree)


def test_members_are_nobodys_as_long_as_the_stack_at_the_top_has_not_worked(tree: Tree) -> None:
    """The nested stack is adopted, what is beside it is not."""
    more = "r: {type: Test::Box}\n  z: {type: Test::Box, depends_on: c}"
    text = root().replace("r: {type: Test::Box}", more)
    found = tree.run(AdoptStack("s", tree.bundle(text), HEATS))
    assert found.state == "ADOPT_FAILED"
    assert tree.states()["c"] == "ADOPT_COMPLETE"
    tree.run(DeleteStack("s"))
    assert made_or_deleted(tree) == []


def test_a_member_that_belongs_to_another_stack_is_refused(tree: Tree) -> None:
    tree.create(root())
    document = exporting(tree.bench).export(tree.bench.stack.id, with_secrets=True).values
    leaf = {"resources": document["resources"]["c"]["resources"]["d"]["resources"]}
    things = {**HEATS, "c": {"resources": {"a": HEATS["c"]["resources"]["a"], "d": leaf}}}
    found = adopt(tree, things, name="t")
    assert found.state == "ADOPT_FAILED"
    assert "belongs to resource b of stack s-c-" in found.status_reason
    tree.run(DeleteStack("t"))
    assert made_or_deleted(tree)[-1][1] == "handle_create"


def test_an_owner_cannot_be_imported(tree: Tree) -> None:
    tree.create(root())
    with pytest.raises(NotSupported, match="is a nested stack"):
        tree.run(ImportResource("s", "c", "thing"))


# -- whose it is in the end ------------------------------------------------------------------------

ONE = "a: {type: Test::Box}\nb: {type: Test::Box, depends_on: a}"
THINGS = {"a": {"resource_id": "thing-a"}}


def half_adopted(bench: Any, *, force: bool = False) -> None:
    """``s`` has adopted a and not b."""
    action = AdoptStack("s", bench.bundle(ONE), THINGS, force=force)
    assert bench.run(action).state == "ADOPT_FAILED"


def taken_by_another(bench: Any) -> None:
    only = bench.bundle("a: {type: Test::Box}")
    assert bench.run(AdoptStack("t", only, THINGS)).state == "ADOPT_COMPLETE"


def deletions(bench: Any) -> int:
    return bench.journal.of("a").count("handle_delete")


def test_what_another_stack_has_adopted_meanwhile_is_not_taken_over(bench: Any) -> None:
    half_adopted(bench)
    taken_by_another(bench)
    found = bench.update(ONE)
    assert found.state == "UPDATE_COMPLETE"
    assert found.status_reason.endswith("; not taken over, for they belong to another resource: a")
    bench.delete()
    assert deletions(bench) == 0
    bench.run(DeleteStack("t"))
    assert deletions(bench) == 1


def test_nor_where_the_update_changes_it(bench: Any) -> None:
    half_adopted(bench)
    taken_by_another(bench)
    bench.update(ONE.replace("Test::Box}", "Test::Box, properties: {value: new}}", 1))
    bench.delete()
    assert deletions(bench) == 0


def test_what_is_forced_is_taken_over_all_the_same(bench: Any) -> None:
    half_adopted(bench, force=True)
    taken_by_another(bench)
    bench.update(ONE)
    bench.delete()
    assert deletions(bench) == 1


def test_what_nobody_else_has_is_taken_over(bench: Any) -> None:
    half_adopted(bench)
    assert bench.update(ONE).status_reason == "Stack UPDATE completed successfully"
    bench.delete()
    assert deletions(bench) == 1


def test_the_same_holds_inside_nested_stacks(tree: Tree) -> None:
    failed(tree)
    leaf = "a: {type: Test::Vault}"
    other = AdoptStack("t", tree.bench.bundle(leaf), {"a": {"resource_id": "thing-a"}})
    assert tree.run(other).state == "ADOPT_COMPLETE"
    found = tree.run(UpdateStack("s", tree.bundle(root())))
    assert found.state == "UPDATE_COMPLETE"
    assert "not taken over" in found.status_reason
    tree.run(DeleteStack("s"))
    assert ("a", "handle_delete") not in made_or_deleted(tree)
    assert ("b", "handle_delete") in made_or_deleted(tree)
