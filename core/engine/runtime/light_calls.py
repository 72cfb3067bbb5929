"""Calls that are out, and the queue of the light ones, which a thread of the pool empties.

A light call only computes: with more threads it would not end sooner, yet each would wait for the
interpreter again and again, which takes CPU as well. So one thread pulls from the queue, a number
of calls at a time, while the engine's waits for them. Up to three more pull where calls have turned
out to wait for something outside, and two for each call that does not come back: the next ones may
hang as well.

Owned by the engine's thread; only ``Job.make`` and ``LightCalls._pull`` run in the pool. What both
touch are deques, whose ``append`` and ``popleft`` are atomic. Called by ``pool_driver``.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from zonda.hooks.records import dataclass

from ..execution.loop import Task
from ..execution.pool import Pool
from ..model.effects import Call, GivenUp

#: The number of threads that pull where calls wait, and the calls that each makes in one go.
PULLERS, TOGETHER = 4, 64
#: Seconds from which on a call has waited, where half of them were none of the CPU.
WAITED = 0.01
#: Seconds after which a call is taken for one that does not come back.
STUCK = 0.5


@dataclass(slots=True, eq=False)
class Job:
    """One call, and what has come of it.

    ``began``: when it was begun, set by the thread that makes it. ``is_off``: what it is for is
    over; if it has not begun by then, it is not made.
    ``is_answered``: the step has gone on without it.
    """

    task: Task
    call: Call
    began: float | None = None
    is_off: bool = False
    is_answered: bool = False
    value: Any = None
    error: BaseException | None = None

    def make(self, now: float) -> None:
        """Make the call."""
        process = os.getpid()
        self.began = now
        if self.is_off:  # looked at after ``began`` is set: see ``PoolDriver._is_running``
            self.error = GivenUp()
            return
        self.value, self.error = self.call.make()
        if os.getpid() != process:  # a child that a plug-in has forked is no engine
            os._exit(0)


@dataclass(slots=True, eq=False)
class _Puller:
    """A thread that pulls, the call that it makes, and whether its last one has waited."""

    job: Job | None = None
    has_waited: bool = False
    has_ended: bool = False


class LightCalls:
    """The queue, whose pool limits how many threads pull at all.

    ``wake``: called in the pool when there are results; ``cpu``: CPU seconds of the thread that
    asks.
    """

    def __init__(
        self,
        pool: Pool,
        wake: Callable[[], None],
        monotonic: Callable[[], float],
        cpu: Callable[[], float],
    ) -> None:
        self._pool = pool
        self._wake = wake
        self._monotonic = monotonic
        self._cpu = cpu
        # The number of threads that pull beside the first, since calls wait.
        self._beside = 0
        self._queue: deque[Job] = deque()
        self._results: deque[Job] = deque()
        self._pullers: list[_Puller] = []

    def put(self, job: Job) -> None:
        """Enter a call; ``start_pullers`` is to follow."""
        self._queue.append(job)

    @property
    def is_pulling(self) -> bool:
        """Whether calls are made now, so that one may hold up the others."""
        return bool(self._pullers)

    def take_results(self) -> list[Job]:
        """The calls that were made since this was last asked."""
        return list(iter(partial(_next, self._results), None))

    def leave_behind(self, job: Job) -> None:
        """A call hangs: the thread that makes it is no puller any more."""
        self._pullers = [puller for puller in self._pullers if puller.job is not job]

    def start_pullers(self) -> None:
        """Start as many as the queue is worth, and as there may be."""
        for puller in self._pullers:
            if puller.has_ended:
                self._beside += 1 if puller.has_waited else -1
        self._beside = min(max(self._beside, 0), PULLERS - 1)
        self._pullers = [puller for puller in self._pullers if not puller.has_ended]
        for _ in range(min(self._count_allowed() - len(self._pullers), len(self._queue))):
            puller = _Puller()
            self._pullers.append(puller)
            self._pool.submit(partial(self._pull, puller))

    def _count_allowed(self) -> int:
        """Count the threads that may pull now."""
        now = self._monotonic()
        began = [puller.job.began for puller in self._pullers if puller.job is not None]
        stuck = sum(at is not None and now - at > STUCK for at in began)
        return 1 + self._beside + 2 * stuck

    def _pull(self, puller: _Puller) -> None:
        """In the pool: make calls, until one has waited or has come back too late."""
        began = since = self._monotonic()
        cpu = self._cpu()
        for _ in range(TOGETHER):
            job = _next(self._queue)
            if job is None:
                break
            puller.job = job
            job.make(began)
            self._results.append(job)
            now = self._monotonic()
            spent, began = now - began, now
            # to ask for the CPU takes as long as half a short call: after a long one only
            idle = now - since - (self._cpu() - cpu) if spent > WAITED else 0.0
            puller.has_waited = idle > spent / 2
            if puller.has_waited or job.is_off:
                break
        puller.has_ended = True
        self._wake()


def _next(queue: deque[Job]) -> Job | None:
    try:
        return queue.popleft()
    except IndexError:
        return None
