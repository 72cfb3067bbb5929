"""Failures that the simulation has found, each as the shortest life that shows it.

Seeds change their meaning whenever the simulation does; these do not.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.conftest import Box, Slow

from zonda.core.engine.actions import (
    AdoptStack,
    ClearHooks,
    CreateStack,
    DeleteSnapshot,
    DeleteStack,
    ImportResource,
    MarkResource,
    ProtectStack,
    RetryStack,
    RollbackStack,
    SnapshotStack,
    SuspendStack,
    UpdateStack,
)
from zonda.core.engine.execution.steps import step
from zonda.core.engine.handlers.runners import act
from zonda.core.engine.model.effects import Step, Wait
from zonda.hooks.errors import Conflict, NotReady, UpdateReplace

TWO = "a: {type: Test::Box}\nb: {type: Test::Box, depends_on: a}"


class Calm(Box):
    """Leaves alone what is changed but its value."""

    def needs_update(self, after: Any, changed: bool) -> bool:
        return bool(self.properties["value"] != after.properties["value"])


class Patient(Slow):
    """What there is of it after a failure is put right by an update."""

    def needs_replace_failed(self) -> bool:
        return self.resource_id is None


def test_what_an_update_makes_instead_of_adopting_it_is_deleted_with_its_stack(bench: Any) -> None:
    bench.fails("a", "check")
    bench.types["Test::Box"].handle_adopt = lambda self, data: self.journal.note(self, "check")
    handed = {"a": {"resource_id": "thing-a"}, "b": {"resource_id": "thing-b"}}
    assert bench.run(AdoptStack("s", bench.bundle(TWO), handed)).state == "ADOPT_FAILED"
    bench.fails("c", "handle_create")
    bench.update(TWO + "\nc: {type: Test::Box, depends_on: b}")
    assert bench.states()["b"] == "CREATE_COMPLETE"

    bench.run(DeleteStack("s"))

    assert bench.journal.of("b")[-1] == "handle_delete"


def test_an_update_heals_what_a_failed_snapshot_has_not_harmed(bench: Any) -> None:
    bench.types["Test::Box"].handle_snapshot = lambda self: self.journal.note(self, "snapshot")
    bench.create("a: {type: Test::Box}")
    bench.fails("a", "snapshot")
    assert bench.run(SnapshotStack("s", "one")).state == "SNAPSHOT_FAILED"

    assert bench.update("a: {type: Test::Box}").state == "UPDATE_COMPLETE"

    assert bench.states() == {"a": "UPDATE_COMPLETE"}
    assert bench.run(SuspendStack("s")).state == "SUSPEND_COMPLETE"


def test_a_deletion_policy_alone_is_kept_where_nothing_needs_an_update(bench: Any) -> None:
    bench.types["Test::Calm"] = type("Calm", (Calm,), {"journal": bench.journal})
    bench.restart()
    bench.create("a: {type: Test::Calm, metadata: {m: 1}}")
    bench.update("a: {type: Test::Calm, deletion_policy: Retain, metadata: {m: 2}}")
    assert bench.resource("a").metadata == {"m": 2}

    bench.delete()

    assert bench.journal.of("a") == ["handle_create"]


@pytest.mark.parametrize(("before", "after"), [("Retain", "Delete"), ("Delete", "Retain")])
def test_what_is_replaced_goes_as_its_own_definition_says(
    bench: Any, before: str, after: str
) -> None:
    def replaced(resource: Any) -> None:
        raise UpdateReplace(resource.name)

    bench.create(f"a: {{type: Test::Box, deletion_policy: {before}, properties: {{value: one}}}}")
    bench.journal.behave["a", "handle_update"] = replaced

    bench.update(f"a: {{type: Test::Box, deletion_policy: {after}, properties: {{value: two}}}}")

    assert ("handle_delete" in bench.journal.of("a")) == (before == "Delete")


def test_a_command_lifts_its_word_when_the_environment_has_taken_back_its_own(bench: Any) -> None:
    bench.create("a: {type: Test::Box}", environment="zonda: {protect: {a: true}}")
    bench.run(ProtectStack("s", ("a",)))
    assert bench.update("a: {type: Test::Box, properties: {fixed: x}}").state == "UPDATE_FAILED"

    bench.run(ProtectStack("s", ("a",), on=False))
    assert bench.update("a: {type: Test::Box}").state == "UPDATE_COMPLETE"

    update = bench.update("a: {type: Test::Box, properties: {fixed: x}}")
    assert update.state == "UPDATE_COMPLETE"


def test_a_removal_whose_outcome_nobody_knows_is_begun_anew(bench: Any) -> None:
    """It ended as a fault of zonda: a removal is not put off as the creation is."""
    failing, removing = ["once"], ["once"]

    def once(left: list[str]) -> Any:
        def behave(resource: Any) -> None:
            if left:
                left.pop()
                raise ConnectionError("the line went dead")

        return behave

    bench.journal.behave["a", "handle_create"] = once(failing)
    bench.journal.behave["a", "handle_delete"] = once(removing)

    view = bench.create(
        "a: {type: Test::Box}", environment="zonda: {retries: {a: {create: {attempts: 3}}}}"
    )

    assert view.state == "CREATE_COMPLETE"
    assert bench.journal.of("a") == [
        "handle_create", "handle_delete", "handle_delete", "handle_create",
    ]  # fmt: skip


@pytest.mark.parametrize("dies", [True, False], ids=["after a crash", "in time"])
def test_what_is_being_removed_is_not_taken_for_what_failed(bench: Any, dies: bool) -> None:
    """A newer plan ended the removal half way, and updated what was not there any more."""
    bench.types["Test::Patient"] = type("Patient", (Patient,), {"journal": bench.journal})
    bench.restart()
    resources = "a: {type: Test::Patient, properties: {value: %s}}"
    retries = "zonda: {retries: {a: {create: {attempts: 2}}}}"
    bench.fails("a", "handle_create")
    bench.journal.behave["a", "check"] = lambda resource: False
    bench.engine.begin(CreateStack("s", bench.bundle(resources % "one", environment=retries)))
    while "handle_delete" not in bench.journal.of("a"):
        bench.steps(1)
    if dies:
        bench.restart().recover()
    bench.engine.begin(UpdateStack("s", bench.bundle(resources % "two")))
    bench.heals("a", "handle_create")
    bench.heals("a", "check")

    bench.engine.settle()

    assert bench.stack.state == "UPDATE_COMPLETE"
    assert "handle_update" not in bench.journal.of("a")
    assert bench.journal.of("a").count("handle_create") == 2


def test_a_snapshot_has_what_was_marked_while_it_was_taken(bench: Any) -> None:
    bench.types["Test::Box"].handle_snapshot = lambda self: self.journal.note(self, "snapshot")
    bench.create(TWO)
    bench.fails("b", "snapshot", NotReady(60.0))
    bench.engine.begin(SnapshotStack("s", "one"))
    while bench.states()["a"] != "SNAPSHOT_COMPLETE":
        bench.steps(1)
    bench.engine.begin(MarkResource("s", "a"))
    bench.heals("b", "snapshot")

    bench.engine.settle()

    (snapshot,) = bench.engine.reader.snapshots(bench.stack.id)
    assert snapshot.status == "COMPLETE"
    assert set(bench.engine.reader.sealer.open(snapshot.data)["resources"]) == {"a", "b"}


def test_what_was_half_removed_when_its_time_was_over_is_replaced(bench: Any) -> None:
    """An update in place was made of what the removal between two attempts had removed."""
    bench.types["Test::Patient"] = type("Patient", (Patient,), {"journal": bench.journal})
    bench.restart()
    bench.fails("a", "handle_create")
    bench.journal.behave["a", "check"] = lambda resource: False
    limits = "zonda: {retries: {a: {create: {attempts: 2}}}, timeouts: {a: {create: 60}}}"
    text = bench.bundle("a: {type: Test::Patient}", environment=limits)
    bench.engine.begin(CreateStack("s", text))
    while "handle_delete" not in bench.journal.of("a"):
        bench.steps(1)
    bench.clock.advance(61.0)
    bench.engine.sweep_deadlines()
    bench.engine.settle()
    assert bench.states() == {"a": "CREATE_FAILED"}
    bench.heals("a", "handle_create")
    bench.heals("a", "check")

    assert bench.update("a: {type: Test::Patient}").state == "UPDATE_COMPLETE"

    assert "handle_update" not in bench.journal.of("a")
    assert bench.states() == {"a": "CREATE_COMPLETE"}
    assert len(bench.resource_rows()) == 1


USED = """
    a: {type: Test::Box, properties: {value: one, fixed: "%s"}}
    b: {type: Test::Box, properties: {value: {get_resource: a}}}
