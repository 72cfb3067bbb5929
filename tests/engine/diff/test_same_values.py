"""Plans, drift checks, updates and the history agree on equal values."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.engine.conftest import Bench
from tests.engine.drifting import Drifting

from zonda.core.engine.actions import UpdateStack
from zonda.core.engine.diff.changes import compare_values
from zonda.core.engine.preview.document import build_document
from zonda.core.engine.preview.preview import build_preview
from zonda.core.reports.differences import compare
from zonda.core.template.redaction import RedactedBundle

RESOURCE = "x: {{type: Test::Any, properties: {{any: {{a: {}}}}}}}"


def _shown(value: Any) -> RedactedBundle:
    return RedactedBundle("", {}, {"a": value}, {}, {}, {})


@pytest.mark.parametrize(
    ("before", "after", "paths"),
    [
        pytest.param(True, 1, [()], id="true is no number"),
        pytest.param(0, False, [()], id="false is no number"),
        pytest.param([1], [True], [(0,)], id="inside of a list"),
        pytest.param(1, 1.0, [], id="a number in another form"),
        pytest.param(1, "1", [()], id="a text is no number"),
        pytest.param({}, {"k": 1}, [("k",)], id="an empty map"),
        pytest.param([1, 2], [1], [(1,)], id="an item less"),
        pytest.param([1], [1, 2], [(1,)], id="an item more"),
        pytest.param({"k": None}, {}, [("k",)], id="null is something"),
    ],
)
def test_plan_update_drift_and_history_tell_the_same_changes(
    bench: Bench, before: Any, after: Any, paths: list[tuple[Any, ...]]
) -> None:
    drift = Drifting(bench)
    drift.create(RESOURCE.format(json.dumps(before)))
    wanted = RESOURCE.format(json.dumps(after))

    assert [each.path for each in compare_values(before, after)] == paths
    plan = build_document(
        build_preview(drift.engine.services, UpdateStack("s", bench.bundle(wanted)))
    )
    assert [
        tuple(each["path"][3:]) for resource in plan["resources"] for each in resource["changes"]
    ] == paths
    history = compare(_shown(before), _shown(after), ("1", "2"))
    assert len(history.parameters) == len(paths)

    drift.thing("x")["any"] = {"a": after}
    found = drift.findings(drift.check())
    assert [each.path[2:] for one in found.values() for each in one.differences] == paths

    bench.update(wanted)
    assert bool(drift.world.diffs.get("x")) == bool(paths)


def test_metadata_that_changes_from_a_number_to_true_is_stored(bench: Bench) -> None:
    box = "a: {{type: Test::Box, metadata: {{flag: {}}}}}"
    bench.create(box.format(1))
    bench.update(box.format("true"))
    assert bench.resource("a").metadata["flag"] is True
