"""A check that is not stored, run by the process that waits for it: the plan of a repair.

The looks are those of any check (``Checks``): as many at a time, at the same pace, given up at the
same time. What differs is who runs them, since there may be no engine: this thread, with a pool.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from ..execution.pool import Pool
from ..execution.timers import Timetable
from ..model.effects import Call, Step, Wait
from ..services import EngineServices
from .check_resources import Checks
from .findings import Check

#: The longest that nobody asks whether a look takes too long.
_LOOK_AROUND = 1.0
#: Seconds that what a look has begun has to be cancelled once all is known.
_CANCELLING = 5.0

Done = Callable[[Any, BaseException | None], None]


class Unstored:
    """Runs one check. ``pause`` sleeps for some seconds."""

    def __init__(self, services: EngineServices, pause: Callable[[float], Any]) -> None:
        self._monotonic = services.clock.monotonic
        self._pause = pause
        self._pool = Pool(services.settings.workers, "zonda-look")
        self._inbox: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._timetable: Timetable[Callable[[], None]] = Timetable()
        #: Calls that have not come back.
        self._out = 0
        self._checks = Checks(services, self._start, _refuse_repair)
        services.hanging.spare = self._pool.widen

    def run(self, check: Check) -> None:
        """Run the check to its end; ``check.outcome`` says whether that was reached."""
        self._checks.begin(check)
        try:
            while check.outcome is None:
                self._run_once()
            until = self._monotonic() + _CANCELLING
            while self._out > self._checks.hanging and self._monotonic() < until:
                self._run_once()
        finally:
            self._pool.stop()

    def _run_once(self) -> None:
        now = self._monotonic()
        while (due := self._timetable.take(now)) is not None:
            due()
        self._checks.sweep()
        at = self._timetable.next_due()
        seconds = _LOOK_AROUND if at is None else min(max(at - now, 0.0), _LOOK_AROUND)
        if not self._out:
            self._pause(seconds)
            return
        with suppress(Empty):
            self._inbox.get(timeout=seconds)()

    def _start(self, step: Step, done: Done) -> None:
        self._resume(step, done, None, None)

    def _resume(self, step: Step, done: Done, value: Any, error: BaseException | None) -> None:
        try:
            effect = step.send(value) if error is None else step.throw(error)
        except StopIteration as end:
            done(end.value, None)
        except Exception as failure:  # the border: whoever waits for the step is told
            done(None, failure)
        else:
            self._carry_out(step, done, effect)

    def _carry_out(self, step: Step, done: Done, effect: Any) -> None:
        if type(effect) is Call:
            self._out += 1
            self._pool.submit(lambda: self._call(step, done, effect))
        elif type(effect) is Wait:
            due = self._monotonic() + effect.seconds
            self._timetable.put(due, lambda: self._resume(step, done, None, None))
        else:  # what a check stores of its end
            self._resume(step, done, True, None)

    def _call(self, step: Step, done: Done, effect: Call) -> None:
        """Make the call; runs in the pool."""
        value, error = effect.make()

        def back() -> None:
            self._out -= 1
            self._resume(step, done, value, error)

        self._inbox.put(back)


def _refuse_repair(check: Check) -> Step:
    """A preview repairs nothing."""
    raise AssertionError(check.row.id)
    yield