"""


def test_what_a_part_has_made_in_vain_goes_with_its_rollback(bench: Any) -> None:
    """It was kept for what requires its name, which had never used it: for ever."""
    bench.create(USED % "x")
    bench.fails("a", "handle_create")

    part = UpdateStack("s", bench.bundle(USED % "y"), excludes=("b",), rollback=True)
    assert bench.run(part).state == "ROLLBACK_COMPLETE"

    assert [row.name for row in bench.resource_rows()] == ["a", "b"]
    assert bench.journal.of("a") == ["handle_create", "handle_create", "handle_delete"]


def test_what_a_part_has_left_out_shows_what_it_was_made_with(bench: Any) -> None:
    bench.create(USED % "x")
    old = bench.resource("a").physical_id
    bench.run(UpdateStack("s", bench.bundle(USED % "y"), excludes=("b",)))
    found: list[str] = []
    bench.journal.behave["b", "handle_check"] = lambda resource: found.append(
        resource.context.required_resources()["a"].resource_id
    )

    bench.check()
    bench.update(USED % "y")
    bench.check()

    assert found == [old, bench.resource("a").physical_id]


def test_a_rollback_goes_back_to_what_has_worked_while_it_was_worked_out(bench: Any) -> None:
    """It went back to what was good before that: here to nothing, so it deleted everything."""
    bench.fails("a", "handle_create")
    bench.create("a: {type: Test::Slow}")
    bench.heals("a", "handle_create")
    bench.journal.behave["a", "check"] = lambda resource: False
    bench.engine.begin(UpdateStack("s", bench.bundle("a: {type: Test::Slow}")))
    ended: list[BaseException | None] = []
    bench.engine.driver.start(_late(bench), lambda value, error: ended.append(error))
    bench.steps(20)
    bench.heals("a", "check")

    bench.engine.settle()

    assert bench.stack.state == "UPDATE_COMPLETE"
    assert bench.states() == {"a": "CREATE_COMPLETE"}
    assert [str(error) for error in ended if "nothing to roll back" in str(error)]


def _late(bench: Any) -> Step:
    """A rollback that is worked out now, and carried out after a pause."""
    steps = act(bench.engine.services, RollbackStack("s"))
    found = yield next(steps)
    yield Wait(600.0, "")
    while True:
        try:
            found = yield steps.send(found)
        except StopIteration as end:
            return end.value


@pytest.mark.parametrize("force", [False, True])
def test_what_was_imported_meanwhile_is_not_adopted_once_more(bench: Any, force: bool) -> None:
    """Two resources had one object: the deletion of either destroyed the other's."""
    handed = {"b": {"resource_id": "thing"}}
    view = bench.run(AdoptStack("s", bench.bundle(TWO), handed, force=force))
    assert view.state == "ADOPT_FAILED"
    bench.run(ImportResource("s", "a", "thing"))

    if force:
        assert bench.run(RetryStack("s")).state == "ADOPT_COMPLETE"
        assert bench.resource("b").physical_id == "thing"
        return
    with pytest.raises(Conflict, match="thing belongs to resource a of stack s already"):
        bench.run(RetryStack("s"))
    assert bench.update(TWO).state == "UPDATE_COMPLETE"
    assert bench.states() == {"a": "ADOPT_COMPLETE", "b": "CREATE_COMPLETE"}
    assert bench.resource("b").physical_id != "thing"


