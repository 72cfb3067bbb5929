"""Light calls: few threads carry them out, and a slow one delays no other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from zonda.core.engine.execution.loop import Task
from zonda.core.engine.model.effects import Call
from zonda.core.engine.runtime.light_calls import (
    LONGEST_WAIT,
    PULLERS,
    STUCK,
    TOGETHER,
    Job,
    LightCalls,
)

MOST = 2 * PULLERS


class Threads:
    """Stands in for the pool: ``run`` is what its threads would do."""

    def __init__(self) -> None:
        self.submitted: list[Callable[[], None]] = []

    def submit(self, run: Callable[[], None]) -> None:
        self.submitted.append(run)

    def run(self, at: int = 0) -> None:
        self.submitted.pop(at)()


class Calls:
    """A queue on threads and a clock of its own; ``woken``: how often the engine was."""

    def __init__(self) -> None:
        self.now = 0.0
        self.woken = 0
        self.threads = Threads()
        pool: Any = self.threads
        self.queue = LightCalls(pool, self.wake, lambda: self.now, MOST)

    def wake(self) -> None:
        self.woken += 1

    def put(self, run: Callable[[], Any] = int) -> Job:
        step: Any = None
        job = Job(Task(step), Call(run, light=True))
        self.queue.put(job)
        return job

    def pullers(self) -> int:
        """How many threads were asked for, once what waits has what may be started."""
        self.queue.start_pullers()
        return len(self.threads.submitted)


@pytest.fixture
def calls() -> Calls:
    return Calls()


def test_one_thread_makes_the_calls_that_came_together(calls: Calls) -> None:
    jobs = [calls.put(lambda at=at: at) for at in range(TOGETHER)]  # type: ignore[misc]
    assert calls.pullers() == 1
    calls.threads.run()
    assert [job.value for job in calls.queue.take_results()] == list(range(TOGETHER))
    assert jobs[0].began == 0.0
    assert calls.queue.take_results() == []


def test_at_most_four_threads_pull_however_many_calls_there_are(calls: Calls) -> None:
    for _ in range(100 * TOGETHER):
        calls.put()
    assert calls.pullers() == calls.pullers() == PULLERS


def test_one_more_thread_pulls_where_the_head_of_the_queue_waits(calls: Calls) -> None:
    for _ in range(100 * TOGETHER):
        calls.put()
    assert calls.pullers() == PULLERS
    calls.now += 1.1 * LONGEST_WAIT
    assert calls.pullers() == calls.pullers() == PULLERS + 1


def test_calls_that_hang_hold_up_no_other(calls: Calls) -> None:
    """Each hangs while the engine starts others, up to as many as may."""
    begun: list[int] = []

    def hang() -> None:
        begun.append(len(calls.threads.submitted))
        calls.now += 1.1 * STUCK
        calls.queue.start_pullers()
        if len(begun) < MOST:
            calls.threads.run()  # another thread goes on while this one hangs

    for _ in range(MOST):
        calls.put(hang)
    calls.put()
    calls.queue.start_pullers()
    calls.threads.run()
    assert len(begun) == MOST
    assert len(calls.queue.take_results()) == MOST + 1


def test_a_thread_whose_call_is_left_behind_pulls_no_more(calls: Calls) -> None:
    def left() -> None:
        calls.queue.leave_behind(job)
        job.is_off = True

    job, other = calls.put(left), calls.put()
    calls.queue.start_pullers()
    calls.threads.run()
    assert calls.queue.take_results() == [job]
    assert not calls.queue.is_pulling
    assert calls.pullers() == 1
    calls.threads.run()
    assert calls.queue.take_results() == [other]


def test_a_call_that_comes_when_a_thread_has_just_ended_is_made(calls: Calls) -> None:
    calls.put()
    calls.queue.start_pullers()
    calls.threads.run()
    assert calls.woken == 1
    calls.put()
    assert calls.pullers() == 1
    calls.threads.run()
    assert len(calls.queue.take_results()) == 2
    calls.queue.start_pullers()
    assert not calls.queue.is_pulling


def test_results_are_told_in_between(calls: Calls) -> None:
    for _ in range(2 * TOGETHER + 1):
        calls.put()
    calls.queue.start_pullers()
    calls.threads.run()
    assert calls.woken == 3
