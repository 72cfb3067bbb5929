"""Updates after a resource has failed, was refused or was overtaken."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.core.engine.actions import RollbackStack
from zonda.hooks.errors import UpdateReplace

HIDDEN = "parameters: {password: {type: string, hidden: true, default: hunter2-hunter2}}\n"
READER = """
a: {type: Test::Box}
b: {type: Test::Box, properties: {value: {get_attr: [a, value]}}}
"""


def box(value: str) -> str:
    return f"a: {{type: Test::Box, properties: {{value: {value}}}}}"


def is_kept(bench: Any) -> list[Any]:
    """Let a box be updated after a failure; gives what its updates were called with."""
    seen: list[Any] = []

    def handle_update(resource: Any, snippet: Any, template: Any, properties: Any) -> Any:
        seen.append(dict(properties))
        return resource.journal.note(resource, "handle_update")

    cls: Any = bench.types["Test::Box"]
    cls.needs_replace_failed = lambda resource: False
    cls.handle_update = handle_update
    return seen


def test_a_property_stays_hidden_until_its_open_value_is_there(bench: Any) -> None:
    bench.create(box("{get_param: password}"), rest=HIDDEN)
    is_kept(bench)
    bench.fails("a", "handle_update")
    bench.update(box("open"), rest=HIDDEN)
    assert bench.resource("a").properties == {"value": "(hidden)"}
    bench.heals("a", "handle_update")
    bench.update(box("open"), rest=HIDDEN)
    assert bench.resource("a").properties == {"value": "open"}


def test_a_refused_update_leaves_the_resource_alone(bench: Any) -> None:
    restricted = "resource_registry: {resources: {a: {restricted_actions: update}}}\n"
    bench.create(box("x"))
    before = bench.resource("a").physical_id
    stack = bench.update(box("y"), environment=restricted)
    assert stack.status_reason.startswith("ResourceActionRestricted: resources.a: update")
    bench.journal.calls.clear()
    assert bench.update(box("x"), environment=restricted).state == "UPDATE_COMPLETE"
    assert bench.journal.calls == []
    assert bench.resource("a").physical_id == before
    reasons = [event.reason for event in bench.engine.reader.events(bench.stack.id)]
    assert reasons.count("update is restricted for resource.") == 1
    assert bench.states() == {"a": "CREATE_COMPLETE"}


@pytest.mark.parametrize("restricted", ["update", "replace"])
def test_a_restricted_action_leaves_the_state_and_is_an_event(bench: Any, restricted: str) -> None:
    rules = f"resource_registry: {{resources: {{a: {{restricted_actions: {restricted}}}}}}}\n"
    bench.create(box("x"))
    known = bench.resource("a")
    wanted = box("y") if restricted == "update" else "a: {type: Test::Slow}"
    for times in (1, 2):
        assert bench.update(wanted, environment=rules).state == "UPDATE_FAILED"
        seen = bench.resource("a")
        assert (seen.state, seen.status_reason) == ("CREATE_COMPLETE", known.status_reason)
        events = bench.engine.reader.events(bench.stack.id)
        told = [
            (e.action, e.status)
            for e in events
            if e.reason == f"{restricted} is restricted for resource."
        ]
        assert told == [("UPDATE", "FAILED")] * times
    assert bench.update(wanted).state == "UPDATE_COMPLETE"


def test_an_update_after_a_failed_creation_is_told_what_changes(bench: Any) -> None:
    seen = is_kept(bench)
    bench.fails("a", "handle_create")
    bench.create(box("x"))
    assert bench.update(box("y")).state == "UPDATE_COMPLETE"
    assert seen == [{"value": "y"}]
    assert bench.resource("a").properties == {"value": "y"}


def test_what_failed_its_check_is_replaced_unless_its_type_repairs(bench: Any) -> None:
    bench.create(box("x"))
    seen = is_kept(bench)
    before = bench.resource("a").physical_id
    bench.fails("a", "handle_check")
    bench.check()
    bench.types["Test::Box"].repairs_in_place = True
    assert bench.update(box("x")).state == "UPDATE_COMPLETE"
    assert (seen, bench.resource("a").physical_id) == ([{}], before)
    bench.check()
    bench.types["Test::Box"].repairs_in_place = False
    assert bench.update(box("x")).state == "UPDATE_COMPLETE"
    assert len(seen) == 1
    assert "handle_delete" in bench.journal.of("a")


def test_a_check_does_not_make_a_failed_update_good(bench: Any) -> None:
    bench.create(box("x"))
    seen = is_kept(bench)
    bench.fails("a", "handle_update")
    bench.update(box("y"))
    bench.heals("a", "handle_update")
    assert bench.check().state == "CHECK_COMPLETE"
    seen.clear()
    assert bench.update(box("x")).state == "UPDATE_COMPLETE"
    assert len(seen) == 1


def test_what_was_half_updated_before_it_was_to_be_replaced_is_taken_back(bench: Any) -> None:
    text = "a: {type: Test::Slow, properties: {value: %s}}"
    bench.create(text % "one")
    bench.fails("a", "check", UpdateReplace("a"))
    bench.fails("a", "handle_create")
    bench.update(text % "two")
    assert bench.stack.state == "UPDATE_FAILED"
    bench.journal.behave.clear()
    bench.journal.calls.clear()

    assert bench.run(RollbackStack("s")).state == "ROLLBACK_COMPLETE"

    assert bench.journal.of("a")[:2] == ["handle_update", "check"]
