"""Protected resources are neither deleted nor replaced, and the error says so."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.conftest import Box

from zonda.core.engine.actions import (
    ImportResource,
    ProtectStack,
    RestoreSnapshot,
    RetryStack,
    RollbackStack,
    SnapshotStack,
    UpdateStack,
)
from zonda.hooks.errors import Conflict, NotFound, UpdateReplace

A = "a: {type: Test::Box, properties: {value: one, fixed: x}}\n"
B = "b: {type: Test::Box}\n"
BY_ENVIRONMENT = "zonda: {protect: [a]}"
LIFT = "update the stack with 'zonda: {protect: {a: false}}' in its environment first."


def protect(bench: Any, *resources: str, on: bool = True) -> Any:
    return bench.run(ProtectStack("s", resources, on))


def refused(action: Any) -> Conflict:
    with pytest.raises(Conflict) as raised:
        action()
    assert raised.value.code == "ZON209"
    return raised.value


@pytest.mark.parametrize("way", ["command", "environment"])
def test_a_protected_resource_is_not_replaced(bench: Any, way: str) -> None:
    environment = BY_ENVIRONMENT if way == "environment" else None
    bench.create(A, environment=environment)
    if way == "command":
        protect(bench, "a")

    view = bench.update(A.replace("x}", "y}"), environment=environment)

    assert view.state == "UPDATE_FAILED"
    assert bench.journal.of("a") == ["handle_create"]
    assert bench.states() == {"a": "CREATE_COMPLETE"}
    lift = "Run 'zonda stack unprotect s a' first." if way == "command" else f"U{LIFT[1:]}"
    why = "Protected: resources.a: it is protected and cannot be replaced."
    assert view.status_reason == f"{why} {lift}"


def test_it_may_be_updated_in_place(bench: Any) -> None:
    bench.create(A, environment=BY_ENVIRONMENT)

    view = bench.update(A.replace("one", "two"), environment=BY_ENVIRONMENT)

    assert view.state == "UPDATE_COMPLETE"
    assert bench.journal.of("a") == ["handle_create", "handle_update"]


def test_a_replacement_that_the_plug_in_asks_for_fails_the_update(bench: Any) -> None:
    bench.create(A, environment=BY_ENVIRONMENT)
    bench.fails("a", "handle_update", UpdateReplace("a"))

    view = bench.update(A.replace("one", "two"), environment=BY_ENVIRONMENT)

    assert view.state == "UPDATE_FAILED"
    assert bench.states() == {"a": "UPDATE_FAILED"}
    assert len(bench.resource_rows()) == 1


@pytest.mark.parametrize("way", ["command", "environment"])
def test_an_update_that_would_delete_it_is_refused_before_anything_is_done(
    bench: Any, way: str
) -> None:
    bench.create(A + B, environment=BY_ENVIRONMENT if way == "environment" else None)
    if way == "command":
        protect(bench, "a")

    error = refused(lambda: bench.update("c: {type: Test::Box}"))

    assert str(error).startswith("a in stack s is protected, and this would delete it.")
    assert bench.stack.state == "CREATE_COMPLETE"


def test_taking_the_word_away_and_the_resource_are_two_updates(bench: Any) -> None:
    bench.create(A + B, environment=BY_ENVIRONMENT)
    refused(lambda: bench.update(B, environment="zonda: {protect: {a: false}}"))

    bench.update(A + B, environment="zonda: {protect: {a: false}}")

    assert bench.update(B).state == "UPDATE_COMPLETE"
    assert list(bench.states()) == ["b"]


def test_a_stack_with_a_protected_resource_is_not_deleted(bench: Any) -> None:
    bench.create(A + B)
    protect(bench, "a")

    error = refused(bench.delete)

    assert error.hint == "Run 'zonda stack unprotect s a' first."
    assert bench.stack.state == "CREATE_COMPLETE"
    protect(bench, "a", on=False)
    stack_id = bench.stack.id
    bench.delete()
    assert bench.engine.reader.stack(stack_id).state == "DELETE_COMPLETE"


@pytest.mark.parametrize("way", ["command", "environment"])
def test_a_protected_stack_is_not_deleted(bench: Any, way: str) -> None:
    bench.create(A, environment="zonda: {protect: [stack]}" if way == "environment" else None)
    if way == "command":
        protect(bench)

    error = refused(bench.delete)

    assert error.message == "The stack s is protected."
    if way == "command":
        assert error.hint == "Run 'zonda stack unprotect s' first."
        protect(bench, on=False)
    else:
        assert error.hint.startswith("Update the stack with 'zonda: {protect: {stack: false}}'")
        bench.update(A)
    stack_id = bench.stack.id
    bench.delete()
    assert bench.engine.reader.stack(stack_id).state == "DELETE_COMPLETE"


def test_what_the_environment_has_taken_back_is_deleted(bench: Any) -> None:
    bench.create(A, environment=BY_ENVIRONMENT)
    refused(bench.delete)
    bench.update(A, environment="zonda: {protect: {a: false}}")
    stack_id = bench.stack.id

    bench.delete()

    assert bench.engine.reader.stack(stack_id).state == "DELETE_COMPLETE"


def test_both_words_have_to_be_lifted(bench: Any) -> None:
    bench.create(A, environment=BY_ENVIRONMENT)
    protect(bench, "a")

    error = refused(bench.delete)

    assert error.hint == f"Run 'zonda stack unprotect s a', and {LIFT}"


def test_lifting_what_the_environment_says_is_refused(bench: Any) -> None:
    bench.create(A, environment=BY_ENVIRONMENT)

    error = refused(lambda: protect(bench, "a", on=False))

    assert "its environment protects a" in str(error)
    assert error.hint.startswith("Update the stack with")


def test_what_was_never_made_is_replaced_all_the_same(bench: Any) -> None:
    bench.fails("a", "handle_create")
    bench.create(A, environment=BY_ENVIRONMENT)
    bench.heals("a", "handle_create")

    assert bench.update(A, environment=BY_ENVIRONMENT).state == "UPDATE_COMPLETE"


def test_a_rollback_deletes_what_the_failed_update_has_made(bench: Any) -> None:
    bench.create(B, rollback=True)
    bench.fails("c", "handle_create")
    c = "c: {type: Test::Box, depends_on: a}\n"

    view = bench.update(A + B + c, environment=BY_ENVIRONMENT)

    assert view.state == "ROLLBACK_COMPLETE"
    assert list(bench.states()) == ["b"]


def test_a_rollback_does_not_delete_what_a_command_protects(bench: Any) -> None:
    bench.create(B, rollback=True)
    bench.journal.behave["c", "check"] = lambda resource: False
    bundle = bench.bundle(A + B + "c: {type: Test::Slow, depends_on: a}\n")
    bench.engine.begin(UpdateStack("s", bundle))
    while "c" not in bench.states() or bench.resource("c").op == "":
        bench.steps(1)
    bench.engine.begin(ProtectStack("s", ("a",)))
    bench.fails("c", "check")

    bench.engine.settle()

    assert bench.stack.state == "UPDATE_FAILED"
    assert "a" in bench.states()


def test_an_unhealthy_resource_that_is_protected_is_not_replaced(bench: Any) -> None:
    bench.create(A, environment=BY_ENVIRONMENT)
    bench.fails("a", "handle_check")
    bench.check()

    assert bench.update(A, environment=BY_ENVIRONMENT).state == "UPDATE_FAILED"
    assert bench.journal.of("a") == ["handle_create", "handle_check"]


def test_only_what_there_is_can_be_protected(bench: Any) -> None:
    bench.create(A)

    with pytest.raises(NotFound) as raised:
        protect(bench, "a", "aa")

    assert raised.value.kind == "Resource"
    assert not bench.resource("a").protected


def test_protection_by_command_is_shown(bench: Any) -> None:
    bench.create(A)
    protect(bench, "a")
    protect(bench)

    assert bench.resource("a").protected
    assert bench.stack.protected


def test_what_was_lifted_is_shown_as_such(bench: Any) -> None:
    bench.create(A, environment=BY_ENVIRONMENT)
    bench.update(A, environment="zonda: {protect: {a: false}}")

    assert not bench.resource("a").protected
    protect(bench, "a", on=False)


def test_protection_by_the_environment_is_shown(bench: Any) -> None:
    bench.create(A + B, environment="zonda: {protect: [a, stack]}")

    assert bench.resource("a").protected
    assert not bench.resource("b").protected
    assert bench.stack.protected


def test_a_part_of_a_template_does_not_count_what_it_leaves_alone(bench: Any) -> None:
    bench.create(A + B, environment=BY_ENVIRONMENT)

    bundle = bench.bundle(B + "c: {type: Test::Box}", environment=BY_ENVIRONMENT)
    view = bench.run(UpdateStack("s", bundle, targets=("c",)))

    assert view.state == "UPDATE_COMPLETE"
    assert "a" in bench.states()


def test_going_back_further_keeps_what_is_protected_now(bench: Any) -> None:
    bench.create(B)
    bench.update(A + B, environment=BY_ENVIRONMENT)

    refused(lambda: bench.run(RollbackStack("s", to=1)))

    bench.update(A + B, environment="zonda: {protect: {a: false}}")
    assert bench.run(RollbackStack("s", to=1)).state == "ROLLBACK_COMPLETE"
    assert list(bench.states()) == ["b"]


def test_restoring_a_snapshot_keeps_what_is_protected_now(bench: Any) -> None:
    bench.create(B)
    bench.run(SnapshotStack("s", "before"))
    bench.update(A + B, environment=BY_ENVIRONMENT)

    refused(lambda: bench.run(RestoreSnapshot("s", "before")))


BY_TYPE = 'zonda: {protect: {"Test::Box": true}}'
BAD = A + B + "c: {type: Test::Slow, depends_on: b}\n"


@pytest.mark.parametrize("how", ["failure", "command"])
def test_what_a_failed_update_made_goes_although_its_type_is_protected(
    bench: Any, how: str
) -> None:
    bench.create(A, environment=BY_TYPE)
    bench.fails("c", "handle_create")

    view = bench.update(BAD, environment=BY_TYPE, rollback=how == "failure")
    if how == "command":
        view = bench.run(RollbackStack("s"))

    assert view.state == "ROLLBACK_COMPLETE"
    assert bench.states() == {"a": "CREATE_COMPLETE"}
    with pytest.raises(Conflict, match="a in stack s is protected"):
        bench.update("c: {type: Test::Slow}", environment=BY_TYPE)


def test_why_a_rollback_is_impossible_is_said(bench: Any) -> None:
    bench.create(A)
    bench.fails("c", "handle_create")
    bench.update(BAD)
    protect(bench, "b")

    view = bench.update(BAD, rollback=True)

    assert view.state == "UPDATE_FAILED"
    assert "no; rollback impossible: b in stack s is protected" in view.status_reason


@pytest.mark.parametrize("way", ["command", "environment"])
def test_restoring_a_snapshot_of_nothing_keeps_what_is_protected_now(bench: Any, way: str) -> None:
    bench.fails("x", "handle_create")
    assert bench.create("x: {type: Test::Box}", rollback=True).state == "ROLLBACK_COMPLETE"
    bench.run(SnapshotStack("s", "empty"))
    bench.update(A, environment=BY_ENVIRONMENT if way == "environment" else None)
    if way == "command":
        protect(bench, "a")

    refused(lambda: bench.run(RestoreSnapshot("s", "empty")))

    assert bench.states() == {"a": "CREATE_COMPLETE"}


def protection_of(bench: Any) -> list[tuple[str, int]]:
    return [(row.want, row.protect) for row in bench.resource_rows() if row.name == "a"]


def test_what_is_protected_during_an_update_that_fails_is_lifted_from_old_and_new(
    bench: Any,
) -> None:
    """The old instance is taken back and protected, the new one waits until that is lifted."""
    slow = "b: {type: Test::Slow, depends_on: a, properties: {value: %s}}"
    bench.create(A + slow % "one")
    bench.fails("b", "check")
    bench.engine.begin(UpdateStack("s", bench.bundle(A.replace("x}", "y}") + slow % "two")))
    while len(protection_of(bench)) < 2:
        bench.steps(1)
    protect(bench, "a")
    bench.heals("b", "check")
    assert bench.run(RollbackStack("s")).state == "ROLLBACK_FAILED"
    assert protection_of(bench) == [("PRESENT", 1), ("ABSENT", 1)]

    protect(bench, "a", on=False)

    assert bench.run(RetryStack("s")).state == "ROLLBACK_COMPLETE"
    assert bench.delete().state == "DELETE_COMPLETE"


def test_what_failed_to_be_created_hands_its_protection_to_what_is_imported(bench: Any) -> None:
    bench.fails("b", "handle_create")
    bench.create(B)
    protect(bench, "b")
    bench.run(ImportResource("s", "b", "thing"))
    bench.heals("b", "handle_create")

    assert bench.update(B).state == "UPDATE_COMPLETE"
    assert [(row.physical_id, row.protect) for row in bench.resource_rows()] == [("thing", 1)]


def test_what_is_protected_while_its_replacement_is_decided_is_not_replaced(bench: Any) -> None:
    bench.create(A)
    text = A.replace("x}", "y}")

    class Late(Box):
        journal = bench.journal

        def needs_replace_with_prop_diff(self, *changed: Any) -> bool:
            bench.engine.driver.run_in_transaction(
                lambda work: [
                    setattr(row, "protect", 1) for row in work.tx.resources_of(bench.stack.id)
                ]
            )
            return True

    bench.types["Test::Box"] = Late
    bench.restart()

    assert bench.update(text).state == "UPDATE_FAILED"
    assert protection_of(bench) == [("PRESENT", 1)]
    assert bench.journal.of("a") == ["handle_create"]


def told(bench: Any) -> list[tuple[str, str]]:
    found = bench.engine.reader.events(bench.stack.id)
    return [(one.resource_name, one.reason) for one in found if one.action == "UNPROTECT"]


def test_protection_that_an_environment_forgets_is_told(bench: Any) -> None:
    bench.create(A + B, environment="zonda: {protect: [stack, a, b]}")
    bench.update(A + B, environment="zonda: {protect: [b]}")
    reason = "its environment protects it no more"
    assert told(bench) == [("", reason), ("a", reason)]
    protect(bench, "b")
    bench.update(A + B)
    assert len(told(bench)) == 2, "a command protects b"
    assert bench.resource("b").protected


def test_protection_outlives_updates_that_have_failed(bench: Any) -> None:
    bench.create(A + B, environment=BY_ENVIRONMENT)
    bench.fails("b", "handle_update")
    bench.fails("b", "handle_create")
    broken = A + B.replace("Box}", "Box, properties: {value: new}}")
    assert bench.update(broken).state == "UPDATE_FAILED"
    assert bench.update(broken).state == "UPDATE_FAILED"
    refused(lambda: bench.update(B))
    assert told(bench) == []
