"""Light calls: one thread carries them out, more where they wait or do not come back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from zonda.core.engine.execution.loop import Task
from zonda.core.engine.model.effects import Call
from zonda.core.engine.runtime.light_calls import (
    PULLERS,
    STUCK,
    TOGETHER,
    WAITED,
    Job,
    LightCalls,
)

HANGING = 2 * PULLERS


class Threads:
    """Stands in for the pool: ``run`` is what its threads would do."""

    def __init__(self) -> None:
        self.submitted: list[Callable[[], None]] = []

    def submit(self, run: Callable[[], None]) -> None:
        self.submitted.append(run)

    def run(self, at: int = 0) -> None:
        self.submitted.pop(at)()


class Calls:
    """A queue on threads and clocks of its own; ``woken``: how often the engine was."""

    def __init__(self) -> None:
        self.now = self.cpu = 0.0
        self.woken = 0
        self.threads = Threads()
        pool: Any = self.threads
        self.queue = LightCalls(pool, self.wake, lambda: self.now, lambda: self.cpu)

    def wake(self) -> None:
        self.woken += 1

    def put(self, run: Callable[[], Any] = int) -> Job:
        step: Any = None
        job = Job(Task(step), Call(run, light=True))
        self.queue.put(job)
        return job

    def wait(self) -> None:
        """A call that waits for something outside."""
        self.now += 2 * WAITED

    def compute(self) -> None:
        """A call that takes as long, all of it of the CPU."""
        self.now, self.cpu = self.now + 2 * WAITED, self.cpu + 2 * WAITED

    def run_all(self) -> None:
        """Run the threads that were asked for, as far as they are by now."""
        for _ in range(len(self.threads.submitted)):
            self.threads.run()

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


def test_one_thread_pulls_however_many_calls_there_are(calls: Calls) -> None:
    for _ in range(100 * TOGETHER):
        calls.put(calls.compute)
    for _ in range(3):
        assert calls.pullers() == calls.pullers() == 1
        calls.threads.run()
        assert len(calls.queue.take_results()) == TOGETHER


def test_more_threads_pull_while_calls_wait(calls: Calls) -> None:
    for _ in range(100):
        calls.put(calls.wait)
    found = []
    for _ in range(4):
        found.append(calls.pullers())
        calls.run_all()
    assert found == [1, 2, 4, PULLERS]
    assert len(calls.queue.take_results()) == sum(found)  # each tells of its call at once


def test_one_thread_pulls_again_when_calls_wait_no_more(calls: Calls) -> None:
    for run in (*[calls.wait] * 7, *[calls.compute] * (20 * TOGETHER)):
        calls.put(run)
    for _ in range(3):
        calls.pullers()
        calls.run_all()
    assert calls.pullers() == PULLERS
    calls.run_all()
    assert calls.pullers() == 1


def test_calls_that_hang_hold_up_no_other(calls: Calls) -> None:
    """Each hangs while the engine starts others."""
    begun: list[int] = []

    def hang() -> None:
        begun.append(len(calls.threads.submitted))
        calls.now += 1.1 * STUCK
        calls.queue.start_pullers()
        if len(begun) < HANGING:
            calls.threads.run()  # another thread goes on while this one hangs

    for _ in range(HANGING):
        calls.put(hang)
    calls.put()
    calls.queue.start_pullers()
    calls.threads.run()
    assert len(begun) == HANGING
    calls.queue.start_pullers()
    calls.threads.run()
    assert len(calls.queue.take_results()) == HANGING + 1


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


def test_the_engine_is_told_of_results_in_between(calls: Calls) -> None:
    for _ in range(2 * TOGETHER + 1):
        calls.put()
    for _ in range(3):
        calls.queue.start_pullers()
        calls.threads.run()
    assert calls.woken == 3
    assert len(calls.queue.take_results()) == 2 * TOGETHER + 1
