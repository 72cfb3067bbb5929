"""Which instances a plan keeps of what it is not for."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.core.engine.cone import left_out
from zonda.core.store.rows import PlanRow


def row(
    key: str, want: str = "PRESENT", action: str = "CREATE", op: str = "", **more: Any
) -> PlanRow:
    known = {"status": "COMPLETE", "have_hash": "h", "physical_id": f"p-{key}", "dirty": 0, **more}
    return PlanRow(key, "disk", want, "w", action, op=op, **known)


@pytest.mark.parametrize(
    ("rows", "kept"),
    [
        pytest.param([row("1")], "1", id="the-present-one"),
        pytest.param([row("1", "ABSENT"), row("2")], "2", id="not-what-it-has-replaced"),
        pytest.param(
            [row("1", "ABSENT"), row("2", action="INIT")],
            "1",
            id="what-it-was-to-replace-as-long-as-it-has-not-begun",
        ),
        pytest.param(
            [row("1", "ABSENT"), row("2", action="INIT", op="CREATE")], "2", id="one-that-has-begun"
        ),
        pytest.param([row("2", action="INIT")], "2", id="a-new-one-that-replaces-nothing"),
        pytest.param(
            [row("1", "ABSENT", action="DELETE"), row("2", action="INIT")],
            "2",
            id="not-what-is-deleted",
        ),
        pytest.param(
            [row("1", "ABSENT", op="DELETE"), row("2", action="INIT")],
            "2",
            id="nor-what-is-being-deleted",
        ),
        pytest.param([row("1", action="DELETE", status="FAILED")], "1", id="a-present-one-anyhow"),
    ],
)
def test_what_stays_of_a_resource_that_is_left_out(rows: list[PlanRow], kept: str) -> None:
    assert {name: each.id for name, each in left_out(rows, ()).items()} == {"disk": kept}
    assert {each.id for each in left_out(reversed(rows), ()).values()} == {kept}


def test_what_is_selected_is_not_left_out_nor_what_nobody_wants() -> None:
    assert left_out([row("1")], ["disk"]) == {}
    assert left_out([row("1", "ABSENT")], ()) == {}
