"""When runs are polled, by what is known of the lengths of their workflow."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from zonda.hooks.runners.waking import Waker, keep_waker
from zonda.workflows.client.poll_schedule import PollSchedule

#: The polls of before: 1 s and half of the age, at most 15 s.
BEFORE = {2: 2, 5: 4, 10: 5, 30: 8, 150: 17, 600: 51}


class Even(random.Random):
    def uniform(self, a: float, b: float) -> float:
        return (a + b) / 2


@pytest.fixture
def schedule(clock: Any) -> PollSchedule:
    return PollSchedule(clock, Even())


class Runs:
    """Runs that are polled as their schedule says, on a clock of their own."""

    def __init__(self, schedule: PollSchedule, clock: Any) -> None:
        self._schedule, self._clock = schedule, clock
        self._due: dict[str, float] = {}
        self._ends: dict[str, float] = {}
        self._wakers: dict[str, Waker] = {}
        self.polls: dict[str, int] = {}
        self.late: dict[str, float] = {}

    def start(self, key: str, workflow: str, length: float) -> None:
        self._ends[key], self.polls[key] = self._clock.seconds + length, 0
        self._wakers[key] = Waker(self._make_ring(key))
        with keep_waker(self._wakers[key]):
            self._due[key] = self._clock.seconds + self._schedule.begin(key, workflow)

    def _make_ring(self, key: str) -> Callable[[], None]:
        return lambda: self._due.update({key: self._clock.seconds})

    def finish(self) -> None:
        while self._due:
            key = min(self._due, key=lambda name: self._due[name])
            self._clock.seconds = max(self._clock.seconds, self._due.pop(key))
            with keep_waker(self._wakers[key]):
                self._poll(key)

    def _poll(self, key: str) -> None:
        now = self._clock.seconds
        too_early = self._schedule.begin_poll(key)
        if too_early is not None:
            self._due[key] = now + too_early
            return
        self.polls[key] += 1
        if now < self._ends[key]:
            self._due[key] = now + self._schedule.plan_next(key, 0.0, now)
        else:
            self.late[key] = now - self._ends[key]
            self._schedule.note_end(key, now)


@pytest.mark.parametrize("length", BEFORE)
def test_ends_are_seen_in_time_with_less_than_twice_the_polls(
    schedule: PollSchedule, clock: Any, length: float
) -> None:
    runs = Runs(schedule, clock)
    for number in range(50):
        clock.seconds += length / 500
        runs.start(f"r{number}", "CREATE flow", length)
    runs.finish()
    assert max(runs.late.values()) <= max(0.5, length / 10) + 0.1
    assert sum(runs.polls.values()) < 2 * 50 * BEFORE[int(length)] + 30


def test_a_run_alone_is_seen_in_time(schedule: PollSchedule, clock: Any) -> None:
    runs = Runs(schedule, clock)
    runs.start("a", "CREATE flow", 33.3)
    runs.finish()
    assert runs.late["a"] <= 3.33


def test_a_few_runs_of_other_lengths_are_seen_in_time(schedule: PollSchedule, clock: Any) -> None:
    runs = Runs(schedule, clock)
    for length in (40.0, 17.0, 29.0, 8.0):
        runs.start(f"{length}", "CREATE flow", length)
    runs.finish()
    assert all(late <= max(0.5, float(key) / 10) for key, late in runs.late.items())


def test_what_is_known_of_a_workflow_is_for_no_other(schedule: PollSchedule, clock: Any) -> None:
    runs = Runs(schedule, clock)
    runs.start("a", "CREATE short", 1.0)
    runs.finish()
    for number in range(5):
        runs.start(f"r{number}", "CREATE long", 60.0)
    runs.finish()
    assert runs.polls["r4"] < runs.polls["r3"] == runs.polls["r0"]


def test_longer_runs_than_the_shortest_are_seen_in_time(schedule: PollSchedule, clock: Any) -> None:
    runs = Runs(schedule, clock)
    runs.start("a", "CREATE flow", 10.0)
    runs.finish()
    for number in range(20):
        runs.start(f"r{number}", "CREATE flow", 10.0 + number)
    runs.finish()
    assert max(runs.late.values()) <= 3.0


def test_a_run_that_is_forgotten_is_neither_woken_nor_learned_from(
    schedule: PollSchedule, clock: Any
) -> None:
    rung: list[str] = []
    with keep_waker(Waker(lambda: rung.append("gone"))):
        schedule.begin("gone", "CREATE flow")
        schedule.plan_next("gone", 0.0, clock.seconds)
    schedule.drop("gone")
    schedule.note_end("gone", clock.seconds + 1)
    assert schedule.begin_poll("gone") is None
    assert schedule.plan_next("gone", 100.0, clock.seconds) == 15.0
    assert rung == []
