"""The driver of the embedded engine: calls are made in a pool of threads.

Owned by the engine's thread, which alone calls its methods; only ``_submit``'s job runs elsewhere.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar

from zonda.core.store.write.database import Store

from ..execution.pool import Pool
from ..model.effects import Call, GivenUp, TookTooLong
from ..model.states import IDLE
from ..model.unit_of_work import Work
from ..operations import cut_off
from ..services import Room
from . import sweeps
from .driver import Driver, Task
from .requests import single

T = TypeVar("T")

#: How many light calls share a turn in the pool.
LIGHT_TOGETHER = 32
#: How many such turns there are at a time.
LIGHT_TURNS = 4
#: Seconds after which those that still wait for their turn are handed to another thread.
TURN = 0.05
#: Seconds after which others may begin beside a call that is made alone: it ends nothing, it seems.
ALONE = 10.0
#: Seconds after which a call that was to compute is taken for one that waits for something.
STUCK = 1.0


@dataclass(slots=True, eq=False)
class Job:
    """One call, and what has come of it.

    ``began``: when, set by the thread that makes it. ``is_off``: what it is for is over; if it has
    not begun by then, it is not made. ``is_answered``: the step has gone on without it.
    """

    task: Task
    call: Call
    began: float | None = None
    is_off: bool = False
    is_answered: bool = False
    value: Any = None
    error: BaseException | None = None


class Batch:
    """Calls that share a turn. A thread of the pool runs it, the engine's may take the rest away.

    What both touch are deques, whose ``append`` and ``popleft`` are atomic.
    """

    def __init__(self, jobs: list[Job], monotonic: Callable[[], float]) -> None:
        self._todo = deque(jobs)
        self._done: deque[Job] = deque()
        self._monotonic = monotonic
        self._began: float | None = None
        self._call_began = 0.0

    def run(self) -> None:
        """Make every call that is left."""
        self._call_began = self._began = self._monotonic()
        process = os.getpid()
        while (job := _next(self._todo)) is not None:
            self._call_began = job.began = self._monotonic()
            if job.is_off:  # looked at after ``began`` is set: see ``PoolDriver._is_running``
                job.error = GivenUp()
            else:
                job.value, job.error = job.call.make()
                if os.getpid() != process:  # a child that a plug-in has forked is no engine
                    os._exit(0)
            self._done.append(job)

    @property
    def is_slow(self) -> bool:
        """Whether the turn takes longer than it may."""
        return self._began is not None and self._monotonic() - self._began > TURN

    @property
    def is_stuck(self) -> bool:
        """Whether it does not compute but waits, as it seems."""
        return self._began is not None and self._monotonic() - self._call_began > STUCK

    def take_done(self) -> list[Job]:
        """What has come of the calls since this was last asked."""
        return list(iter(lambda: _next(self._done), None))

    def take_rest(self) -> list[Job]:
        """The calls that have not begun: they are no longer this batch's."""
        return list(iter(lambda: _next(self._todo), None))


def _next(queue: deque[T]) -> T | None:
    try:
        return queue.popleft()
    except IndexError:
        return None