class Keeps(Box):
    """Keeps a copy of its own for each snapshot."""

    def handle_snapshot(self) -> None:
        assert self.context.operation is not None
        self.data_set("copy", self.context.operation.id)
        self.journal.note(self, "handle_snapshot")

    def handle_delete_snapshot(self, snapshot: Any) -> None:
        self.journal.note(self, "handle_delete_snapshot")


@pytest.fixture
def keeping(bench: Any) -> Any:
    """With a snapshot ``one`` of two resources."""
    bench.types["Test::Keeps"] = type("Keeps", (Keeps,), {"journal": bench.journal})
    bench.restart()
    bench.create(KEPT)
    bench.run(SnapshotStack("s", "one"))
    bench.journal.calls.clear()
    return bench


KEPT = TWO.replace("Box", "Keeps")


def copies(bench: Any, name: str) -> dict[str, str]:
    found = {row.name: row for row in bench.engine.reader.snapshots(bench.stack.id)}
    entries = bench.engine.reader.sealer.open(found[name].data)["resources"]
    return {key: entry["resource_data"]["copy"] for key, entry in entries.items()}


def test_a_snapshot_that_is_retried_takes_no_copy_of_an_earlier_one(keeping: Any) -> None:
    """What it had not reached was left out, for it had given something to another snapshot."""
    keeping.fails("a", "handle_snapshot")
    assert keeping.run(SnapshotStack("s", "two")).state == "SNAPSHOT_FAILED"
    keeping.heals("a", "handle_snapshot")

    assert keeping.run(RetryStack("s")).state == "SNAPSHOT_COMPLETE"

    assert keeping.journal.of("b") == ["handle_snapshot"]
    assert copies(keeping, "one")["b"] != copies(keeping, "two")["b"]


