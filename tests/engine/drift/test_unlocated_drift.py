"""Resources that are out of sync where no observation says in what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest
from tests.engine.conftest import Bench
from tests.engine.drifting import Drifting
from tests.engine.planned_repairs import planned

from zonda.core.cli.console import drift as drift_text
from zonda.hooks import properties
from zonda.hooks.resources.live_state import OpaqueState
from zonda.hooks.resources.resource import Resource

REASON = "the vendor says so"
ONE = "a: {type: Test::Thing, properties: {size: 1, secret: hunter2}}"


def whole(in_sync: bool, reason: str = REASON) -> Any:
    def behave(_: Resource) -> OpaqueState:
        return OpaqueState({"size": 1 if in_sync else 0}, in_sync=in_sync, reason=reason)

    return behave


@pytest.fixture
def drift(bench: Bench) -> Drifting:
    made = Drifting(bench)
    made.create(ONE)
    made.world.behave["a"] = whole(False)
    return made


def test_the_reason_is_told_and_no_property(drift: Drifting) -> None:
    check = drift.check()
    assert check.verdict == "DRIFTED"
    found = drift.findings(check)["a"]
    assert (found.reason, found.differences) == (REASON, ())
    assert list(drift_text.format_finding(found, lambda text, colour: text)) == [
        f"  DRIFTED     a (Test::Thing): {REASON}"
    ]
    assert drift_text.finding_as_data(found)["differences"] == []
    assert drift.told() == [("a", "DRIFTED"), ("", "DRIFTED")]


def test_no_secret_is_told_with_it(drift: Drifting) -> None:
    drift.world.behave["a"] = whole(False, "hunter2 is not what it was")
    assert "hunter2" not in drift.findings(drift.check())["a"].reason


def test_a_long_reason_is_shortened_once_secrets_are_taken_out(drift: Drifting) -> None:
    drift.world.behave["a"] = whole(False, f"{2997 * 'x'}hunter2{2000 * 'y'}")
    reason = drift.findings(drift.check())["a"].reason
    assert reason.startswith(f"{2997 * 'x'}(hi [... ")
    assert reason.endswith(f" characters left out ...] {1000 * 'y'}")


def test_in_sync_as_a_whole_is_in_sync_whatever_was_observed(drift: Drifting) -> None:
    drift.world.behave["a"] = lambda _: OpaqueState({}, in_sync=True)
    assert drift.check().verdict == "IN_SYNC"


def test_what_is_only_referred_to_needs_no_property_that_is_required(bench: Bench) -> None:
    class Needy(Resource):
        properties_schema: ClassVar[Mapping[str, Any]] = {
            "size": properties.Schema("Integer", required=True)
        }

        def get_live_state(self) -> OpaqueState:
            return OpaqueState({}, in_sync=True)

    bench.types["Test::Needy"] = Needy
    made = Drifting(bench)
    made.create("a: {type: Test::Needy, external_id: there}")
    assert made.check().verdict == "IN_SYNC"


@pytest.mark.parametrize(
    ("property_", "verdict", "repaired"),
    [
        pytest.param("", "IN_SYNC", [], id="the resource"),
        pytest.param("size", "DRIFTED", [("a", "update")], id="a property"),
    ],
)
def test_only_an_exception_for_the_resource_covers_it(
    drift: Drifting, property_: str, verdict: str, repaired: list[tuple[str, str]]
) -> None:
    drift.ignore("a", property_, reason="by hand")
    assert drift.check().verdict == verdict
    drift.repair()
    assert drift.world.changed() == repaired


def test_a_repair_asks_for_what_the_type_has_named(drift: Drifting) -> None:
    drift.repair()
    assert drift.world.changed() == [("a", "update")]
    assert drift.world.diffs["a"] == {"size": 1}


def test_a_plan_says_why_and_shows_no_property(drift: Drifting) -> None:
    [shown] = planned(drift)["resources"]
    assert (shown["action"], shown["changes"]) == ("update", [])
    assert [(each["kind"], each["text"]) for each in shown["reasons"]] == [
        ("drift", f"has drifted: {REASON}")
    ]


@pytest.mark.parametrize("repair_from", [{}, {"size": 1}], ids=["nothing", "what is wanted"])
def test_where_no_update_would_follow_a_repair_says_that_it_does_nothing(
    drift: Drifting, repair_from: dict[str, Any]
) -> None:
    drift.world.behave["a"] = lambda _: OpaqueState(repair_from, in_sync=False, reason=REASON)
    check = drift.check()
    assert check.verdict == "DRIFTED"
    found = drift.findings(check)["a"]
    assert found.reason.startswith(f"{REASON}; a repair leaves it alone: ")
    assert planned(drift)["resources"] == []
    drift.repair()
    assert drift.world.changed() == []
