"""The pause between two plans of a nested stack."""

from __future__ import annotations

from types import SimpleNamespace

from zonda.core.engine.nested.operation import ChildOperation


class Clock:
    def __init__(self, now: float, passed: float) -> None:
        self.time, self.passed = now, passed

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.passed


def operation(clock: Clock) -> ChildOperation:
    made = ChildOperation.__new__(ChildOperation)
    made._services = SimpleNamespace(clock=clock)  # type: ignore[assignment]
    made._pause_ends = None
    return made


TOKEN = {"applied": 1, "until": 110.0, "pause": 10.0}


def test_a_clock_that_is_set_back_makes_no_pause_longer() -> None:
    clock = Clock(100.0, 0.0)
    waiting = operation(clock)
    assert waiting._pause_left(TOKEN) == 10.0
    clock.time, clock.passed = -3500.0, 4.0
    assert waiting._pause_left(TOKEN) == 6.0
    assert operation(clock)._pause_left(TOKEN) == 10.0


def test_after_a_restart_what_has_passed_of_it_counts() -> None:
    assert operation(Clock(107.0, 0.0))._pause_left(TOKEN) == 3.0
    assert operation(Clock(500.0, 0.0))._pause_left(TOKEN) < 0
