"""Leftovers of an action stand in every list until they are gone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from zonda.core.engine.actions import (
    AbandonStack,
    CheckStack,
    CreateStack,
    ResumeStack,
    SnapshotStack,
    SuspendStack,
)
from zonda.core.reports.export import StackExporter
from zonda.hooks.errors import Conflict, NotSupported

ONE = "a: {type: Test::Box, properties: {fixed: one}}"
TWO = ONE + "\nb: {type: Test::Box, depends_on: a}"


def export(bench: Any, *, with_secrets: bool = True) -> Any:
    def read(bundle: Any, identity: Any) -> Any:
        return bench.engine.services.definitions.load(bundle, identity, None, False)

    return StackExporter(bench.engine.reader, read).export(
        bench.stack.id, with_secrets=with_secrets
    )


def replaced(bench: Any) -> str:
    """``a`` is replaced, and its old instance cannot be deleted; the old one's physical id."""
    bench.create(ONE)
    old = bench.resource("a").physical_id
    bench.fails("a", "handle_delete")
    assert bench.update(ONE.replace("one", "two")).state == "UPDATE_FAILED"
    return str(old)


def test_a_document_names_what_an_update_could_not_remove(bench: Any) -> None:
    old = replaced(bench)
    found = export(bench).values
    assert found["resources"]["a"]["resource_id"] == bench.resource("a").physical_id != old
    (left,) = found["leftovers"]
    assert (left["name"], left["resource_id"], left["type"]) == ("a", old, "Test::Box")
    assert (left["action"], left["status"]) == ("DELETE", "FAILED")


def test_what_a_leftover_hides_is_masked(bench: Any) -> None:
    keeping = {("a", "handle_create"): lambda one: one.data_set("key", "hush-hush", redact=True)}
    bench.journal.behave.update(keeping)
    replaced(bench)
    found = export(bench, with_secrets=False)
    assert "hush-hush" not in json.dumps(found.values)
    assert "leftovers.0.resource_data.key" in found.hidden
    assert "hush-hush" in json.dumps(export(bench).values["leftovers"])


def test_a_stack_that_could_not_be_deleted_is_exported_as_far_as_it_exists(bench: Any) -> None:
    bench.create(TWO)
    physical = bench.resource("a").physical_id
    bench.fails("a", "handle_delete")
    assert bench.delete().state == "DELETE_FAILED"
    found = export(bench).values
    assert list(found["resources"]) == ["a"], "b is gone"
    assert found["resources"]["a"]["resource_id"] == physical
    assert "leftovers" not in found


def test_what_is_being_made_is_in_the_document(bench: Any) -> None:
    def makes(one: Any) -> None:
        if one.name == "b":
            one.resource_id_set(None)

    bench.journal.behave["b", "handle_create"] = makes
    for name in "ab":
        bench.journal.behave[name, "check"] = lambda one: False
    bench.engine.begin(
        CreateStack("s", bench.bundle("a: {type: Test::Slow}\nb: {type: Test::Slow}"))
    )
    bench.steps(20)
    found = export(bench).values
    a = found["resources"]["a"]
    assert (a["resource_id"], a["action"], a["status"]) == (
        bench.resource("a").physical_id,
        "CREATE",
        "IN_PROGRESS",
    )
    (left,) = found["leftovers"]
    assert (left["name"], left["resource_id"]) == ("b", None), "nobody can adopt it"


def test_a_leftover_that_has_gone_meanwhile_stops_an_abandonment(bench: Any) -> None:
    replaced(bench)
    seen = export(bench).digest
    bench.heals("a", "handle_delete")
    bench.update(ONE.replace("one", "two"))
    with pytest.raises(Conflict, match="has changed"):
        bench.run(AbandonStack("s", seen))


def test_leftovers_are_found_by_name_and_by_id(bench: Any) -> None:
    bench.create(TWO)
    bench.fails("a", "handle_delete")
    bench.delete()
    view = bench.resource("a")
    assert (view.state, view.present) == ("DELETE_FAILED", False)
    assert bench.engine.reader.resource(bench.stack.id, view.id) == view


def test_a_name_means_the_instance_that_stays(bench: Any) -> None:
    old = replaced(bench)
    assert bench.resource("a").present
    (left,) = (
        one for one in bench.engine.reader.resources(bench.stack.id, absent=True) if not one.present
    )
    assert left.physical_id == old
    assert bench.engine.reader.resource(bench.stack.id, left.id) == left


@pytest.mark.parametrize("action", [SuspendStack, ResumeStack, CheckStack, SnapshotStack])
def test_nothing_hides_that_a_deletion_has_failed(bench: Any, action: Any) -> None:
    bench.create(TWO)
    bench.suspend()
    bench.fails("a", "handle_delete")
    bench.delete()
    with pytest.raises(NotSupported, match="DELETE_FAILED"):
        bench.run(action("s"))
    assert bench.stack.state == "DELETE_FAILED"
