"""Drift exceptions: what is ignored counts as in sync and is shown as ignored."""

from __future__ import annotations

import pytest
from tests.engine.conftest import Bench
from tests.engine.drifting import Drifting

from zonda.core.engine.actions import UnignoreDrift
from zonda.hooks.errors import NotFound, UsageError

TWO = """
    a: {type: Test::Thing, properties: {size: 1, tags: {env: prod, x: "1"}}}
    b: {type: Test::Blind}
"""


@pytest.fixture
def drift(bench: Bench) -> Drifting:
    made = Drifting(bench)
    made.create(TWO)
    made.thing("a").update(size=9, tags={"env": "test", "x": "1"})
    return made


def test_a_property_is_ignored_with_its_reason_and_told(drift: Drifting) -> None:
    drift.ignore("a", "tags", reason="set by the autoscaler")
    found = drift.findings(drift.check())["a"]
    assert found.verdict == "DRIFTED"
    assert {each.path: each.ignored for each in found.differences} == {
        ("size",): "",
        ("tags", "env"): "set by the autoscaler",
    }


def test_what_is_ignored_as_a_whole_is_in_sync(drift: Drifting) -> None:
    drift.ignore("a", "tags.env", reason="by hand")
    drift.ignore("a", "size", reason="by hand")
    check = drift.check("a")
    assert (check.verdict, check.counts["IGNORED"]) == ("IN_SYNC", 1)
    assert drift.findings(check)["a"].ignored == "by hand"
    assert drift.now()["a"] == "IN_SYNC"


def test_a_whole_resource_is_ignored_whatever_its_verdict(drift: Drifting) -> None:
    drift.ignore("a", reason="being replaced")
    drift.ignore("b", reason="cannot be seen")
    check = drift.check()
    assert (check.verdict, check.counts["IGNORED"]) == ("IN_SYNC", 2)
    drift.goes("a")
    assert drift.check().verdict == "IN_SYNC"


def test_an_exception_ends_at_its_time(drift: Drifting, bench: Bench) -> None:
    drift.ignore("a", reason="for now", until=bench.clock.now() + 100)
    assert drift.check("a").verdict == "IN_SYNC"
    bench.clock.advance(101)
    assert drift.check("a").verdict == "DRIFTED"
    with pytest.raises(UsageError, match="past"):
        drift.ignore("a", until=bench.clock.now())


def test_an_exception_is_taken_back_by_its_id(drift: Drifting, bench: Bench) -> None:
    drift.ignore("a", reason="one")
    (rule,) = drift.reader.drift_ignores(bench.stack.id)
    assert (rule.path, rule.property, rule.reason, rule.until) == ("a", "", "one", None)
    with pytest.raises(NotFound, match="exception"):
        bench.run(UnignoreDrift("s", "no such"))
    bench.run(UnignoreDrift("s", rule.id[:20]))
    assert drift.reader.drift_ignores(bench.stack.id) == []


def test_an_exception_names_what_there_is(drift: Drifting) -> None:
    with pytest.raises(NotFound, match="Resource"):
        drift.ignore("nobody")
    drift.ignore("a*")


@pytest.mark.parametrize(
    ("resource", "property_", "error"),
    [
        pytest.param("a", "sise", UsageError, id="no such property"),
        pytest.param("a", "sise.x", UsageError, id="nothing below it"),
        pytest.param("*", "sise", UsageError, id="of no resource"),
        pytest.param("z*", "", NotFound, id="a pattern for nothing"),
        pytest.param("z*", "size", NotFound, id="a pattern and a property"),
    ],
)
def test_an_exception_that_can_never_count_is_refused(
    drift: Drifting, resource: str, property_: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        drift.ignore(resource, property_)
    assert drift.reader.drift_ignores(drift.bench.stack.id) == []
    drift.ignore("*", "size.x")
