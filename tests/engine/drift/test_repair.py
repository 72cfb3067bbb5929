"""Repair: an ordinary update of exactly what has drifted."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.conftest import Bench
from tests.engine.drifting import Drifting
from tests.engine.planned_repairs import planned

from zonda.core.engine.actions import ProtectStack, RepairDrift, UpdateStack
from zonda.hooks.errors import Conflict, NotSupported, ResourceFailure
from zonda.hooks.resources.resource import Resource

FOUR = """
    a: {type: Test::Thing, properties: {size: 1, tags: {env: prod}}}
    b: {type: Test::Thing, properties: {size: 2, zone: here}}
    user: {type: Test::Thing, properties: {link: {get_resource: b}}}
    d: {type: Test::Mended, properties: {size: 4}}
"""


@pytest.fixture
def drift(bench: Bench) -> Drifting:
    return Drifting(bench)


def test_the_type_is_asked_to_change_just_what_differs(drift: Drifting) -> None:
    drift.create(FOUR)
    drift.thing("a").update(size=9, tags={"env": "test"})
    drift.thing("b")["size"] = 7
    drift.check()
    stack = drift.repair()
    assert (stack.state, stack.generation) == ("UPDATE_COMPLETE", 2)
    assert drift.world.changed() == [("a", "update"), ("b", "update")]
    assert drift.world.diffs == {"a": {"size": 1, "tags": {"env": "prod"}}, "b": {"size": 2}}
    assert drift.check().verdict == "IN_SYNC"
    assert all(row.given is None for row in drift.bench.resource_rows())


def test_what_may_not_be_changed_is_replaced_and_its_users_follow(drift: Drifting) -> None:
    drift.create(FOUR)
    drift.thing("b")["zone"] = "elsewhere"
    drift.check()
    drift.repair()
    assert drift.world.changed() == [("b", "create"), ("user", "update"), ("b", "delete")]
    assert drift.check().verdict == "IN_SYNC"


def test_what_is_missing_is_replaced_or_put_right_in_place(drift: Drifting) -> None:
    drift.create(FOUR)
    before = drift.bench.resource("d").physical_id
    drift.goes("b")
    drift.goes("d")
    drift.check()
    drift.repair()
    changed = drift.world.changed()
    assert sorted(changed) == [("b", "create"), ("d", "update"), ("user", "update")]
    assert drift.bench.resource("d").physical_id == before
    assert drift.check().verdict == "IN_SYNC"


def test_exactly_what_has_drifted_of_a_thousand(drift: Drifting) -> None:
    lines = [
        f"r{n}: {{type: Test::Thing, properties: {{size: {n}, zone: z{n}}}}}" for n in range(1000)
    ]
    drift.create("\n".join(lines))
    chosen = [f"r{n}" for n in (3, 77, 178, 400, 555, 801, 999)]
    for name in chosen:
        drift.thing(name)["size"] = -1
    lost = [f"r{n}" for n in (10, 20, 30)]
    for name in lost:
        drift.world.behave[name] = _raises(ResourceFailure("no route"))
    check = drift.check()
    assert check.counts == {
        "IN_SYNC": 990,
        "DRIFTED": 7,
        "MISSING": 0,
        "UNKNOWN": 3,
        "IGNORED": 0,
    }
    found = drift.findings(check)
    assert {path for path, each in found.items() if each.verdict == "DRIFTED"} == set(chosen)
    assert {path for path, each in found.items() if each.verdict == "UNKNOWN"} == set(lost)
    assert all([each.path for each in found[name].differences] == [("size",)] for name in chosen)
    drift.repair()
    assert sorted(drift.world.changed()) == sorted((name, "update") for name in chosen)
    assert set(drift.world.diffs) == set(chosen)


def _raises(error: BaseException) -> Any:
    def behave(resource: Resource) -> Any:
        raise error

    return behave


def test_nothing_to_repair_plans_nothing(drift: Drifting) -> None:
    drift.create(FOUR)
    drift.check()
    stack = drift.repair()
    assert (stack.state, stack.generation) == ("CREATE_COMPLETE", 1)
    assert drift.world.changed() == []


def test_what_was_put_right_by_hand_meanwhile_is_left_alone(drift: Drifting) -> None:
    drift.create(FOUR)
    drift.thing("a")["size"] = 9
    drift.check()
    drift.thing("a")["size"] = 1
    assert drift.repair().generation == 1
    assert drift.world.changed() == []


@pytest.mark.parametrize("checks", [0, 1])
def test_everything_is_looked_at_whatever_the_last_check_has_said(
    drift: Drifting, checks: int
) -> None:
    drift.create(FOUR)
    for _ in range(checks):
        drift.check()
    drift.thing("a")["size"] = 9
    drift.repair()
    assert drift.world.changed() == [("a", "update")]
    drift.thing("b")["size"] = 9
    drift.repair()
    assert drift.world.changed() == [("b", "update")]


def test_only_what_is_named_is_repaired(drift: Drifting) -> None:
    drift.create(FOUR)
    drift.thing("a")["size"] = drift.thing("b")["size"] = 9
    drift.check()
    drift.repair("b")
    assert drift.world.changed() == [("b", "update")]


def test_unknown_and_ignored_ones_are_not_touched(drift: Drifting) -> None:
    drift.create(FOUR)
    drift.world.behave["a"] = _raises(ResourceFailure("no"))
    drift.thing("b").update(size=9, zone="elsewhere")
    drift.ignore("b", "zone", reason="moved by hand")
    drift.check()
    drift.repair()
    assert drift.world.changed() == [("b", "update")]
    assert drift.world.diffs["b"] == {"size": 2}


def test_a_stack_that_has_failed_for_other_reasons_is_not_called_well_by_a_repair(
    drift: Drifting, bench: Bench
) -> None:
    drift.create(FOUR)
    bench.fails("x", "handle_create")
    bench.update(FOUR + "    x: {type: Test::Box}\n")
    assert bench.stack.state == "UPDATE_FAILED"
    drift.thing("a")["size"] = 9
    drift.check()
    with pytest.raises(NotSupported, match="has not worked yet"):
        drift.repair()
    assert drift.world.changed() == []
    assert bench.stack.state == "UPDATE_FAILED"


def test_other_things_that_an_update_would_do_are_not_done(drift: Drifting, bench: Bench) -> None:
    drift.create(FOUR + "    w: {type: Test::Box, properties: {value: x}}\n")
    with bench.store.transaction() as tx:
        (row,) = tx.resources_named(bench.stack.id, "w")
        row.dirty = 1
        row.have_hash = row.resolved_hash = ""
    bench.store.forget_rows()
    drift.thing("a")["size"] = 9
    drift.check()
    bench.journal.calls.clear()
    drift.repair()
    assert drift.world.changed() == [("a", "update")]
    assert bench.journal.calls == []


def test_what_is_protected_is_not_replaced(drift: Drifting) -> None:
    drift.create(FOUR)
    drift.engine.run(ProtectStack("s", ("b",)))
    drift.goes("b")
    drift.check()
    stack = drift.repair()
    assert stack.state == "UPDATE_FAILED"
    assert "protected" in stack.status_reason
    assert drift.world.changed() == []


def test_a_repair_that_fails_leaves_the_stack_failed_and_can_be_made_again(
    drift: Drifting, bench: Bench
) -> None:
    drift.create("m: {type: Test::Mended, properties: {size: 1}}")
    drift.thing("m")["size"] = 9
    drift.check()
    update, cls = bench.types["Test::Mended"].handle_update, bench.types["Test::Mended"]
    cls.handle_update = _raises(ResourceFailure("busy"))  # type: ignore[assignment]
    assert drift.repair().state == "UPDATE_FAILED"
    cls.handle_update = update  # type: ignore[method-assign]
    assert drift.check().verdict == "DRIFTED"
    assert drift.repair().state == "UPDATE_COMPLETE"
    assert drift.check().verdict == "IN_SYNC"


def test_what_is_changed_while_it_is_looked_at_is_not_repaired_by_that(drift: Drifting) -> None:
    drift.create(FOUR)
    drift.thing("a")["size"] = 9
    drift.check()

    def behave(resource: Resource) -> Any:
        drift.world.behave.clear()
        drift.engine.begin(UpdateStack("s", drift.bench.bundle(FOUR.replace("size: 1", "size: 5"))))
        return {"size": 9}

    drift.world.behave["a"] = behave
    stack = drift.engine.run(RepairDrift("s"))
    assert stack.generation == 2
    assert drift.world.diffs["a"] == {"size": 5}


def test_a_suspended_or_busy_stack_is_refused(drift: Drifting, bench: Bench) -> None:
    drift.create(FOUR)
    bench.engine.begin(UpdateStack("s", bench.bundle(FOUR.replace("size: 1", "size: 5"))))
    with pytest.raises(Conflict):
        drift.repair()
    bench.engine.settle()
    bench.suspend()
    with pytest.raises(NotSupported, match="suspended"):
        drift.repair()


def test_the_history_tells_of_it(drift: Drifting) -> None:
    drift.create(FOUR)
    drift.thing("a")["size"] = 9
    drift.check()
    drift.repair()
    *_, last = drift.reader.actions(drift.bench.stack.id)
    assert (last.action, last.status, last.detail) == ("UPDATE", "COMPLETE", {"repairs": ["a"]})


def test_a_plan_shows_what_a_repair_would_do_and_stores_nothing(drift: Drifting) -> None:
    drift.create(FOUR)
    drift.thing("a").update(size=9)
    drift.thing("d").update(secret="x")
    drift.goes("b")
    drift.check()
    before = drift.everything()
    drift.world.calls.clear()
    shown = {each["name"]: each for each in planned(drift)["resources"]}
    assert drift.everything() == before
    assert drift.world.changed() == []
    assert {name: each["action"] for name, each in shown.items() if each["action"] != "none"} == {
        "a": "update",
        "b": "replace",
    }
    assert shown["user"]["may_become"] == "update"
    (change,) = shown["a"]["changes"]
    assert (change["before"], change["after"]) == (9, 1)
    drift.repair()
    assert drift.world.changed() == [
        ("a", "update"),
        ("b", "create"),
        ("user", "update"),
    ]


def test_what_a_part_left_out_is_put_right_as_it_was_made(drift: Drifting, bench: Bench) -> None:
    """An update that was overtaken had wanted it otherwise, and the one that left it out, too."""
    two = """
        a: {type: Test::Thing, properties: {size: %s}}
        b: {type: Test::Thing, depends_on: a, properties: {size: %s, tags: {x: y}}}
    """
    drift.create(two % (1, 1))
    stops = "resource_registry: {resources: {b: {hooks: pre-update}}}"
    bench.update(two % (2, 2), environment=stops)
    part = UpdateStack("s", bench.bundle(two % (2, 3)), excludes=("b",))
    assert bench.run(part).state == "UPDATE_COMPLETE"
    drift.thing("b")["tags"] = {"x": "z"}

    assert drift.repair().state == "UPDATE_COMPLETE"

    assert drift.thing("b") == {"size": 1, "tags": {"x": "y"}}