def test_a_snapshot_that_failed_has_no_copy_of_an_earlier_one(keeping: Any) -> None:
    """Its deletion destroyed what the earlier one needs."""
    keeping.fails("a", "handle_snapshot")
    assert keeping.run(SnapshotStack("s", "two")).state == "SNAPSHOT_FAILED"

    keeping.run(DeleteSnapshot("s", "two"))

    assert "handle_delete_snapshot" not in keeping.journal.of("b")


def test_what_has_worked_is_not_tried_again_although_something_came_between(keeping: Any) -> None:
    keeping.fails("b", "handle_snapshot")
    assert keeping.run(SnapshotStack("s", "two")).state == "SNAPSHOT_FAILED"
    assert keeping.run(DeleteSnapshot("s", "one")).state == "SNAPSHOT_FAILED"
    keeping.heals("b", "handle_snapshot")
    keeping.journal.calls.clear()

    assert keeping.run(RetryStack("s")).state == "SNAPSHOT_COMPLETE"

    assert keeping.journal.calls == [("b", "handle_snapshot")]
    assert keeping.engine.reader.actions(keeping.stack.id)[-1].detail["retries"] == 3


def test_of_a_breakpoint_that_was_cleared_for_what_was_refused_nothing_is_left(bench: Any) -> None:
    stops = "resource_registry: {resources: {a: {hooks: pre-update}}}"
    changed = "a: {type: Test::Box, properties: {fixed: x}}"
    bench.create("a: {type: Test::Box}")
    bench.update(changed, environment=stops)
    bench.run(ProtectStack("s", ("a",)))

    assert bench.run(ClearHooks("s", ("a",))).state == "UPDATE_FAILED"

    assert [row.hook for row in bench.resource_rows()] == [""]
    bench.run(ProtectStack("s", ("a",), on=False))
    assert bench.update(changed, environment=stops).state == "UPDATE_IN_PROGRESS"


