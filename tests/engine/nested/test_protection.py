"""Protection, limits, attempts and breakpoints inside of nested stacks."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.nested_trees import FILES, Tree, root, template
from tests.engine.plan.test_adoption import exporting
from tests.engine.plan.test_snapshots import Vault

from zonda.core.engine.actions import (
    AbandonStack,
    AdoptStack,
    CancelStack,
    ClearHooks,
    DeleteStack,
    ProtectStack,
    RollbackStack,
    SignalResource,
    UpdateStack,
)
from zonda.core.engine.preview.preview import build_preview
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.errors import Conflict, NotFound, NotSupported, TemplateError

#: The leaf without its vault.
EMPTY = {
    **FILES,
    "leaf.yaml": template(
        "x: {type: Test::Box}",
        "parameters: {v: {type: string}}\noutputs: {o: {value: 1}}\n",
    ),
}


@pytest.fixture
def tree(bench: Any) -> Tree:
    bench.types["Test::Vault"] = type("Vault", (Vault,), {"journal": bench.journal})
    bench.restart()
    return Tree(bench)


def deleted(tree: Tree) -> list[str]:
    return [name for name, call in tree.bench.journal.calls if call == "handle_delete"]


def nested_name(tree: Tree, way: str) -> str:
    return tree.stacks()[way].name


# -- protection ------------------------------------------------------------------------------------


def test_what_a_command_protects_in_the_leaf_keeps_the_root(tree: Tree) -> None:
    tree.create(root())
    leaf = nested_name(tree, "c/d")
    tree.run(ProtectStack(leaf, ("b",)))
    with pytest.raises(Conflict) as caught:
        tree.run(DeleteStack("s"))
    assert str(caught.value.message) == (
        f"b (of {leaf}) in stack s is protected, and this would delete it."
    )
    assert f"run 'zonda stack unprotect {leaf} b'" in caught.value.hint.lower()
    assert deleted(tree) == []
    tree.run(ProtectStack(leaf, ("b",), on=False))
    assert tree.run(DeleteStack("s")).state == "DELETE_COMPLETE"


PROTECTING = "zonda: {protect: {b: true}}"


def test_what_the_environment_protects_in_the_leaf_keeps_the_root(tree: Tree) -> None:
    tree.create(root(), environment=PROTECTING)
    with pytest.raises(Conflict, match=r"b \(of s-c-"):
        tree.run(DeleteStack("s"))
    assert deleted(tree) == []


def test_taking_the_word_back_reaches_nested_stacks_that_nothing_else_changes(tree: Tree) -> None:
    tree.create(root(), environment=PROTECTING)
    assert tree.update(root()).state == "UPDATE_COMPLETE"
    assert tree.run(DeleteStack("s")).state == "DELETE_COMPLETE"


def test_an_update_that_drops_the_owner_is_refused_before_anything(tree: Tree) -> None:
    tree.create(root(), environment=PROTECTING)
    with pytest.raises(Conflict, match="protected"):
        tree.update(template("r: {type: Test::Box}"), environment=PROTECTING)
    assert deleted(tree) == []


def test_a_nested_template_that_drops_it_is_refused_before_anything(tree: Tree) -> None:
    tree.create(root(), environment=PROTECTING)
    before = len(tree.bench.journal.calls)
    with pytest.raises(Conflict, match=r"^b \(of s-c-.*\) in stack s is protected") as caught:
        tree.update(root("two"), files=EMPTY, environment=PROTECTING)
    assert caught.value.code == "ZON209"
    assert tree.bench.journal.calls[before:] == []
    assert tree.bench.stack.state == "CREATE_COMPLETE"


def test_what_is_only_known_later_fails_when_its_turn_comes(tree: Tree) -> None:
    """Whether the owner drops it depends on what another resource shows by then."""
    text = template(
        """
        r: {type: Test::Box, properties: {value: %s}}
        c: {type: maybe.yaml, properties: {v: {get_attr: [r, value]}}}
        """
    )
    maybe = template(
        "b: {type: Test::Vault, condition: is_one}",
        "parameters: {v: {type: string}}\nconditions: {is_one: {equals: [{get_param: v}, one]}}\n",
    )
    files = {"maybe.yaml": maybe}
    tree.create(text % "one", files=files, environment=PROTECTING)
    found = tree.update(text % "two", files=files, environment=PROTECTING)
    assert found.state == "UPDATE_FAILED"
    assert "Protected: resources.c: b in stack s-c-" in found.status_reason
    assert deleted(tree) == []


def test_what_a_part_has_left_out_is_seen_by_its_own_template(tree: Tree) -> None:
    """A rollback goes back to what there was, which the last good template need not have."""
    tree.create(root(), environment=PROTECTING)
    text = template("r: {type: Test::Box, properties: {value: %s}}")
    bundle = tree.bundle(text % "two", environment=PROTECTING)
    assert tree.run(UpdateStack("s", bundle, targets=("r",))).state == "UPDATE_COMPLETE"
    tree.bench.fails("r", "handle_update")
    bundle = tree.bundle(text % "three", environment=PROTECTING)
    assert tree.run(UpdateStack("s", bundle, excludes=("c",))).state == "UPDATE_FAILED"
    tree.bench.heals("r", "handle_update")

    assert tree.run(RollbackStack("s")).state == "ROLLBACK_COMPLETE"

    assert tree.states()["c/d/b"] == "CREATE_COMPLETE"
    assert "b" not in deleted(tree)


def test_what_the_last_update_protected_without_a_look_at_it_is_held(tree: Tree) -> None:
    tree.create(root())
    tree.update(root(), environment=PROTECTING)  # nothing nested is planned for that
    action = UpdateStack("s", tree.bundle(root(), files=EMPTY))
    assert list(build_preview(tree.bench.engine.services, action).fails) == ["c/d/b"]
    with pytest.raises(Conflict, match="protected"):
        tree.run(action)
    assert deleted(tree) == []


def test_what_the_last_update_protected_no_more_may_go(tree: Tree) -> None:
    tree.create(root(), environment=PROTECTING)
    tree.update(root())  # nothing nested is planned for that
    action = UpdateStack("s", tree.bundle(root(), files=EMPTY))
    assert list(build_preview(tree.bench.engine.services, action).fails) == []
    assert tree.run(action).state == "UPDATE_COMPLETE"
    assert deleted(tree) == ["b"]


def test_an_owner_is_not_replaced_over_what_is_protected_in_it(tree: Tree) -> None:
    tree.create(root())
    tree.run(ProtectStack(nested_name(tree, "c"), ("a",)))
    other = template("r: {type: Test::Box}\nc: {type: Test::Box}")
    with pytest.raises(Conflict, match=r"^a \(of s-c-.*\) in stack s is protected"):
        tree.update(other)
    assert deleted(tree) == []


def test_an_owner_may_be_protected_itself(tree: Tree) -> None:
    tree.create(root())
    tree.run(ProtectStack("s", ("c",)))
    with pytest.raises(Conflict, match="c in stack s is protected"):
        tree.run(DeleteStack("s"))
    assert tree.update(root("two")).state == "UPDATE_COMPLETE"


def test_what_a_failed_creation_made_below_is_no_reason_not_to_undo_it(tree: Tree) -> None:
    tree.bench.fails("b", "handle_create")
    found = tree.create(
        root(), rollback=True, environment="zonda: {protect: {a: true, 'Test::Vault': true}}"
    )
    assert found.state == "ROLLBACK_COMPLETE"
    assert "a" in deleted(tree)


def test_a_failed_update_is_undone_below_whatever_it_protects(tree: Tree) -> None:
    tree.create(template("r: {type: Test::Box}"))
    more = root() + "  z: {type: Test::Box, depends_on: c}\n"
    tree.bench.fails("z", "handle_create")
    found = tree.update(more, rollback=True, environment=PROTECTING)
    assert found.state == "ROLLBACK_COMPLETE"
    assert "b" in deleted(tree)


# -- limits and attempts ---------------------------------------------------------------------------


def test_a_time_by_name_reaches_into_the_leaf(tree: Tree) -> None:
    never(tree)
    tree.create(root(), files=SLOW, environment="zonda: {timeouts: {b: {create: 5}}}")
    assert tree.bench.stack.state == "CREATE_FAILED"
    assert "resources.c.resources.d.resources.b: CREATE timed out after 5 s" in (
        tree.bench.stack.status_reason
    )


def test_a_time_for_an_owner_ends_what_runs_below(tree: Tree) -> None:
    never(tree)
    tree.create(root(), files=SLOW, environment="zonda: {timeouts: {c: {create: 7}}}")
    assert tree.bench.stack.status_reason.endswith("resources.c: CREATE timed out after 7 s")
    assert {stack.phase for stack in tree.stacks().values()} == {"IDLE"}
    assert not any(row.op for stack in tree.stacks().values() for row in tree.rows(stack))


def test_attempts_are_those_of_members_and_never_of_owners(tree: Tree) -> None:
    tree.bench.fails("b", "handle_create")
    environment = "zonda: {retries: {'*': {create: {attempts: 3, delay: 1}}}}"
    found = tree.create(root(), environment=environment)
    assert found.state == "CREATE_FAILED"
    assert tree.calls("b").count("handle_create") == 3
    assert tree.calls("a").count("handle_create") == 1
    assert found.status_reason.endswith("(attempt 3 of 3)")


#: A leaf whose creation never comes to its end.
SLOW = {**FILES, "leaf.yaml": FILES["leaf.yaml"].replace("Test::Vault", "Test::Slow")}


def never(tree: Tree) -> None:
    tree.bench.journal.behave["b", "check"] = lambda box: False


# -- breakpoints -----------------------------------------------------------------------------------

HOOKED = "resource_registry: {resources: {c: {d: {'b*': {hooks: pre-create}}}}}"


def waits(tree: Tree) -> bool:
    stacks = tree.stacks() if tree.reader.stacks() else {}
    return "c/d" in stacks and any(row.hook == "pre-create" for row in tree.rows(stacks["c/d"]))


def test_a_breakpoint_in_the_leaf_is_cleared_by_the_way_to_it(tree: Tree) -> None:
    assert tree.create(root(), environment=HOOKED).state == "CREATE_IN_PROGRESS"
    assert waits(tree)
    assert "handle_create" not in tree.calls("b")
    found = tree.run(ClearHooks("s", ("c/d/b",), ("pre-create",)))
    assert found.state == "CREATE_COMPLETE"


@pytest.mark.parametrize("pattern", ["c/d/*", "*/*/b", "c*/d/b*"])
def test_patterns_stand_for_each_part_of_the_way(tree: Tree, pattern: str) -> None:
    tree.create(root(), environment=HOOKED)
    assert tree.run(ClearHooks("s", (pattern,))).state == "CREATE_COMPLETE"


def test_it_is_cleared_in_its_own_stack_and_by_a_signal_as_well(tree: Tree) -> None:
    tree.create(root(), environment=HOOKED)
    tree.run(SignalResource(nested_name(tree, "c/d"), "b", {"unset_hook": "pre-create"}))
    assert tree.bench.stack.state == "CREATE_COMPLETE"


@pytest.mark.parametrize("pattern", ["c/d/x", "c/nothing/b", "r/d/b"])
def test_a_way_that_leads_nowhere_is_told(tree: Tree, pattern: str) -> None:
    tree.create(root(), environment=HOOKED)
    with pytest.raises(NotFound):
        tree.run(ClearHooks("s", (pattern,)))


def test_what_waits_nowhere_is_told(tree: Tree) -> None:
    tree.create(root())
    with pytest.raises(NotSupported, match="No hook is reached on c/d/b"):
        tree.run(ClearHooks("s", ("c/d/b",)))


def test_a_breakpoint_of_an_owner_holds_all_that_it_owns(tree: Tree) -> None:
    hooked = "resource_registry: {resources: {c: {hooks: pre-create}}}"
    tree.create(root(), environment=hooked)
    assert tree.calls("a") == []
    assert tree.run(ClearHooks("s", ("c",))).state == "CREATE_COMPLETE"


def test_an_updated_environment_lays_breakpoints_for_deletions_below(tree: Tree) -> None:
    tree.create(root())
    tree.update(root(), environment=HOOKED.replace("pre-create", "pre-delete"))
    assert tree.run(DeleteStack("s")).state == "DELETE_IN_PROGRESS"
    assert "b" not in deleted(tree)
    assert tree.run(ClearHooks("s", ("c/d/b",))).state == "DELETE_COMPLETE"


def test_a_cancelled_action_leaves_its_breakpoints_below(tree: Tree) -> None:
    tree.create(root(), environment=HOOKED)
    found = tree.run(CancelStack("s"))
    assert found.state == "CREATE_FAILED"
    assert not waits(tree)


# -- owners that are left alone --------------------------------------------------------------------


def test_an_owner_cannot_be_a_stack_that_exists(tree: Tree) -> None:
    text = root().replace("type: child.yaml,", "type: child.yaml, external_id: some-stack,")
    with pytest.raises(TemplateError, match="is a nested stack, which cannot be one"):
        tree.create(text)


RETAINED = root().replace("type: child.yaml,", "type: child.yaml, deletion_policy: Retain,")


def test_a_retained_owner_leaves_a_stack_of_its_own(tree: Tree) -> None:
    tree.create(RETAINED)
    name = nested_name(tree, "c")
    assert tree.run(DeleteStack("s")).state == "DELETE_COMPLETE"
    assert deleted(tree) == ["r"]
    assert [stack.name for stack in tree.reader.stacks()] == [name]
    free = tree.reader.stack_named(name, "default")
    assert tree.reader.tree(free.id)[0].name == name
    assert len(tree.reader.tree(free.id)) == 2


def test_what_was_left_alone_can_be_looked_after_and_deleted(tree: Tree) -> None:
    tree.create(RETAINED)
    name = nested_name(tree, "c")
    tree.update(template("r: {type: Test::Box}"))
    assert deleted(tree) == []
    stack = tree.reader.stack_named(name, "default")
    new = UpdateStack(name, tree.bundle(FILES["child.yaml"].replace("default: one", "default: z")))
    assert tree.run(new).state == "UPDATE_COMPLETE"
    assert tree.reader.resource(stack.id, "a").properties == {"value": "z"}
    assert tree.run(RollbackStack(name, 1)).state == "ROLLBACK_COMPLETE"
    assert tree.run(DeleteStack(name)).state == "DELETE_COMPLETE"
    assert deleted(tree) == ["b", "a"]


def test_what_was_left_alone_takes_changes_of_its_parameters(tree: Tree) -> None:
    text = RETAINED.replace("resources:\n", "parameters: {p: {type: string}}\nresources:\n", 1)
    environment = (
        "parameters: {p: mine}\nparameter_defaults: {v: other}\n"
        "resource_registry: {Test::Alias: leaf.yaml}\n"
    )
    files = {**FILES, "child.yaml": FILES["child.yaml"].replace("leaf.yaml", "Test::Alias")}
    tree.create(text, files=files, environment=environment)
    name = nested_name(tree, "c")
    tree.update(template("r: {type: Test::Box}"))
    bundle = Bundle("", parameters={"v": "new"}, parameters_win=True)
    assert tree.run(UpdateStack(name, bundle, existing=True)).state == "UPDATE_COMPLETE"
    stack = tree.reader.stack_named(name, "default")
    assert tree.reader.resource(stack.id, "a").properties == {"value": "new"}


def test_what_was_left_alone_is_exported_and_abandoned_like_any_other(tree: Tree) -> None:
    tree.create(RETAINED)
    name = nested_name(tree, "c")
    tree.run(DeleteStack("s"))
    stack = tree.reader.stack_named(name, "default")
    export = exporting(tree.bench).export(stack.id, with_secrets=True)
    assert export.values["resources"]["d"]["resources"]["b"]["resource_id"]
    tree.run(AbandonStack(name, export.digest))
    assert tree.reader.stacks(nested=True) == []
    found = tree.run(AdoptStack(name, tree.bundle(FILES["child.yaml"]), export.values["resources"]))
    assert found.state == "ADOPT_COMPLETE"