class PoolDriver(Driver):
    """Makes calls in a pool; what comes of them goes into ``inbox``.

    ``leave`` is called by each thread of the pool before it ends.
    """

    def __init__(
        self,
        store: Store,
        room: Room,
        inbox: SimpleQueue[Callable[[], None]],
        owner: str,
        leave: Callable[[], None],
    ) -> None:
        workers = room.settings.workers
        super().__init__(store, room, cap=2 * workers, owner=owner)
        self._inbox = inbox
        self._pool = Pool(workers, "zonda-call", leave)
        self._turns = max(LIGHT_TURNS, workers - LIGHT_TURNS)
        #: The stacks that are driven; None: all.
        self.driven: set[str] | None = set()
        # The stacks that something was planned for here, and that are not driven (yet).
        self._planned: set[str] = set()
        #: The stacks that have come to rest since somebody last asked.
        self.idle_stacks: set[str] = set()
        self._light: list[Job] = []
        self._shared: list[Batch] = []
        #: Calls that have not come back, with those that they share a turn with.
        self._out: dict[Job, Batch | None] = {}
        self._job_of: dict[Task, Job] = {}

    def drives(self, stack_id: str) -> bool:
        """Whether what a stack has planned is carried out here."""
        return self.driven is None or stack_id in self.driven

    def drive(self, root_id: str) -> None:
        """Carry out what a stack has planned, from now on."""
        is_known = self.driven is None or root_id in self.driven or root_id in self._planned
        self._planned.discard(root_id)
        if self.driven is not None:
            self.driven.add(root_id)

        def take_up(work: Work) -> None:
            self._forget_ended(work, root_id)
            sweeps.take_up(work, root_id)
            if not is_known:
                cut_off.count(work)

        self.start(single(take_up))

    def _forget_ended(self, work: Work, but: str) -> None:
        for other in tuple(self.driven or ()):
            stack = work.tx.stack(other)
            is_idle = stack is None or stack.phase == IDLE
            if other != but and is_idle and not work.tx.runnable(other):
                work.after.then.append(partial(self._forget, other))

    def _forget(self, root_id: str) -> None:
        if self.driven is not None:
            self.driven.discard(root_id)

    def planned(self, root_id: str) -> None:
        """Keep that what is to be carried out is new."""
        self._planned.add(root_id)

    def rested(self, stack_ids: Iterable[str]) -> None:
        """Keep them until they are asked for."""
        self.idle_stacks.update(stack_ids)

    def detached(self, stack_id: str, root_id: str) -> None:
        """Go on with what was carried out here."""
        if self.driven is not None and root_id in self.driven:
            self.driven.add(stack_id)

    def widen(self, by: int) -> None:
        """See ``Driver.widen``."""
        self._pool.widen(by)

    @property
    def has_room(self) -> bool:
        """Whether another step may begin."""
        return self._admitted < self._cap and self.alone.task is None

    @property
    def calls(self) -> int:
        """How many calls are out that somebody waits for."""
        return len(self._job_of)

    def call(self, task: Task, effect: Call) -> None:
        """Have a call made in the pool, light ones with others."""
        job = self._job_of[task] = Job(task, effect)
        self._out[job] = None
        if effect.light:
            self._light.append(job)
        else:
            self._run(Batch([job], self.room.clock.monotonic))

    def leave_behind(self, task: Task, root_id: str) -> None:
        """See ``Driver.leave_behind``. A call that has not begun is not made any more."""
        job = self._job_of.get(task)
        if job is None:
            return
        job.is_off = True
        if self._is_running(job):
            self.room.hanging.add(job, task.key, root_id)
            del self._job_of[task]
            self._free_turn(self._out[job])

    def _is_running(self, job: Job) -> bool:
        """Whether a call may act outside now. It sets ``began`` first and then looks at ``is_off``,
        which was set before: at least one of both sees the other.
        """
        return job.began is not None

    def _free_turn(self, batch: Batch | None) -> None:
        """Let what shares a turn with a call that hangs go on without it."""
        if batch in self._shared:
            self._shared.remove(batch)
            rest = batch.take_rest()
            self._called(batch)
            if rest:
                self._share(rest)

    def give_up_overlong(self) -> None:
        """Give up calls that nobody else does: what is no operation has no deadline."""
        now = self.room.clock.monotonic()
        for job in list(self._job_of.values()):
            if job.began is not None and now - job.began > ALONE:
                self.alone.ended(job.task)
            if job.began is not None and now - job.began > job.call.seconds:
                task = job.task
                self._leave_pool(task)
                self.leave_behind(task, "")
                job.is_answered = True
                self.advance(task, error=TookTooLong(job.call.seconds))

    def send_light_calls(self) -> None:
        """Hand the light calls that came together to the pool, some to a thread.

        They only compute: with more threads they would not end sooner, yet hold more memory.
        """
        while self._light and self._has_turn:
            taken, self._light = self._light[:LIGHT_TOGETHER], self._light[LIGHT_TOGETHER:]
            self._share(taken)

    @property
    def _has_turn(self) -> bool:
        """Whether another turn may begin; those that wait for something hold up nobody."""
        computing = sum(not batch.is_stuck for batch in self._shared)
        return computing < LIGHT_TURNS and len(self._shared) < self._turns

    @property
    def has_shared(self) -> bool:
        """Whether calls share a turn now, so that one may hold up the others."""
        return bool(self._shared)

    def hand_on(self) -> None:
        """Let no call that takes long hold up what was to run after it in the same turn."""
        for batch in [batch for batch in self._shared if batch.is_slow]:
            if not self._has_turn:
                return
            rest = batch.take_rest()
            self._called(batch)
            if rest:
                self._share(rest)

    def _share(self, jobs: list[Job]) -> None:
        batch = Batch(jobs, self.room.clock.monotonic)
        self._shared.append(batch)
        self._out.update(dict.fromkeys(jobs, batch))
        self._run(batch)

    def _run(self, batch: Batch) -> None:
        def run() -> None:
            batch.run()
            self._inbox.put(lambda: self._ran(batch))

        self._pool.submit(run)

    def _ran(self, batch: Batch) -> None:
        if batch in self._shared:
            self._shared.remove(batch)
        self._called(batch)

    def _called(self, batch: Batch) -> None:
        for job in batch.take_done():
            del self._out[job]
            self.room.hanging.drop(job)
            if self._job_of.get(job.task) is job:
                del self._job_of[job.task]
            if isinstance(job.error, GivenUp):
                job.task.given_up = False  # it is told now
            if not job.is_answered:
                self.advance(job.task, job.value, job.error)

    def close_door(self) -> None:
        """Admit nothing more; what waits stays as it is stored."""
        self.checks.close()
        self._cap = 0
        self._timetable.clear()

    def stop(self) -> None:
        """End the pool's threads."""
        self._pool.stop()
