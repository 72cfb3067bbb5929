"""How far an action is, in one line."""

from __future__ import annotations

import dataclasses

import pytest
from tests.cli.progress.test_live import EVENT

from zonda.core.app.surface import PendingRequest
from zonda.core.cli.progress.summary import ProgressSummary
from zonda.core.store.read.views import EventView

NOW = EVENT.at


def event(name: str, status: str = "IN_PROGRESS", after: float = 0.0, **more: str) -> EventView:
    at = NOW + after
    return dataclasses.replace(EVENT, resource_name=name, status=status, at=at, **more)


def message(name: str, text: str) -> PendingRequest:
    return PendingRequest(name, text, NOW, EVENT.stack_id)


@pytest.fixture
def summary() -> ProgressSummary:
    summary = ProgressSummary(lambda: 4)
    summary.add([((), event(name)) for name in "abc"], [], NOW)
    return summary


def test_what_is_not_known_is_not_said(summary: ProgressSummary) -> None:
    assert summary.format(NOW) == "3 of 4 running, 0 done"
    unknown = ProgressSummary(None)
    unknown.add([((), event("a"))], [], NOW)
    assert unknown.format(NOW) == "1 running, 0 done"


def test_where_nobody_tells_what_waits_nobody_says_what_runs(summary: ProgressSummary) -> None:
    summary.add([], None, NOW)
    assert summary.format(NOW) == "3 of 4 in progress, 0 done"


def test_the_next_answer_is_expected_when_others_of_its_kind_had_ended(
    summary: ProgressSummary,
) -> None:
    summary.add([((), event("a", "COMPLETE", 5.0)), ((), event("d", after=4.0))], [], NOW)
    summary.add([((), event("b", "COMPLETE", 5.0)), ((), event("c", "FAILED", 5.0))], [], NOW)
    assert summary.format(NOW + 6.0) == "1 of 4 running, 3 done, next answer expected in 3.0 s"
    assert summary.format(NOW + 10.0) == "1 of 4 running, 3 done"


def test_one_that_is_overdue_does_not_hide_when_the_next_is_expected(
    summary: ProgressSummary,
) -> None:
    summary.add([((), event("a", "COMPLETE", 5.0)), ((), event("d", after=4.0))], [], NOW)
    assert summary.format(NOW + 6.0) == "3 of 4 running, 1 done, next answer expected in 3.0 s"


def test_of_another_kind_nothing_is_expected(summary: ProgressSummary) -> None:
    summary.add([((), event("a", "COMPLETE", 5.0))], [], NOW)
    summary.add([((), event(name, "COMPLETE", 5.0)) for name in "bc"], [], NOW)
    summary.add([((), event("d", after=5.0, action="DELETE"))], [], NOW)
    assert summary.format(NOW + 6.0) == "1 of 4 running, 3 done"


def test_what_waits_to_be_sent_does_not_run_until_it_is_sent(summary: ProgressSummary) -> None:
    queue = [message("b", "waiting for runner slow: no place, next try in 10 s")]
    summary.add([], queue, NOW)
    assert summary.format(NOW) == "2 of 4 running, 1 waiting, 0 done"
    ended = [((), event("a", "COMPLETE", 5.0)), ((), event("c", "COMPLETE", 5.0))]
    summary.add(ended, queue, NOW + 5.0)
    summary.add([], [message("b", "running")], NOW + 6.0)
    summary.add([], [message("b", "running")], NOW + 7.0)
    assert summary.format(NOW + 7.0) == "1 of 4 running, 2 done, next answer expected in 4.0 s"


def test_the_time_in_a_queue_is_no_part_of_how_long_one_runs() -> None:
    summary = ProgressSummary(None)
    queue = [message(name, "waiting for runner slow: no place") for name in "ab"]
    summary.add([((), event(name)) for name in "ab"], queue, NOW)
    summary.add([], [message("a", "running"), queue[1]], NOW + 20.0)
    summary.add([((), event("a", "COMPLETE", 28.0))], [message("b", "running")], NOW + 28.0)
    assert summary.format(NOW + 30.0) == "1 running, 1 done, next answer expected in 6.0 s"
