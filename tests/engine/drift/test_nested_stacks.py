"""Drift in trees: members are named by their paths and repaired through their owners."""

from __future__ import annotations

import textwrap

import pytest
from tests.engine.conftest import Bench
from tests.engine.drifting import Drifting
from tests.engine.nested_trees import template
from tests.engine.planned_repairs import planned

from zonda.builtin_resources.groups.resource_group import ResourceGroup
from zonda.core.engine.actions import CheckDrift, CreateStack, DeleteStack, IgnoreDrift
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.errors import NotSupported, ResourceFailure
from zonda.hooks.resources.resource import Resource

LEAF = template(
    "b: {type: Test::Thing, properties: {size: {get_param: v}, zone: here}}",
    "parameters: {v: {type: number}}\n",
)
CHILD = template(
    """
    a: {type: Test::Thing, properties: {size: {get_param: v}}}
    d: {type: leaf.yaml, properties: {v: {get_param: v}}, depends_on: a}
    """,
    "parameters: {v: {type: number}}\n",
)
ROOT = template(
    """
    r: {type: Test::Thing, properties: {size: 1}}
    c: {type: child.yaml, properties: {v: 2}, depends_on: r}
    """
)
FILES = {"child.yaml": CHILD, "leaf.yaml": LEAF}


@pytest.fixture
def drift(bench: Bench) -> Drifting:
    made = Drifting(bench)
    bench.types["OS::Heat::ResourceGroup"] = ResourceGroup
    made.restart()
    return made


def create(drift: Drifting, text: str = ROOT, files: dict[str, str] = FILES) -> None:
    stack = drift.engine.run(CreateStack("s", Bundle(text, files=files)))
    assert stack.state == "CREATE_COMPLETE", stack.status_reason
    drift.world.calls.clear()


def thing(drift: Drifting, name: str) -> dict[str, object]:
    (key,) = [key for key in drift.world.things if key.startswith(f"thing-{name}-")]
    return drift.world.things[key]


def test_members_are_named_by_their_paths_and_owners_are_not_asked(drift: Drifting) -> None:
    create(drift)
    thing(drift, "b")["size"] = 9
    check = drift.check()
    assert drift.now() == {
        "r": "IN_SYNC",
        "c": "IN_SYNC",
        "c/a": "IN_SYNC",
        "c/d": "IN_SYNC",
        "c/d/b": "DRIFTED",
    }
    assert list(drift.findings(check)) == ["c/d/b"]
    assert drift.told()[-1] == ("", "DRIFTED")


def test_what_is_left_of_a_deletion_below_is_unknown(drift: Drifting, bench: Bench) -> None:
    create(drift)

    def refuse(resource: Resource) -> None:
        raise ResourceFailure("no")

    bench.types["Test::Thing"].handle_delete = refuse  # type: ignore[method-assign]
    assert drift.engine.run(DeleteStack("s")).state == "DELETE_FAILED"
    check = drift.check()
    assert check.verdict == "UNKNOWN"
    assert drift.findings(check)["c/d/b"].reason == "its DELETE has failed"


def test_a_part_is_named_by_a_path(drift: Drifting) -> None:
    create(drift)
    drift.check("c/d")
    assert drift.world.calls == [("b", "get_live_state")]
    drift.world.calls.clear()
    drift.check("r", "c/a")
    assert sorted(drift.world.calls) == [("a", "get_live_state"), ("r", "get_live_state")]


def test_a_nested_stack_is_not_checked_by_itself(drift: Drifting) -> None:
    create(drift)
    child = drift.reader.stack_named("s/c", "default")
    with pytest.raises(NotSupported, match="nested"):
        drift.engine.begin(CheckDrift(child.id))


def test_a_repair_reaches_down_and_touches_nothing_else(drift: Drifting) -> None:
    create(drift)
    thing(drift, "b")["size"] = 9
    drift.check()
    stack = drift.repair()
    assert stack.state == "UPDATE_COMPLETE", stack.status_reason
    assert drift.world.changed() == [("b", "update")]
    assert drift.world.diffs == {"b": {"size": 2}}
    assert drift.check().verdict == "IN_SYNC"


def test_what_is_missing_below_is_made_again(drift: Drifting) -> None:
    create(drift)
    (key,) = [key for key in drift.world.things if key.startswith("thing-b-")]
    del drift.world.things[key]
    assert drift.check().verdict == "MISSING"
    drift.repair()
    assert drift.world.changed() == [("b", "create")]
    assert drift.check().verdict == "IN_SYNC"


def test_members_of_a_group(drift: Drifting) -> None:
    text = template(
        textwrap.dedent("""
        g:
          type: OS::Heat::ResourceGroup
          properties:
            count: 3
            resource_def: {type: Test::Thing, properties: {size: 5, zone: "%index%"}}
        """)
    )
    create(drift, text, {})
    thing(drift, "1")["size"] = 9
    drift.check()
    assert drift.now() == {"g": "IN_SYNC", "g/0": "IN_SYNC", "g/1": "DRIFTED", "g/2": "IN_SYNC"}
    drift.repair()
    assert drift.world.changed() == [("1", "update")]
    assert drift.check().verdict == "IN_SYNC"


def test_an_exception_may_be_for_all_members(drift: Drifting) -> None:
    create(drift)
    thing(drift, "b")["size"] = thing(drift, "a")["size"] = 9
    drift.engine.run(IgnoreDrift("s", "c/*", "size", "scaled by hand"))
    check = drift.check()
    assert (check.verdict, check.counts["IGNORED"]) == ("IN_SYNC", 2)


def test_a_plan_shows_what_is_below(drift: Drifting) -> None:
    create(drift)
    thing(drift, "b")["size"] = 9
    drift.check()
    found = planned(drift)
    assert found["unchanged"] == ["r"]
    for name, unchanged in (("c", ["a"]), ("d", [])):
        (owner,) = found["resources"]
        assert (owner["name"], owner["action"]) == (name, "update")
        (found,) = owner["nested"]
        assert found["unchanged"] == unchanged
    ((change,),) = (each["changes"] for each in found["resources"])
    assert (change["path"], change["before"], change["after"]) == (["properties", "size"], 9, 2)


def test_a_part_that_is_ignored_below_stays_as_it_is(drift: Drifting) -> None:
    properties = "{size: {get_param: v}, tags: {x: '1', kept: '1'}}"
    leaf = template(
        f"b: {{type: Test::Thing, properties: {properties}}}",
        "parameters: {v: {type: number}}\n",
    )
    create(drift, files={**FILES, "leaf.yaml": leaf})
    thing(drift, "b").update(size=9, tags={"x": "9", "kept": "9"})
    drift.engine.run(IgnoreDrift("s", "c/d/*", "tags.kept", "by hand"))
    drift.repair()
    assert drift.world.diffs["b"] == {"size": 2, "tags": {"x": "1", "kept": "9"}}
    assert drift.check().verdict == "IN_SYNC"
