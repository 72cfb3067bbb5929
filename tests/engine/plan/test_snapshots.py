"""Snapshots: content, restore, and the resources that they leave alone."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from tests.engine.conftest import Box

from zonda.core.engine.actions import (
    DeleteSnapshot,
    DeleteStack,
    RestoreSnapshot,
    ResumeStack,
    RetryStack,
    SnapshotStack,
    UpdateStack,
)
from zonda.core.store.schema.rows import SnapshotRow
from zonda.hooks import properties
from zonda.hooks.errors import Conflict, NotFound, NotReady, NotSupported


class Vault(Box):
    """Keeps a backup for each snapshot, and comes back from one."""

    properties_schema: ClassVar[Any] = {
        **Box.properties_schema,
        "backup": properties.Schema("String", update_allowed=True),
    }

    def handle_snapshot(self) -> Any:
        self.data_set("backup", f"backup of {self.properties['value']}", redact=True)
        return self.journal.note(self, "handle_snapshot")

    def check_snapshot_complete(self, token: Any) -> bool:
        return self.journal.note(self, "check_snapshot") is not False

    def handle_delete_snapshot(self, snapshot: Any) -> Any:
        self.journal.calls.append((self.name, f"delete {snapshot['resource_data']['backup']}"))
        return self.journal.note(self, "handle_delete_snapshot")

    def check_delete_snapshot_complete(self, token: Any) -> bool:
        return self.journal.note(self, "check_delete_snapshot") is not False

    def handle_restore(self, defn: Any, restore_data: Any) -> Any:
        backup = restore_data["resource_data"]["backup"]
        return defn.freeze(properties={**defn.properties, "backup": backup})


ONE = "v: {type: Test::Vault, properties: {value: one}}\nb: {type: Test::Box, depends_on: v}"
TWO = "v: {type: Test::Vault, properties: {value: two}}\nc: {type: Test::Box}"


@pytest.fixture
def vault(bench: Any) -> Any:
    bench.types["Test::Vault"] = type("Vault", (Vault,), {"journal": bench.journal})
    bench.restart()
    return bench


def snapshots(bench: Any) -> list[SnapshotRow]:
    found: list[SnapshotRow] = bench.engine.reader.snapshots(bench.stack.id)
    return found


def taken(bench: Any, name: str = "first") -> Any:
    return bench.run(SnapshotStack("s", name))


def test_a_snapshot_keeps_what_every_resource_has_given(vault: Any) -> None:
    vault.create(ONE)
    assert taken(vault).state == "SNAPSHOT_COMPLETE"
    assert vault.states() == {"v": "SNAPSHOT_COMPLETE", "b": "SNAPSHOT_COMPLETE"}
    (snapshot,) = snapshots(vault)
    assert (snapshot.name, snapshot.action, snapshot.status) == ("first", "SNAPSHOT", "COMPLETE")
    kept = vault.engine.services.sealer.open(snapshot.data)["resources"]
    assert set(kept) == {"v", "b"}
    assert kept["v"]["resource_data"] == {"backup": "backup of one"}
    assert kept["v"]["resource_id"] == vault.resource("v").physical_id
    assert "backup of one" not in snapshot.data, "it is sealed"


def test_going_back_restores_template_and_resources(vault: Any) -> None:
    vault.create(ONE)
    taken(vault)
    vault.update(TWO)
    view = vault.run(RestoreSnapshot("s", "first"))
    assert view.state == "RESTORE_COMPLETE"
    assert set(vault.states()) == {"v", "b"}
    assert vault.resource("v").properties["value"] == "one"
    assert vault.resource("v").properties["backup"] == "backup of one"
    vault.journal.calls.clear()
    vault.update(ONE)
    assert vault.journal.calls == [], "the restored resource is as its template says"


def test_what_did_not_change_is_restored_too(vault: Any) -> None:
    vault.create(ONE)
    taken(vault)
    vault.journal.calls.clear()
    vault.run(RestoreSnapshot("s", "first"))
    assert vault.journal.calls == [("v", "handle_update")]


def test_what_must_be_replaced_is_made_from_the_snapshot(vault: Any) -> None:
    fixed = ONE.replace("value: one", "value: one, fixed: x")
    vault.create(fixed)
    taken(vault)
    vault.update(fixed.replace("fixed: x", "fixed: y"))
    vault.run(RestoreSnapshot("s", "first"))
    assert vault.resource("v").state == "CREATE_COMPLETE"
    assert vault.resource("v").properties["backup"] == "backup of one"


def test_a_restoration_that_fails_can_be_tried_again(vault: Any) -> None:
    vault.create(ONE)
    taken(vault)
    vault.update(TWO)
    vault.fails("b", "handle_create")
    assert vault.run(RestoreSnapshot("s", "first")).state == "RESTORE_FAILED"
    vault.heals("b", "handle_create")
    assert vault.run(RetryStack("s")).state == "RESTORE_COMPLETE"
    assert vault.resource("v").properties["backup"] == "backup of one"


def test_a_restoration_that_fails_is_rolled_back_where_the_stack_says_so(vault: Any) -> None:
    vault.create(ONE, rollback=True)
    taken(vault)
    vault.update(TWO)
    vault.fails("b", "handle_create")
    assert vault.run(RestoreSnapshot("s", "first")).state == "ROLLBACK_COMPLETE"
    assert set(vault.states()) == {"v", "c"}
    assert vault.resource("v").properties["value"] == "two"


def test_a_snapshot_that_fails_harms_nobody(vault: Any) -> None:
    vault.create(ONE)
    vault.fails("v", "handle_snapshot")
    assert taken(vault).state == "SNAPSHOT_FAILED"
    (snapshot,) = snapshots(vault)
    assert (snapshot.status, snapshot.data) == ("FAILED", None)
    with pytest.raises(NotSupported, match="SNAPSHOT_FAILED"):
        vault.run(RestoreSnapshot("s", "first"))
    vault.heals("v", "handle_snapshot")
    physical = vault.resource("v").physical_id
    assert vault.update(ONE).state == "UPDATE_COMPLETE"
    assert vault.resource("v").physical_id == physical, "it is not replaced for that"


def test_a_snapshot_that_failed_can_be_tried_again(vault: Any) -> None:
    vault.create(ONE)
    vault.fails("v", "handle_snapshot")
    taken(vault)
    vault.heals("v", "handle_snapshot")
    assert vault.run(RetryStack("s")).state == "SNAPSHOT_COMPLETE"
    (snapshot,) = snapshots(vault)
    assert snapshot.status == "COMPLETE"
    vault.run(RestoreSnapshot("s", "first"))


def test_deleting_a_snapshot_asks_its_resources_and_leaves_their_state(vault: Any) -> None:
    vault.create(ONE)
    taken(vault)
    vault.check()
    before, states = vault.stack.state, vault.states()
    view = vault.run(DeleteSnapshot("s", "first"))
    assert ("v", "delete backup of one") in vault.journal.calls
    assert ("v", "check_delete_snapshot") in vault.journal.calls
    assert snapshots(vault) == []
    assert (view.state, vault.states()) == (before, states)


def test_a_snapshot_whose_deletion_failed_stays_and_can_be_deleted_again(vault: Any) -> None:
    vault.create(ONE)
    taken(vault)
    vault.fails("v", "handle_delete_snapshot")
    assert vault.run(DeleteSnapshot("s", "first")).state == "SNAPSHOT_COMPLETE"
    (snapshot,) = snapshots(vault)
    assert (snapshot.action, snapshot.status) == ("DELETE", "FAILED")
    assert "no" in snapshot.status_reason
    with pytest.raises(NotSupported, match="DELETE_FAILED"):
        vault.run(RestoreSnapshot("s", "first"))
    vault.heals("v", "handle_delete_snapshot")
    vault.run(DeleteSnapshot("s", "first"))
    assert snapshots(vault) == []


def test_a_snapshot_goes_on_after_a_crash(vault: Any) -> None:
    vault.create(ONE)
    vault.journal.behave["v", "check_snapshot"] = lambda v: False
    vault.engine.begin(SnapshotStack("s", "first"))
    vault.steps(8)
    assert vault.stack.state == "SNAPSHOT_IN_PROGRESS"
    vault.heals("v", "check_snapshot")
    vault.restart().recover()
    vault.engine.settle()
    assert vault.stack.state == "SNAPSHOT_COMPLETE"
    assert vault.journal.of("v").count("handle_snapshot") == 1
    vault.run(RestoreSnapshot("s", "first"))
    assert vault.resource("v").properties["backup"] == "backup of one"


def test_a_restoration_goes_on_after_a_crash(vault: Any) -> None:
    vault.create(ONE)
    taken(vault)
    vault.update(TWO)
    vault.engine.begin(RestoreSnapshot("s", "first"))
    vault.restart().recover()
    vault.engine.settle()
    assert vault.resource("v").properties["backup"] == "backup of one"


def test_a_deleted_stack_leaves_no_snapshots(vault: Any) -> None:
    stack_id = vault.create(ONE).id
    taken(vault)
    vault.delete()
    assert vault.engine.reader.snapshots(stack_id) == []


def test_what_is_kept_for_snapshots_goes_before_the_resource(vault: Any) -> None:
    vault.create(ONE)
    taken(vault)
    vault.update(ONE.replace("one", "two"))
    taken(vault, "second")
    vault.journal.calls.clear()
    assert vault.delete().state == "DELETE_COMPLETE"
    assert vault.journal.of("v") == [
        *("delete backup of one", "handle_delete_snapshot", "check_delete_snapshot"),
        *("delete backup of two", "handle_delete_snapshot", "check_delete_snapshot"),
        "handle_delete",
    ]


def test_a_deletion_with_snapshots_goes_on_after_a_crash(vault: Any) -> None:
    vault.create(ONE)
    taken(vault)
    vault.journal.behave["v", "check_delete_snapshot"] = lambda v: False
    vault.engine.begin(DeleteStack("s"))
    vault.steps(14)
    assert "handle_delete_snapshot" in vault.journal.of("v")
    vault.heals("v", "check_delete_snapshot")
    vault.restart().recover()
    vault.engine.settle()
    assert vault.journal.of("v").count("handle_delete_snapshot") == 1
    assert vault.journal.of("v")[-1] == "handle_delete"


def test_a_backup_that_cannot_be_removed_keeps_its_resource(vault: Any) -> None:
    stack_id = vault.create(ONE).id
    taken(vault)
    vault.fails("v", "handle_delete_snapshot")
    assert vault.delete().state == "DELETE_FAILED"
    assert "handle_delete" not in vault.journal.of("v")
    assert len(vault.engine.reader.snapshots(stack_id)) == 1
    vault.heals("v", "handle_delete_snapshot")
    assert vault.run(RetryStack("s")).state == "DELETE_COMPLETE"
    assert vault.journal.of("v")[-1] == "handle_delete"


def test_a_snapshot_overtaken_by_a_deletion_has_failed(vault: Any) -> None:
    stack_id = vault.create(ONE).id
    vault.journal.behave["v", "check_snapshot"] = lambda v: False
    vault.engine.begin(SnapshotStack("s", "first"))
    vault.steps(8)
    vault.heals("v", "check_snapshot")
    vault.fails("v", "handle_delete")
    vault.engine.begin(DeleteStack("s"))
    (snapshot,) = vault.engine.reader.snapshots(stack_id)
    assert (snapshot.status, snapshot.status_reason) == (
        "FAILED",
        "SNAPSHOT was overtaken by DELETE",
    )


def test_a_suspended_stack_may_be_snapshot_and_then_resumed(vault: Any) -> None:
    vault.create(ONE)
    vault.suspend()
    assert taken(vault).state == "SNAPSHOT_COMPLETE"
    with pytest.raises(NotSupported, match="suspended"):
        vault.run(RestoreSnapshot("s", "first"))
    assert vault.run(ResumeStack("s")).state == "RESUME_COMPLETE"


def test_what_runs_is_not_disturbed(vault: Any) -> None:
    vault.create(ONE)
    taken(vault)
    vault.engine.begin(UpdateStack("s", vault.bundle(TWO)))
    for action in (SnapshotStack("s"), RestoreSnapshot("s", "first"), DeleteSnapshot("s", "first")):
        with pytest.raises(Conflict):
            vault.engine.begin(action)


def test_names_are_found_and_taken_once(vault: Any) -> None:
    vault.create(ONE)
    taken(vault)
    with pytest.raises(Conflict, match="first"):
        taken(vault)
    with pytest.raises(NotFound, match="frist"):
        vault.run(RestoreSnapshot("s", "frist"))


def until(bench: Any, name: str, call: str) -> None:
    bench.journal.calls.clear()
    for _ in range(100):
        if (name, call) in bench.journal.calls:
            return
        bench.steps(1)
    pytest.fail(f"{call} of {name} is never called")


FORGOTTEN = ["delete backup of one", "handle_delete_snapshot", "check_delete_snapshot"]
SLOW = "v: {type: Test::Patient, properties: {value: %s}}"


@pytest.fixture
def patient(vault: Any) -> Any:
    """A vault whose updates are polled."""

    class Patient(Vault):
        journal = vault.journal

        def check_update_complete(self, token: Any) -> bool:
            return self.journal.note(self, "check_update") is not False

    vault.types["Test::Patient"] = Patient
    vault.restart()
    vault.create(SLOW % "one")
    taken(vault)
    return vault


def test_a_deletion_that_overtakes_an_update_forgets_what_is_kept(patient: Any) -> None:
    patient.journal.behave["v", "check_update"] = lambda v: False
    patient.engine.begin(UpdateStack("s", patient.bundle(SLOW % "two")))
    until(patient, "v", "check_update")
    patient.engine.begin(DeleteStack("s"))
    patient.heals("v", "check_update")
    patient.journal.calls.clear()

    patient.engine.settle()

    assert patient.journal.of("v") == ["check_update", *FORGOTTEN, "handle_delete"]


def test_a_deletion_of_a_snapshot_that_is_overtaken_goes_on_with_what_it_was_handed(
    vault: Any,
) -> None:
    vault.create(ONE)
    taken(vault)
    vault.fails("v", "handle_delete_snapshot", NotReady(5))
    vault.engine.begin(DeleteSnapshot("s", "first"))
    until(vault, "v", "handle_delete_snapshot")
    vault.engine.begin(DeleteStack("s"))
    vault.heals("v", "handle_delete_snapshot")
    vault.journal.calls.clear()

    vault.restart().recover()
    vault.engine.settle()

    assert vault.journal.of("v") == [*FORGOTTEN, *FORGOTTEN, "handle_delete"]


def test_a_deletion_that_failed_is_no_danger_for_snapshots_afterwards(vault: Any) -> None:
    vault.create(ONE)
    taken(vault)
    vault.fails("b", "handle_delete")
    assert vault.delete().state == "DELETE_FAILED"
    vault.heals("b", "handle_delete")
    vault.update(ONE)
    vault.journal.calls.clear()

    assert vault.update(TWO.replace("v:", "w:")).state == "UPDATE_COMPLETE"

    assert vault.journal.of("v") == ["handle_delete"]
    assert len(snapshots(vault)) == 1


def test_a_deletion_that_is_tried_again_forgets_what_is_kept_by_then(vault: Any) -> None:
    vault.create(ONE)
    taken(vault)
    vault.fails("b", "handle_delete")
    vault.delete()
    vault.heals("b", "handle_delete")
    vault.journal.calls.clear()

    assert vault.run(RetryStack("s")).state == "DELETE_COMPLETE"

    assert vault.journal.of("v") == [*FORGOTTEN, "handle_delete"]


def test_a_snapshot_deleted_after_a_restoration_failed_takes_nothing_from_that(vault: Any) -> None:
    text = ONE.replace("b: {type: Test::Box", "b: {type: Test::Vault, properties: {value: b}")
    vault.create(text)
    taken(vault)
    taken(vault, "second")
    vault.fails("v", "handle_update")
    assert vault.run(RestoreSnapshot("s", "first")).state == "RESTORE_FAILED"
    vault.heals("v", "handle_update")
    vault.run(DeleteSnapshot("s", "second"))

    assert vault.run(RetryStack("s")).state == "RESTORE_COMPLETE"

    assert vault.resource("b").properties["backup"] == "backup of b"


def test_what_one_restoration_left_undone_is_not_done_by_another_one(vault: Any) -> None:
    vault.create(TWO)
    taken(vault, "without b")
    vault.update(ONE.replace("b: {type: Test::Box", "b: {type: Test::Vault"))
    taken(vault)
    vault.fails("v", "handle_update")
    assert vault.run(RestoreSnapshot("s", "first")).state == "RESTORE_FAILED"
    assert any("restore:" in (row.given or "") for row in vault.resource_rows())
    vault.heals("v", "handle_update")

    assert vault.run(RestoreSnapshot("s", "without b")).state == "RESTORE_COMPLETE"

    assert not any(row.given for row in vault.resource_rows())


@pytest.mark.parametrize("then", ["snapshot deleted", "stack deleted"])
def test_what_a_snapshot_that_failed_has_made_can_be_removed(vault: Any, then: str) -> None:
    vault.create(ONE.replace("b: {type: Test::Box", "b: {type: Test::Vault"))
    vault.fails("b", "handle_snapshot")
    taken(vault)
    (snapshot,) = snapshots(vault)
    vault.journal.calls.clear()

    vault.delete() if then == "stack deleted" else vault.run(DeleteSnapshot("s", snapshot.id))

    assert vault.journal.of("v")[:3] == FORGOTTEN
    assert "handle_delete_snapshot" not in vault.journal.of("b")


def test_what_a_snapshot_that_is_overtaken_has_made_is_removed(vault: Any) -> None:
    vault.create(ONE.replace("b: {type: Test::Box", "b: {type: Test::Vault"))
    vault.journal.behave["b", "check_snapshot"] = lambda b: False
    vault.engine.begin(SnapshotStack("s", "first"))
    until(vault, "b", "check_snapshot")
    vault.heals("b", "check_snapshot")
    vault.journal.calls.clear()

    assert vault.delete().state == "DELETE_COMPLETE"

    assert vault.journal.of("v") == [*FORGOTTEN, "handle_delete"]


def test_a_deleted_snapshot_does_not_make_good_what_failed_to_be_created(vault: Any) -> None:
    fixed = "v: {type: Test::Vault, properties: {value: one, fixed: %s}}"
    vault.create(fixed % "x")
    taken(vault)
    old = vault.resource("v").physical_id
    vault.fails("v", "handle_create")
    assert vault.update(fixed % "y").state == "UPDATE_FAILED"
    vault.run(DeleteSnapshot("s", "first"))

    assert vault.check().state == "CHECK_FAILED"
    assert vault.update(fixed % "y").state == "UPDATE_FAILED"

    assert old in {row.physical_id for row in vault.resource_rows()}
    assert vault.journal.of("v").count("handle_delete") == 1, "of what failed, before it is tried"


@pytest.mark.parametrize("then", ["snapshot deleted", "stack deleted"])
def test_what_a_resource_that_is_gone_has_kept_is_named(vault: Any, then: str) -> None:
    stack_id = vault.create(ONE).id
    taken(vault)
    vault.update("b: {type: Test::Box}")

    vault.delete() if then == "stack deleted" else vault.run(DeleteSnapshot("s", "first"))

    said = [event.reason for event in vault.engine.reader.events(stack_id)]
    assert said[-1].endswith("successfully; left behind, for want of a resource: what v kept")


def test_a_stack_with_a_snapshot_goes_as_far_as_it_can_without_a_plug_in(vault: Any) -> None:
    vault.create(ONE)
    taken(vault)
    del vault.types["Test::Vault"]
    vault.restart()

    assert vault.delete().state == "DELETE_FAILED"

    assert vault.journal.of("b")[-1] == "handle_delete"


def test_who_is_to_be_deleted_is_not_passed_over_when_a_snapshot_is(vault: Any) -> None:
    vault.create(ONE)
    taken(vault)
    vault.fails("b", "handle_delete")
    vault.delete()
    vault.heals("b", "handle_delete")

    with pytest.raises(NotSupported, match="v of stack s cannot be asked"):
        vault.run(DeleteSnapshot("s", "first"))

    assert len(snapshots(vault)) == 1
    vault.update(ONE)
    vault.run(DeleteSnapshot("s", "first"))
    assert vault.journal.of("v")[-3:] == FORGOTTEN
