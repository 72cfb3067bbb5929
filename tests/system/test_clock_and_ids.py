"""Ids sort by time, are unique and well formed."""

from __future__ import annotations

import random
import uuid

import pytest

from zonda.core.system.clock import SystemClock
from zonda.core.system.ids import Ids, make_system_random, make_token


class StandingClock:
    """A clock that is moved by hand."""

    def __init__(self, now: float) -> None:
        self.time = now

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time


def test_an_id_is_a_dashed_lower_case_uuid_of_version_7() -> None:
    made = Ids(StandingClock(1_700_000_000.123), random.Random(1)).new()

    parsed = uuid.UUID(made)
    assert str(parsed) == made
    assert parsed.version == 7
    assert parsed.variant == uuid.RFC_4122
    assert parsed.int >> 80 == 1_700_000_000_123


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(0.0, id="clock-stands-still"),
        pytest.param(0.001, id="clock-runs"),
        pytest.param(-5.0, id="clock-goes-back"),
    ],
)
def test_ids_rise_whatever_the_clock_does(step: float) -> None:
    clock = StandingClock(1_700_000_000.0)
    ids = Ids(clock)
    made = []
    for _ in range(5000):
        made.append(ids.new())
        clock.time += step

    assert made == sorted(set(made))


def test_one_seed_gives_the_same_ids() -> None:
    first, second = (Ids(StandingClock(1.0), random.Random(7)) for _ in range(2))

    assert [first.new() for _ in range(3)] == [second.new() for _ in range(3)]


def test_tokens_differ() -> None:
    assert len({make_token() for _ in range(100)}) == 100
    assert len(make_token()) >= 43


def test_the_random_source_cannot_be_seeded() -> None:
    first, second = make_system_random(), make_system_random()
    first.seed(1)
    second.seed(1)

    assert first.getrandbits(128) != second.getrandbits(128)


def test_the_system_clock_moves_on() -> None:
    clock = SystemClock()
    now, monotonic = clock.now(), clock.monotonic()
    clock.pause(0)

    assert clock.now() >= now > 1_600_000_000
    assert clock.monotonic() >= monotonic
