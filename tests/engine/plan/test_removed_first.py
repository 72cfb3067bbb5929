"""Incomplete resources are deleted before their replacement is created.

The type here is identified by a property, as a file by its path: to remove the failed instance
after its replacement was made would remove what was made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pytest
from tests.engine.conftest import KEY, Bench, Journal

from zonda.core.engine.actions import (
    Action,
    ApplyPlan,
    CancelStack,
    CheckStack,
    ClearHooks,
    CreateStack,
    ImportResource,
    MarkResource,
    ProtectStack,
    RetryStack,
    RollbackStack,
    UpdateStack,
)
from zonda.core.engine.preview.document import build_document
from zonda.core.engine.preview.plan_file import format_plan
from zonda.core.engine.preview.preview import build_preview
from zonda.core.store.values.sealing import Sealer
from zonda.core.store.write.database import open_store
from zonda.core.template.source.bundle import Bundle
from zonda.hooks import attributes, properties
from zonda.hooks.errors import UpdateReplace
from zonda.hooks.resources.resource import Resource


class Named(Resource):
    """A thing of the outside world that is known by its ``name``; to make it again does no harm."""

    journal: Journal
    world: dict[str, str]
    properties_schema: ClassVar[Mapping[str, Any]] = {
        "name": properties.Schema("String"),
        "value": properties.Schema("String", default="", update_allowed=True),
    }
    attributes_schema: ClassVar[Mapping[str, Any]] = {"value": attributes.Schema("the value")}

    def handle_create(self) -> None:
        self.journal.note(self, "before")
        self.world[self.properties["name"]] = self.properties["value"]
        self.resource_id_set(self.properties["name"])
        self.journal.note(self, "handle_create")

    def handle_update(self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any) -> None:
        self.journal.note(self, "handle_update")
        self.world[self.properties["name"]] = self.make_properties(json_snippet)["value"]

    def handle_delete(self) -> None:
        self.journal.note(self, "handle_delete")
        if self.resource_id is not None:
            self.world.pop(self.resource_id, None)

    def check_delete_complete(self, token: Any) -> bool:
        return self.journal.note(self, "check_delete") is not False

    def handle_check(self) -> None:
        self.journal.note(self, "handle_check")

    def _resolve_attribute(self, name: str) -> Any:
        return self.properties["value"]


class Patient(Named):
    """Is not replaced because it has failed."""

    def needs_replace_failed(self) -> bool:
        return self.resource_id is None


class Stage(Bench):
    """The bench with a world of named things."""

    def __init__(self, store: Any) -> None:
        super().__init__(store)
        self.world: dict[str, str] = {}
        shared = {"journal": self.journal, "world": self.world}
        for cls in (Named, Patient):
            self.types[f"Test::{cls.__name__}"] = type(cls.__name__, (cls,), shared)
        self.restart()

    def broken(self, text: str, call: str = "handle_create", **given: Any) -> None:
        """Create a stack of which ``a`` fails after its thing was made; later it does not."""
        self.fails("a", call)
        assert self.create(text, **given).state == "CREATE_FAILED"
        self.heals("a", call)
        self.journal.calls.clear()

    def replaced_in_vain(self, *, rollback: bool = False) -> None:
        """Make ``a`` as x, then fail to replace it by y, which was made all the same."""
        assert self.create(ONE).state == "CREATE_COMPLETE"
        self.fails("a", "handle_create")
        self.update(OTHER, rollback=rollback)
        self.heals("a", "handle_create")
        assert self.stack.status == "FAILED"
        self.journal.calls.clear()

    def calls(self, name: str = "a") -> list[str]:
        return [each for each in self.journal.of(name) if each.startswith("handle")]

    def shown(self, action: Action) -> dict[str, Any]:
        return build_document(build_preview(self.engine.services, action))

    def state(self, name: str = "a") -> str:
        return self.resource(name).state


ONE = "a: {type: Test::Named, properties: {name: x, value: one}}"
OTHER = ONE.replace("name: x", "name: y")
USED = ONE + "\nb: {type: Test::Box, properties: {value: {get_attr: [a, value]}}}"
HOOKS = """
resource_registry:
  resources:
    a: {hooks: %s}
