"""Repairs after failed repairs, and resources whose external name has changed."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.conftest import Bench
from tests.engine.drifting import Drifting, Thing
from tests.engine.nested_trees import template
from tests.engine.planned_repairs import planned

from zonda.core.engine.actions import CreateStack, DeleteStack, SetDrift
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.errors import ResourceFailure
from zonda.hooks.resources.resource import Resource

TWO = """
    a: {type: Test::Thing, properties: {size: 1, zone: here}}
    user: {type: Test::Thing, properties: {link: {get_resource: a}}}
"""
NESTED = template("c: {type: child.yaml}")


class Named(Thing):
    """Its outside name is the same whoever makes it."""

    def handle_create(self) -> None:
        self.world.calls.append((self.name, "create"))
        self.resource_id_set(f"named-{self.name}")
        self.world.things[str(self.resource_id)] = dict(self.properties.get_stored_values())


@pytest.fixture
def drift(bench: Bench) -> Drifting:
    made = Drifting(bench)
    bench.types["Test::Named"] = type("Named", (Named,), {"world": made.world})
    made.restart()
    return made


class Failing:
    """While it is entered, nothing of a type can be made."""

    def __init__(self, drift: Drifting, type_: str = "Test::Thing") -> None:
        self._cls: Any = drift.bench.types[type_]

    def __enter__(self) -> None:
        self._known = self._cls.handle_create

        def handle_create(resource: Resource) -> None:
            raise ResourceFailure("no room")

        self._cls.handle_create = handle_create

    def __exit__(self, *_: object) -> None:
        self._cls.handle_create = self._known


def create_nested(drift: Drifting, resources: str) -> None:
    bundle = Bundle(NESTED, files={"child.yaml": template(resources)})
    stack = drift.engine.run(CreateStack("s", bundle))
    assert stack.state == "CREATE_COMPLETE", stack.status_reason
    drift.world.calls.clear()


def the_thing(drift: Drifting, name: str) -> dict[str, Any]:
    (key,) = [key for key in drift.world.things if key.startswith(f"thing-{name}-")]
    return drift.world.things[key]


def lose(drift: Drifting, name: str) -> None:
    (key,) = [key for key in drift.world.things if key.partition("-")[2].startswith(name)]
    del drift.world.things[key]


def test_what_a_repair_could_not_make_anew_is_made_by_the_next(drift: Drifting) -> None:
    drift.create(TWO)
    lose(drift, "a")
    with Failing(drift):
        assert drift.repair().state == "UPDATE_FAILED"
        assert drift.repair().state == "UPDATE_FAILED"
    check = drift.check()
    found = drift.findings(check)["a"]
    assert (check.verdict, found.verdict) == ("MISSING", "MISSING")
    assert found.reason == "a repair was to make it anew: its CREATE has failed"
    assert drift.repair().state == "UPDATE_COMPLETE"
    assert drift.world.changed()[:2] == [("a", "delete"), ("a", "create")]
    assert drift.check().verdict == "IN_SYNC"
    assert len(drift.bench.resource_rows()) == 2
    assert all(row.given is None for row in drift.bench.resource_rows())


def test_what_had_drifted_is_not_gone_back_to(drift: Drifting) -> None:
    drift.create(TWO)
    drift.thing("a")["zone"] = "elsewhere"
    with Failing(drift):
        assert drift.repair().state == "UPDATE_FAILED"
        assert drift.repair().state == "UPDATE_FAILED"
    assert drift.repair().state == "UPDATE_COMPLETE"
    assert drift.thing("a")["zone"] == "here"
    assert drift.check().verdict == "IN_SYNC"
    assert len(drift.world.things) == 2


@pytest.mark.parametrize("zone", ["elsewhere", ""])
def test_in_a_nested_stack(drift: Drifting, zone: str) -> None:
    create_nested(drift, TWO)
    if zone:
        the_thing(drift, "a")["zone"] = zone
    else:
        lose(drift, "a")
    with Failing(drift):
        assert drift.repair().state == "UPDATE_FAILED"
    assert drift.findings(drift.check())["c/a"].verdict == "MISSING"
    assert drift.repair().state == "UPDATE_COMPLETE"
    assert the_thing(drift, "a")["zone"] == "here"
    assert drift.check().verdict == "IN_SYNC"
    assert len(drift.world.things) == 2


def test_a_schedule_tries_again_each_time_it_is_due(drift: Drifting) -> None:
    drift.create(TWO)
    drift.engine.run(SetDrift("s", "15m", "repair"))
    lose(drift, "a")

    def fire() -> str:
        at = drift.bench.stack.drift_next
        assert at is not None
        drift.bench.clock.advance(at - drift.bench.clock.now())
        drift.sweep()
        return str(drift.bench.stack.state)

    with Failing(drift):
        assert [fire(), fire()] == ["UPDATE_FAILED", "UPDATE_FAILED"]
        assert drift.bench.stack.generation == 3
    assert fire() == "UPDATE_COMPLETE"
    assert drift.check().verdict == "IN_SYNC"


def test_a_plan_shows_what_is_tried_again(drift: Drifting) -> None:
    drift.create(TWO)
    lose(drift, "a")
    with Failing(drift):
        drift.repair()
    shown = [(each["name"], each["action"]) for each in planned(drift)["resources"]]
    assert ("a", "replace") in shown


def test_what_an_update_could_not_make_is_not_taken_for_drift(drift: Drifting) -> None:
    drift.create(TWO)
    with Failing(drift):
        drift.bench.update(TWO.replace("here", "there"))
    assert drift.findings(drift.check())["a"].verdict == "UNKNOWN"
    assert drift.repair().state == "UPDATE_FAILED"
    assert drift.world.changed() == []


def test_an_update_to_something_else_takes_over(drift: Drifting) -> None:
    drift.create(TWO)
    lose(drift, "a")
    with Failing(drift):
        drift.repair()
        drift.bench.update(TWO.replace("here", "there"))
    assert drift.findings(drift.check())["a"].verdict == "UNKNOWN"


@pytest.mark.parametrize("is_nested", [False, True])
def test_what_is_missing_is_not_deleted_once_it_is_made_anew(
    drift: Drifting, is_nested: bool
) -> None:
    text = "n: {type: Test::Named, properties: {size: 1}}"
    if is_nested:
        create_nested(drift, text)
    else:
        drift.create(text)
    lose(drift, "n")
    assert drift.repair().state == "UPDATE_COMPLETE"
    assert drift.world.changed() == [("n", "create")]
    assert drift.world.things == {"named-n": {"size": 1}}
    assert drift.check().verdict == "IN_SYNC"
    owner = drift.reader.stack_named("s/c", "default") if is_nested else drift.bench.stack
    (reason,) = [
        event.reason
        for event in drift.reader.events(owner.id)
        if (event.action, event.status) == ("DELETE", "COMPLETE")
    ]
    assert reason == "nothing to delete: it was found missing"
    drift.engine.run(DeleteStack("s"))
    assert drift.world.changed() == [("n", "create"), ("n", "delete")]
    assert drift.world.things == {}


def test_what_a_failed_repair_has_left_is_deleted(drift: Drifting) -> None:
    """What was missing is not, what was begun since is; before it is made once more."""
    drift.create("n: {type: Test::Named, properties: {size: 1}}")
    lose(drift, "n")
    cls: Any = drift.bench.types["Test::Named"]
    known = cls.handle_create

    def handle_create(resource: Any) -> None:
        resource.world.calls.append((resource.name, "create"))
        resource.resource_id_set("half")
        resource.world.things["half"] = {}
        raise ResourceFailure("in the middle of it")

    cls.handle_create = handle_create
    assert drift.repair().state == "UPDATE_FAILED"
    cls.handle_create = known
    assert drift.repair().state == "UPDATE_COMPLETE"
    assert drift.world.changed() == [("n", "delete"), ("n", "create")]
    assert drift.world.things == {"named-n": {"size": 1}}


def test_what_is_not_made_anew_is_deleted_as_ever(drift: Drifting) -> None:
    """It was missing once: by the time that the stack goes somebody may have put it back."""
    drift.create(TWO)
    lose(drift, "a")
    with Failing(drift):
        drift.repair()
    drift.engine.run(DeleteStack("s"))
    assert ("user", "delete") in drift.world.changed()
    assert drift.world.things == {}


def test_what_is_put_right_in_place_is_deleted_as_ever(drift: Drifting) -> None:
    drift.create("m: {type: Test::Mended, properties: {size: 1}}")
    drift.goes("m")
    drift.repair()
    drift.engine.run(DeleteStack("s"))
    assert drift.world.changed() == [("m", "update"), ("m", "delete")]


def test_a_thing_that_is_gone_again_is_found(drift: Drifting) -> None:
    drift.create("n: {type: Test::Named, properties: {size: 1}}")
    for _ in range(3):
        lose(drift, "n")
        assert drift.repair().state == "UPDATE_COMPLETE"
    assert drift.world.things == {"named-n": {"size": 1}}


def test_an_update_that_failed_in_a_repair_is_tried_again_in_place(drift: Drifting) -> None:
    drift.create(TWO)
    drift.thing("a")["size"] = 9
    cls: Any = drift.bench.types["Test::Thing"]
    known = cls.handle_update

    def fails(resource: Resource, *given: Any) -> None:
        raise ResourceFailure("no route")

    cls.handle_update = fails
    assert drift.repair().state == "UPDATE_FAILED"
    cls.handle_update = known
    shown = {each["name"]: each["action"] for each in planned(drift)["resources"]}
    assert shown["a"] == "update"
    assert drift.repair().state == "UPDATE_COMPLETE"
    assert drift.world.changed() == [("a", "update")]
    assert drift.world.diffs["a"] == {"size": 1}


def test_a_repair_goes_by_what_it_has_seen_itself(drift: Drifting) -> None:
    """Whatever a CHECK has said before: it is there by now."""
    drift.create("a: {type: Test::Thing, properties: {size: 1}}")
    cls: Any = drift.bench.types["Test::Thing"]
    known = cls.handle_check

    def fails(resource: Resource) -> None:
        raise ResourceFailure("gone")

    cls.handle_check = fails
    drift.bench.check()
    cls.handle_check = known
    drift.thing("a")["size"] = 9
    drift.repair()
    assert drift.world.changed() == [("a", "update")]


def test_no_plan_shows_what_a_hidden_property_was_found_to_be(drift: Drifting) -> None:
    drift.create("a: {type: Test::Thing, properties: {secret: one-hush, tags: {k: v}}}")
    drift.thing("a").update(secret="live-hush", tags={"k": "is live-hush", "live-hush": "x"})
    text = str(planned(drift))
    assert "tags" in text
    assert "hush" not in text
