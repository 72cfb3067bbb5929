"""Calls that are out, and the queue of the light ones, which a few threads of the pool empty.

A light call only computes: with more threads it would not end sooner, yet hold more memory. So at
most four threads pull from the queue; one more does while the head of the queue waits, and one for
each call that seems to wait for something.

Owned by the engine's thread; only ``Job.make`` and ``LightCalls._pull`` run in the pool. What both
touch are deques, whose ``append`` and ``popleft`` are atomic. Called by ``pool_driver``.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from zonda.hooks.records import dataclass

from ..execution.loop import Task
from ..execution.pool import Pool
from ..model.effects import Call, GivenUp

#: The number of pulling threads, and the calls after which each announces results.
PULLERS, TOGETHER = 4, 32
#: Seconds after which the head of the queue has waited too long.
LONGEST_WAIT = 0.05
#: Seconds after which a call that was to compute is taken for one that waits for something.
STUCK = 1.0


@dataclass(slots=True, eq=False)
class Job:
    """One call, and what has come of it.

    ``queued_at``: when it came into the queue; ``began``: when it was begun, set by the thread that
    makes it. ``is_off``: what it is for is over; if it has not begun by then, it is not made.
    ``is_answered``: the step has gone on without it.
    """

    task: Task
    call: Call
    queued_at: float = 0.0
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
    """A thread that pulls, the call that it makes, and whether it has found the queue empty."""

    job: Job | None = None
    has_ended: bool = False


class LightCalls:
    """The queue. ``wake``: called in the pool when there are results; ``most``: pullers at most."""

    def __init__(
        self, pool: Pool, wake: Callable[[], None], monotonic: Callable[[], float], most: int
    ) -> None:
        self._pool = pool
        self._wake = wake
        self._monotonic = monotonic
        self._most = max(PULLERS, most)
        self._queue: deque[Job] = deque()
        self._results: deque[Job] = deque()
        self._pullers: list[_Puller] = []

    def put(self, job: Job) -> None:
        """Enter a call; ``start_pullers`` is to follow."""
        job.queued_at = self._monotonic()
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
        self._pullers = [puller for puller in self._pullers if not puller.has_ended]
        for _ in range(0, len(self._queue), TOGETHER):
            if len(self._pullers) >= PULLERS and len(self._pullers) >= self._count_allowed():
                return
            puller = _Puller()
            self._pullers.append(puller)
            self._pool.submit(partial(self._pull, puller))

    def _count_allowed(self) -> int:
        """Count the threads that may pull, where all that always may do."""
        now, head = self._monotonic(), None
        began = [puller.job.began for puller in self._pullers if puller.job is not None]
        stuck = sum(at is not None and now - at > STUCK for at in began)
        with suppress(IndexError):
            head = self._queue[0]
        is_late = head is not None and now - head.queued_at > LONGEST_WAIT
        return min(PULLERS + stuck + is_late, self._most)

    def _pull(self, puller: _Puller) -> None:
        """In the pool: make calls until there are none, or until one has come back too late."""
        made = 0
        while (job := _next(self._queue)) is not None:
            puller.job = job
            job.make(self._monotonic())
            self._results.append(job)
            if job.is_off:
                break
            made += 1
            if made % TOGETHER == 0:
                self._wake()
        puller.has_ended = True
        self._wake()


def _next(queue: deque[Job]) -> Job | None:
    try:
        return queue.popleft()
    except IndexError:
        return None
