"""The arithmetic of batches."""

from __future__ import annotations

import pytest

from zonda.builtin_resources.groups.rolling_update import UpdatePolicy, list_batches
from zonda.hooks.errors import ResourceFailure


@pytest.mark.parametrize(
    ("pace", "target", "present", "current", "expected"),
    [
        pytest.param(UpdatePolicy(2), 5, 0, 0, [(2, 2), (4, 2), (5, 1)], id="made-in-batches"),
        pytest.param(UpdatePolicy(1), 3, 3, 3, [], id="nothing-to-do"),
        pytest.param(UpdatePolicy(10), 3, 3, 0, [(3, 3)], id="a-batch-larger-than-the-group"),
        pytest.param(UpdatePolicy(1), 2, 2, 0, [(2, 1), (2, 1)], id="one-after-the-other"),
        # The group grows by one, so that two are left alone, and loses that one in the end.
        pytest.param(
            UpdatePolicy(1, 2), 2, 2, 0, [(3, 1), (3, 1), (3, 1), (2, 0)], id="in-service"
        ),
        # 5 -> 3: those too many go with the first batch.
        pytest.param(UpdatePolicy(1), 3, 5, 0, [(3, 1), (3, 1), (3, 1)], id="smaller-meanwhile"),
        pytest.param(
            UpdatePolicy(1), 4, 2, 0, [(3, 1), (4, 1), (4, 1), (4, 1)], id="larger-meanwhile"
        ),
        pytest.param(UpdatePolicy(1), 0, 2, 0, [(0, 0)], id="to-nothing"),
    ],
)
def test_batches(
    pace: UpdatePolicy, target: int, present: int, current: int, expected: list[tuple[int, int]]
) -> None:
    assert list(list_batches(pace, target, present, current)) == expected


def test_a_pause_of_more_than_an_hour_is_refused() -> None:
    UpdatePolicy(1, pause=3600).check()
    with pytest.raises(ValueError, match=r"Maximum pause_time allowed is 1hr\(3600s\)"):
        UpdatePolicy(1, pause=3601).check()


def test_pauses_must_leave_time_within_that_of_the_stack() -> None:
    pace = UpdatePolicy(1, pause=100)
    pace.check_time(6, 0, 0, 501)  # six batches, five pauses
    with pytest.raises(ResourceFailure, match="will result in stack update timeout"):
        pace.check_time(6, 0, 0, 500)