READS = """
    a: {type: Test::Box, properties: {value: %s}}
    b: {type: Test::Box, properties: {%s: {get_attr: [a, value]}}}
"""


def until_replaced(bench: Any, text: str) -> None:
    """An update has decided to replace b and has not begun to make the new one."""
    stops = "resource_registry: {resources: {b: {hooks: pre-create}}}"
    bench.update(text, environment=stops)
    assert len([row for row in bench.resource_rows() if row.name == "b"]) == 2
    assert bench.journal.of("b") == ["handle_create"]


def test_what_was_not_replaced_after_all_follows_what_it_reads_later(bench: Any) -> None:
    """What it reads has changed for good by then, and nothing would change it once more."""
    bench.create(READS % (1, "fixed"))
    until_replaced(bench, READS % (2, "fixed"))
    part = UpdateStack("s", bench.bundle(READS % (2, "fixed")), excludes=("b",))
    assert bench.run(part).state == "UPDATE_COMPLETE"
    assert bench.resource("b").properties == {"fixed": "1"}

    assert bench.update(READS % (2, "fixed")).state == "UPDATE_COMPLETE"

    assert bench.resource("b").properties == {"fixed": "2"}


def test_what_was_not_replaced_after_all_is_wanted_as_it_is(bench: Any) -> None:
    """Else a repair of it would make it what only the plan wanted that was overtaken."""
    bench.create(READS % (1, "value"))
    made = bench.resource("b").physical_id
    until_replaced(bench, READS % (1, "fixed"))
    part = UpdateStack("s", bench.bundle(READS % (1, "value")), excludes=("b",))
    assert bench.run(part).state == "UPDATE_COMPLETE"

    (row,) = [row for row in bench.resource_rows() if row.name == "b"]

    assert row.physical_id == made
    assert (row.want_hash, row.want_template_id) == (row.have_hash, row.have_template_id)


def test_what_a_part_leaves_out_is_wanted_as_it_is(bench: Any) -> None:
    """An older plan had wanted it otherwise and never came so far."""
    bench.create(TWO)
    changed = TWO.replace("Box", "Box, properties: {value: x}")
    bench.engine.begin(UpdateStack("s", bench.bundle(changed)))
    part = UpdateStack("s", bench.bundle(changed), targets=("a",))
    assert bench.run(part).state == "UPDATE_COMPLETE"

    (row,) = [row for row in bench.resource_rows() if row.name == "b"]

    assert (row.want_hash, row.want_template_id) == (row.have_hash, row.have_template_id)
    bench.update(changed)
    assert bench.journal.of("b") == ["handle_create", "handle_update"]


def test_a_step_that_runs_once_too_often_leaves_a_breakpoint_as_it_is(bench: Any) -> None:
    environment = "resource_registry: {resources: {a: {hooks: pre-create}}}"
    bench.engine.begin(CreateStack("s", bench.bundle(TWO, environment=environment)))
    driver, (key,) = (
        bench.engine.driver,
        [row.id for row in bench.resource_rows() if row.name == "a"],
    )
    steps = [step(bench.engine.services, key) for _ in range(2)]
    prepared = [one.send(driver.run_in_transaction(next(one).run)).run() for one in steps]
    for one, draft in zip(steps, prepared, strict=True):
        driver.run_in_transaction(one.send(draft).run)
    events = bench.engine.reader.events(bench.stack.id)
    assert [event.reason for event in events if event.resource_name == "a"] == [
        "CREATE paused until Hook pre-create is cleared"
    ]
