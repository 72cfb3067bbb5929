"""Repairs of properties of which a part is ignored."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.conftest import Bench
from tests.engine.drifting import Drifting
from tests.engine.planned_repairs import planned

from zonda.core.cli.console import drift as drift_text
from zonda.hooks import properties

ONE = "a: {type: Test::Thing, properties: {size: 1, tags: {x: y, n: m}}}"
LISTS = "a: {type: Test::Any, properties: {any: [{x: 1, y: 1}, {x: 2, y: 2}]}}"


@pytest.fixture
def drift(bench: Bench) -> Drifting:
    return Drifting(bench)


def test_the_rest_is_repaired_and_the_part_is_left_as_it_is(drift: Drifting) -> None:
    drift.create(ONE)
    drift.ignore("a", "tags.n", reason="the cost team")
    drift.thing("a").update(size=9, tags={"x": "z", "n": "by hand"})
    before = drift.bench.resource("a").properties
    assert drift.repair().state == "UPDATE_COMPLETE"
    assert drift.world.diffs == {"a": {"size": 1, "tags": {"x": "y", "n": "by hand"}}}
    assert drift.thing("a") == {"size": 1, "tags": {"x": "y", "n": "by hand"}}
    assert drift.bench.resource("a").properties == before, "the template says what it said"
    assert drift.check().verdict == "IN_SYNC"


def test_nothing_is_done_where_only_the_part_differs(drift: Drifting) -> None:
    drift.create(ONE)
    drift.ignore("a", "tags.n", reason="the cost team")
    drift.thing("a")["tags"] = {"x": "y"}
    assert drift.repair().generation == 1
    assert drift.world.changed() == []


def test_the_next_update_finds_nothing_to_do(drift: Drifting, bench: Bench) -> None:
    drift.create(ONE)
    drift.ignore("a", "tags.n", reason="the cost team")
    drift.thing("a")["tags"] = {"x": "z", "n": "by hand"}
    drift.repair()
    drift.world.calls.clear()
    bench.update(ONE)
    assert drift.world.changed() == []


def test_items_of_lists_by_their_index(drift: Drifting) -> None:
    drift.create(LISTS)
    drift.ignore("a", "any.0.x", reason="set by others")
    drift.thing("a")["any"] = [{"x": 8, "y": 8}, {"x": 9, "y": 2}]
    drift.repair()
    assert drift.world.diffs["a"] == {"any": [{"x": 8, "y": 1}, {"x": 2, "y": 2}]}


def test_a_part_of_a_hidden_property_is_left_too(drift: Drifting) -> None:
    cls: Any = drift.bench.types["Test::Any"]
    cls.properties_schema = {"any": properties.Schema("Any", update_allowed=True, hidden=True)}
    drift.create("a: {type: Test::Any, properties: {any: {x: one, n: m}}}")
    drift.ignore("a", "any.n", reason="the cost team")
    drift.thing("a")["any"] = {"x": "two", "n": "by hand"}
    drift.repair()
    assert drift.thing("a")["any"] == {"x": "one", "n": "by hand"}
    found = drift.findings(drift.check())["a"]
    assert (found.verdict, found.ignored) == ("IN_SYNC", "the cost team")


@pytest.mark.parametrize(
    ("resources", "part", "there", "why"),
    [
        pytest.param(LISTS, "any.1.x", [{"x": 8, "y": 8}], "another shape", id="shape"),
        pytest.param(
            "a: {type: Test::Any, properties: {any: {x: y, n: m}}}",
            "any.n",
            {"x": "z", "n": "by hand"},
            "only a new resource",
            id="fixed",
        ),
    ],
)
def test_where_the_part_cannot_stay_the_property_is_left_alone_and_that_is_said(
    drift: Drifting, resources: str, part: str, there: Any, why: str
) -> None:
    cls: Any = drift.bench.types["Test::Any"]
    if why == "only a new resource":
        cls.properties_schema = {"any": properties.Schema("Any")}
    drift.create(resources)
    drift.ignore("a", part, reason="set by others")
    drift.thing("a")["any"] = there
    assert planned(drift)["resources"] == []
    found = drift.findings(drift.check())["a"]
    assert found.verdict == "DRIFTED"
    assert why in "".join(found.notes)
    told = list(drift_text.format_finding(found, lambda text, colour: text))
    assert why in told[-1]
    drift.repair()
    assert drift.world.changed() == []


def test_a_type_that_would_be_replaced_for_it_is_left_alone(drift: Drifting) -> None:
    cls: Any = drift.bench.types["Test::Thing"]
    cls.needs_replace_with_prop_diff = lambda *_: True
    drift.create(ONE)
    drift.ignore("a", "tags.n", reason="the cost team")
    drift.thing("a")["tags"] = {"x": "z", "n": "by hand"}
    drift.repair()
    assert drift.world.changed() == []
    drift.thing("a")["size"] = 9
    drift.repair()
    assert drift.world.changed() == [("a", "create"), ("a", "delete")]


def test_a_plan_shows_what_is_changed_and_no_more(drift: Drifting) -> None:
    drift.create(ONE)
    drift.ignore("a", "tags.n", reason="the cost team")
    drift.thing("a")["tags"] = {"x": "z", "n": "by hand"}
    [shown] = planned(drift)["resources"]
    assert [(each["path"], each["before"], each["after"]) for each in shown["changes"]] == [
        (["properties", "tags", "x"], "z", "y")
    ]
