"""Defaults of a type are compared, shown and repaired like other properties."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.engine.conftest import Bench
from tests.engine.drifting import Drifting, Thing
from tests.engine.planned_repairs import planned

from zonda.hooks.schema.properties import Schema


class Record(Thing):
    """Has defaults everywhere, and makes what it is given."""

    properties_schema: Mapping[str, Schema] = {
        "name": Schema("String"),
        "ttl": Schema("Integer", default=300, update_allowed=True),
        "zone": Schema("String", default="main"),
        "key": Schema("String", default="by default secret", hidden=True, update_allowed=True),
        "tags": Schema("Map", default={"a": 1, "b": 2}, update_allowed=True),
        "limit": Schema(
            "Map",
            update_allowed=True,
            schema={"soft": Schema("Integer", default=1), "hard": Schema("Integer")},
        ),
    }

    def handle_create(self) -> None:
        super().handle_create()
        self.world.things[str(self.resource_id)] = self.properties.get_sent_values()

    def handle_update(self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any) -> None:
        self.world.calls.append((self.name, "update"))
        self.world.diffs[self.name] = dict(prop_diff)
        wanted = self.make_properties(json_snippet).get_sent_values()
        self.world.things[str(self.resource_id)].update(wanted)


@pytest.fixture
def drift(bench: Bench) -> Drifting:
    made = Drifting(bench)
    bench.types["Test::Record"] = type("Record", (Record,), {"world": made.world})
    made.restart()
    made.create("    r: {type: Test::Record, properties: {name: a, limit: {hard: 9}}}\n")
    return made


def test_what_was_left_at_its_default_is_in_sync_as_it_was_made(drift: Drifting) -> None:
    assert drift.check().verdict == "IN_SYNC"


def test_a_property_left_at_its_default_drifts(drift: Drifting) -> None:
    drift.thing("r")["ttl"] = 5
    check = drift.check()
    assert check.verdict == "DRIFTED"
    (ttl,) = drift.findings(check)["r"].differences
    assert (ttl.path, ttl.template, ttl.live) == (("ttl",), 300, 5)


def test_a_default_that_has_drifted_is_repaired_in_place(drift: Drifting) -> None:
    drift.thing("r")["ttl"] = 5
    (planned_one,) = planned(drift)["resources"]
    (change,) = planned_one["changes"]
    assert (change["path"], change["before"], change["after"]) == (["properties", "ttl"], 5, 300)
    assert drift.repair().state == "UPDATE_COMPLETE"
    assert drift.world.diffs == {"r": {"ttl": 300}}
    assert drift.thing("r")["ttl"] == 300
    assert drift.check().verdict == "IN_SYNC"


def test_what_the_type_converts_away_is_repaired(drift: Drifting) -> None:
    drift.thing("r")["ttl"] = 300.4
    assert drift.check().verdict == "DRIFTED"
    drift.repair()
    assert drift.world.diffs == {"r": {"ttl": 300}}
    assert drift.check().verdict == "IN_SYNC"


def test_a_default_that_cannot_be_changed_is_made_anew(drift: Drifting) -> None:
    drift.thing("r")["zone"] = "other"
    drift.repair()
    assert [call for _, call in drift.world.changed()] == ["create", "delete"]
    assert drift.check().verdict == "IN_SYNC"


def test_a_hidden_default_is_compared_and_only_named(drift: Drifting) -> None:
    drift.thing("r")["key"] = "somebody's own secret"
    (key,) = drift.findings(drift.check())["r"].differences
    assert (key.path, key.hidden) == (("key",), True)
    told = str(planned(drift))
    assert "'key'" in told or "properties.key" in told
    for text in ("somebody's own secret", "by default secret"):
        assert text not in drift.everything()
        assert text not in told
    drift.repair()
    assert drift.check().verdict == "IN_SYNC"


def test_of_a_default_that_is_ignored_in_part_the_rest_is_repaired(drift: Drifting) -> None:
    drift.thing("r")["tags"] = {"a": 5, "b": 6}
    drift.ignore("r", "tags.b")
    assert drift.check().verdict == "DRIFTED"
    drift.repair()
    assert drift.world.diffs == {"r": {"tags": {"a": 1, "b": 6}}}
    assert drift.thing("r")["tags"] == {"a": 1, "b": 6}
    assert drift.check().verdict == "IN_SYNC"


def test_a_default_that_is_ignored_counts_as_in_sync(drift: Drifting) -> None:
    drift.thing("r")["ttl"] = 5
    drift.ignore("r", "ttl")
    assert drift.check().verdict == "IN_SYNC"


def test_a_default_inside_a_property_is_compared_and_repaired(drift: Drifting) -> None:
    drift.thing("r")["limit"] = {"hard": 9, "soft": 7}
    (soft,) = drift.findings(drift.check())["r"].differences
    assert (soft.path, soft.template, soft.live) == (("limit", "soft"), 1, 7)
    (change,) = planned(drift)["resources"][0]["changes"]
    assert (change["path"], change["after"]) == (["properties", "limit", "soft"], 1)
    drift.repair()
    assert drift.thing("r")["limit"] == {"hard": 9, "soft": 1}


def test_where_nothing_was_observed_but_a_default_nobody_can_tell(drift: Drifting) -> None:
    drift.world.behave["r"] = lambda resource: {"limit": {}}
    found = drift.findings(drift.check())["r"]
    assert (found.verdict, found.reason) == (
        "UNKNOWN",
        "it told nothing of what the template sets",
    )
    (now,) = drift.reader.drift_now(drift.bench.stack.id)
    assert now.unseen == ("key", "limit", "name", "tags", "ttl", "zone")