"""


@pytest.fixture
def stage() -> Iterator[Stage]:
    store = open_store(":memory:", sealer=Sealer(KEY))
    yield Stage(store)
    store.close()


def test_a_retry_keeps_what_it_has_made(stage: Stage) -> None:
    stage.broken(USED)
    first = stage.resource("a").id

    assert stage.run(RetryStack("s")).state == "CREATE_COMPLETE"

    assert stage.world == {"x": "one"}
    assert stage.calls() == ["handle_delete", "handle_create"]
    assert stage.states() == {"a": "CREATE_COMPLETE", "b": "CREATE_COMPLETE"}
    assert len(stage.resource_rows()) == 2
    of_a = [
        each for each in stage.engine.reader.events(stage.stack.id) if each.resource_name == "a"
    ]
    assert [(each.resource_id == first, each.state) for each in of_a[-4:]] == [
        (True, "DELETE_IN_PROGRESS"),
        (True, "DELETE_COMPLETE"),
        (False, "CREATE_IN_PROGRESS"),
        (False, "CREATE_COMPLETE"),
    ]


@pytest.mark.parametrize("text", [ONE, OTHER, USED])
def test_an_update_keeps_what_it_has_made(text: str, stage: Stage) -> None:
    stage.broken(ONE)

    assert stage.update(text).state == "UPDATE_COMPLETE"

    assert stage.world == {"y" if text == OTHER else "x": "one"}
    assert stage.calls() == ["handle_delete", "handle_create"]


def test_what_was_replaced_in_vain_is_removed_before_it_is_made_again(stage: Stage) -> None:
    stage.replaced_in_vain()

    assert stage.update(OTHER).state == "UPDATE_COMPLETE"

    assert stage.world == {"y": "one"}
    assert stage.calls() == ["handle_delete", "handle_create", "handle_delete"]


def test_what_a_rollback_could_not_remove_is_removed_before_it_is_made_again(stage: Stage) -> None:
    stage.fails("a", "handle_delete")
    stage.replaced_in_vain(rollback=True)
    assert stage.stack.state == "ROLLBACK_FAILED"
    assert stage.world == {"x": "one", "y": "one"}
    stage.heals("a", "handle_delete")

    assert stage.update(OTHER).state == "UPDATE_COMPLETE"

    assert stage.world == {"y": "one"}
    assert stage.calls() == ["handle_delete", "handle_create", "handle_delete"]
    assert len(stage.resource_rows()) == 1


def test_what_a_rollback_could_not_remove_and_nobody_can_stops_the_next_replacement(
    stage: Stage,
) -> None:
    stage.fails("a", "handle_delete")
    stage.replaced_in_vain(rollback=True)

    for _ in range(2):
        assert stage.update(OTHER, rollback=False).status_reason == "resources.a: no"
        assert stage.state() == "CREATE_COMPLETE"
        assert set(stage.calls()) == {"handle_delete"}
        assert stage.world == {"x": "one", "y": "one"}

    stage.heals("a", "handle_delete")
    assert stage.run(RetryStack("s")).state == "UPDATE_COMPLETE"
    assert stage.world == {"y": "one"}


def test_what_a_rollback_could_not_remove_does_not_keep_an_update_in_place(stage: Stage) -> None:
    stage.fails("a", "handle_delete")
    stage.replaced_in_vain(rollback=True)
    stage.heals("a", "handle_delete")

    assert stage.update(ONE.replace("one", "two")).state == "UPDATE_COMPLETE"

    assert stage.world == {"x": "two"}
    assert stage.calls() == ["handle_update", "handle_delete"]


def test_a_rollback_goes_back_to_what_there_was(stage: Stage) -> None:
    stage.replaced_in_vain()
    before = {row.id for row in stage.resource_rows() if row.have_template_id}

    assert stage.run(RollbackStack("s")).state == "ROLLBACK_COMPLETE"

    assert stage.world == {"x": "one"}
    assert {row.id for row in stage.resource_rows()} == before


def test_where_the_removal_fails_nothing_is_made_and_the_reason_is_told(stage: Stage) -> None:
    stage.broken(USED)
    stage.fails("a", "handle_delete")

    for action in (RetryStack("s"), UpdateStack("s", stage.bundle(USED)), RetryStack("s")):
        view = stage.run(action)
        assert view.status == "FAILED"
        assert view.status_reason.endswith("resources.a: no")
        assert stage.states() == {"a": "DELETE_FAILED", "b": "INIT_COMPLETE"}
        assert stage.resource("a").status_reason == "resources.a: no"
    assert set(stage.calls()) == {"handle_delete"}
    assert len(stage.resource_rows()) == 2

    stage.heals("a", "handle_delete")
    assert stage.run(RetryStack("s")).state == "UPDATE_COMPLETE"
    assert stage.world == {"x": "one"}
    assert stage.states() == {"a": "CREATE_COMPLETE", "b": "CREATE_COMPLETE"}


def test_a_removal_that_fails_is_rolled_back_to_what_there_was(stage: Stage) -> None:
    stage.replaced_in_vain()
    stage.fails("a", "handle_delete")

    assert stage.update(OTHER, rollback=True).state == "ROLLBACK_FAILED"

    assert set(stage.calls()) == {"handle_delete"}
    assert stage.world == {"x": "one", "y": "one"}
    stage.heals("a", "handle_delete")
    assert stage.run(RetryStack("s")).state == "ROLLBACK_COMPLETE"
    assert stage.world == {"x": "one"}


def test_what_was_half_removed_is_removed_whatever_a_check_of_it_says(stage: Stage) -> None:
    stage.broken(ONE.replace("Named", "Patient"), "before")
    stage.fails("a", "handle_delete")
    stage.update(ONE.replace("Named", "Patient"))
    stage.run(CheckStack("s"))
    stage.heals("a", "handle_delete")

    assert stage.update(ONE.replace("Named", "Patient")).state == "UPDATE_COMPLETE"

    assert stage.calls()[-2:] == ["handle_delete", "handle_create"]
    assert stage.world == {"x": "one"}


def test_what_asks_for_a_replacement_in_its_update_goes_first_as_well(stage: Stage) -> None:
    text = ONE.replace("Named", "Patient")
    stage.broken(text)
    stage.fails("a", "handle_update", UpdateReplace("a"))

    assert stage.update(text.replace("one", "two")).state == "UPDATE_COMPLETE"

    assert stage.calls() == ["handle_update", "handle_delete", "handle_create"]
    assert stage.world == {"x": "two"}


def test_what_was_completed_in_place_is_replaced_in_the_order_of_heat(stage: Stage) -> None:
    text = ONE.replace("Named", "Patient")
    stage.broken(text)
    assert stage.update(text.replace("one", "two")).state == "UPDATE_COMPLETE"

    assert stage.update(text.replace("name: x", "name: y")).state == "UPDATE_COMPLETE"

    assert stage.calls() == ["handle_update", "handle_create", "handle_delete"]
    assert stage.world == {"y": "one"}


def test_another_type_takes_the_place_of_what_has_failed(stage: Stage) -> None:
    stage.broken(ONE)

    assert stage.update(ONE.replace("Named", "Patient")).state == "UPDATE_COMPLETE"

    assert stage.world == {"x": "one"}
    assert stage.resource("a").type == "Test::Patient"


def test_what_was_completed_and_is_marked_is_replaced_in_the_order_of_heat(stage: Stage) -> None:
    stage.create(ONE)
    stage.journal.calls.clear()
    stage.run(MarkResource("s", "a"))

    assert stage.update(ONE).state == "UPDATE_COMPLETE"

    assert stage.calls() == ["handle_create", "handle_delete"]


def test_what_is_to_be_retained_is_not_removed(stage: Stage) -> None:
    text = ONE.replace("Named,", "Named, deletion_policy: Retain,")
    stage.broken(text)

    assert stage.update(text).state == "UPDATE_COMPLETE"

    assert stage.calls() == ["handle_create"]
    assert stage.world == {"x": "one"}


def test_what_is_protected_is_neither_removed_nor_made_anew(stage: Stage) -> None:
    stage.broken(ONE)
    stage.run(ProtectStack("s", ("a",)))

    view = stage.update(ONE)

    assert view.state == "UPDATE_FAILED"
    assert "protected" in view.status_reason
    assert stage.calls() == []
    assert stage.world == {"x": "one"}


def test_breakpoints_stop_before_and_after_the_removal(stage: Stage) -> None:
    hooks = HOOKS % "[pre-update, pre-delete, post-delete, pre-create]"
    stage.broken(ONE)
    stage.engine.begin(UpdateStack("s", stage.bundle(ONE, environment=hooks)))
    passed = []
    for hook in ("pre-update", "pre-delete", "post-delete", "pre-create"):
        stage.engine.settle()
        passed.append((hook, stage.calls()))
        stage.run(ClearHooks("s", ("a",), (hook,)))

    assert stage.stack.state == "UPDATE_COMPLETE"
    assert passed == [
        ("pre-update", []),
        ("pre-delete", []),
        ("post-delete", ["handle_delete"]),
        ("pre-create", ["handle_delete"]),
    ]
    assert stage.world == {"x": "one"}


@pytest.mark.parametrize("further", ["same", "other", "none"])
def test_a_newer_plan_goes_on_where_the_removal_is(further: str, stage: Stage) -> None:
    stage.broken(USED)
    stage.journal.behave["a", "check_delete"] = lambda resource: False
    stage.engine.begin(UpdateStack("s", stage.bundle(USED)))
    while "check_delete" not in stage.journal.of("a"):
        stage.steps(1)
    texts = {
        "same": USED,
        "other": USED.replace("name: x", "name: y"),
        "none": "c: {type: Test::Box}",
    }
    stage.engine.begin(UpdateStack("s", stage.bundle(texts[further])))
    stage.heals("a", "check_delete")
    stage.engine.settle()

    assert stage.stack.state == "UPDATE_COMPLETE"
    assert stage.world == {"same": {"x": "one"}, "other": {"y": "one"}, "none": {}}[further]
    assert stage.calls().count("handle_delete") == 1


@pytest.mark.parametrize("fails", [False, True])
def test_whatever_step_a_crash_comes_after_the_thing_is_there_in_the_end(fails: bool) -> None:
    step = 0
    while True:
        store = open_store(":memory:", sealer=Sealer(KEY))
        stage = Stage(store)
        stage.broken(USED)
        if fails:
            stage.fails("a", "handle_delete")
        stage.engine.begin(RetryStack("s"))
        stage.steps(step)
        is_over = stage.stack.status != "IN_PROGRESS"
        stage.restart()
        stage.engine.recover()
        stage.engine.settle()
        if fails:
            assert stage.states()["a"] == "DELETE_FAILED"
            assert stage.calls().count("handle_create") == 0
            stage.heals("a", "handle_delete")
            stage.run(RetryStack("s"))
        elif stage.stack.status == "FAILED":  # nobody knows whether it had created anything
            stage.run(RetryStack("s"))
        assert stage.stack.state == "CREATE_COMPLETE"
        assert stage.world == {"x": "one"}
        assert stage.calls()[-1] == "handle_create"
        assert len(stage.resource_rows()) == 2
        store.close()
        if is_over:
            break
        step += 1
    assert step > 3


@pytest.mark.parametrize("removal_fails", [False, True])
def test_what_is_made_instead_of_imported_waits_for_the_former_attempt(
    removal_fails: bool, stage: Stage
) -> None:
    stage.broken(ONE)
    if removal_fails:
        stage.fails("a", "handle_delete")
    stage.engine.begin(ImportResource("s", "a", "thing"))
    stage.restart()
    stage.run(CancelStack("s"))  # before anything of it has begun
    stage.update(ONE)
    if removal_fails:
        assert stage.calls() == ["handle_delete"]
        stage.heals("a", "handle_delete")
        stage.run(RetryStack("s"))

    assert stage.stack.state == "UPDATE_COMPLETE"
    assert stage.world == {"x": "one"}
    assert stage.calls()[-1] == "handle_create"
    assert len(stage.resource_rows()) == 1


def test_a_plan_tells_that_what_has_failed_goes_first(stage: Stage) -> None:
    stage.broken(ONE)
    action = UpdateStack("s", stage.bundle(ONE))
    (entry,) = stage.shown(action)["resources"]

    assert entry["action"] == "replace"
    assert [reason["kind"] for reason in entry["reasons"]] == ["failed", "removed first"]

    services = stage.engine.services
    text = format_plan(build_preview(services, action), stage.store.sealer, services.definitions)
    assert stage.run(ApplyPlan(text)).state == "UPDATE_COMPLETE"
    assert stage.calls() == ["handle_delete", "handle_create"]


def test_a_plan_does_not_tell_it_of_what_was_completed(stage: Stage) -> None:
    stage.create(ONE)
    (entry,) = stage.shown(UpdateStack("s", stage.bundle(OTHER)))["resources"]

    assert "removed first" not in [reason["kind"] for reason in entry["reasons"]]


CHILD = "heat_template_version: 2018-08-31\nresources:\n  " + ONE + "\n"
OWNER = "o: {type: child.yaml}"


def test_what_is_nested_goes_first_as_well(stage: Stage) -> None:
    bundle = Bundle(stage.bundle(OWNER).template, files={"child.yaml": CHILD})
    stage.fails("a", "handle_create")
    assert stage.run(CreateStack("s", bundle)).state == "CREATE_FAILED"
    stage.heals("a", "handle_create")
    stage.journal.calls.clear()

    assert stage.run(UpdateStack("s", bundle)).state == "UPDATE_COMPLETE"

    assert stage.world == {"x": "one"}
    assert stage.calls() == ["handle_delete", "handle_create"]


def test_a_nested_stack_that_never_completed_goes_with_its_owner(stage: Stage) -> None:
    """The owner becomes another type: all that is nested in it is removed before that is made."""
    bundle = Bundle(stage.bundle(OWNER).template, files={"child.yaml": CHILD})
    stage.fails("a", "handle_create")
    assert stage.run(CreateStack("s", bundle)).state == "CREATE_FAILED"
    stage.heals("a", "handle_create")

    assert stage.update(ONE.replace("a:", "o:")).state == "UPDATE_COMPLETE"

    assert stage.world == {"x": "one"}
    assert stage.states() == {"o": "CREATE_COMPLETE"}
