"""The driver of the embedded engine: calls are made in pools of threads.

Owned by the engine's thread, which alone calls its methods; only ``_make`` runs elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from queue import SimpleQueue

from zonda.core.store.write.database import Store
from zonda.core.system.clock import SystemClock

from ..execution.loop import Task
from ..execution.pool import Pool
from ..model.effects import Call, GivenUp, TookTooLong, Tx, make_step
from ..model.states import IDLE
from ..model.unit_of_work import UnitOfWork
from ..operations import cut_off
from ..services import EngineServices
from . import sweeps
from .driver import Driver
from .light_calls import Job, LightCalls

#: Seconds after which others may begin beside a call that is made alone: it ends nothing, it seems.
ALONE = 10.0
#: For so many threads there is one more, for what is under way.
SPARE = 8
#: The message of an operation whose call finds no thread; displays know it by "waiting for".
NO_WORKER = "waiting for another call to end (workers)"
_CPU = SystemClock().thread_cpu


class PoolDriver(Driver):
    """Makes calls in pools; what comes of them goes into ``inbox``.

    ``leave`` is called by each thread of a pool before it ends.
    """

    def __init__(
        self,
        store: Store,
        services: EngineServices,
        inbox: SimpleQueue[Callable[[], None]],
        owner: str,
        leave: Callable[[], None],
    ) -> None:
        workers = services.settings.workers
        super().__init__(store, services, cap=2 * workers, owner=owner)
        self._inbox = inbox
        self._pool = Pool(workers, "zonda-call", leave, spare=workers // SPARE)
        # A pool of their own: what only computes does not wait for what waits for something.
        self._light_pool = Pool(workers, "zonda-light", leave)
        monotonic = services.clock.monotonic
        self._light = LightCalls(self._light_pool, lambda: inbox.put(_wake), monotonic, _CPU)
        #: The stacks that are driven; None: all.
        self.driven: set[str] | None = set()
        # The stacks that something was planned for here, and that are not driven (yet).
        self._planned: set[str] = set()
        #: The stacks that have come to rest since somebody last asked.
        self.idle_stacks: set[str] = set()
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

        def take_up(work: UnitOfWork) -> None:
            self._forget_ended(work, root_id)
            sweeps.take_up(work, [root_id])
            if not is_known:
                cut_off.count_unfinished(work)

        self.start(make_step(Tx(take_up)))

    def _forget_ended(self, work: UnitOfWork, but: str) -> None:
        for other in tuple(self.driven or ()):
            stack = work.tx.stack(other)
            is_idle = stack is None or stack.phase == IDLE
            if other != but and is_idle and not work.tx.list_runnable(other):
                work.after.then.append(partial(self._forget, other))

    def _forget(self, root_id: str) -> None:
        if self.driven is not None:
            self.driven.discard(root_id)

    def note_planned(self, root_id: str) -> None:
        """Keep that what is to be carried out is new."""
        self._planned.add(root_id)

    def on_rested(self, stack_ids: Iterable[str]) -> None:
        """Keep them until they are asked for."""
        self.idle_stacks.update(stack_ids)

    def on_detached(self, stack_id: str, root_id: str) -> None:
        """Go on with what was carried out here."""
        if self.driven is not None and root_id in self.driven:
            self.driven.add(stack_id)

    def widen(self, by: int) -> None:
        """See ``Driver.widen``."""
        for pool in (self._pool, self._light_pool):
            pool.widen(by)

    @property
    def has_room(self) -> bool:
        """Whether another step may begin."""
        return self._admitted < self._cap and self.alone.task is None

    @property
    def load(self) -> float:
        """See ``Pool.load``."""
        return self._pool.load

    @property
    def calls(self) -> int:
        """The number of calls that are out and waited for."""
        return len(self._job_of)

    def call(self, task: Task, effect: Call) -> None:
        """Have a call made in the pool, light ones one after the other."""
        job = self._job_of[task] = Job(task, effect)
        if effect.light:
            self._light.put(job)
        else:
            tell = effect.tell if self._pool.is_full else None
            if tell is not None:
                tell(NO_WORKER)
            self._pool.submit(lambda: self._make(job, tell), effect.order)

    def _make(self, job: Job, tell: Callable[[str], None] | None) -> None:
        """In the pool. ``tell``: users were told that the call waits."""
        if tell is not None and not job.is_off:
            tell("running")
        job.make(self.services.clock.monotonic())
        self._inbox.put(lambda: self._finish_call(job))

    def leave_behind(self, task: Task, root_id: str) -> None:
        """See ``Driver.leave_behind``. A call that has not begun is not made any more."""
        job = self._job_of.get(task)
        if job is None:
            return
        job.is_off = True
        if self._is_running(job):
            self.services.hanging.add(job, task.key, root_id)
            del self._job_of[task]
            self._light.leave_behind(job)

    def _is_running(self, job: Job) -> bool:
        """Whether a call may act outside now. It sets ``began`` first and then looks at ``is_off``,
        which was set before: at least one of both sees the other.
        """
        return job.began is not None

    def give_up_overlong(self) -> None:
        """Give up calls that nobody else does: what is no operation has no deadline."""
        now = self.services.clock.monotonic()
        for job in list(self._job_of.values()):
            if job.began is not None and now - job.began > ALONE:
                self.alone.end(job.task)
            if job.began is not None and now - job.began > job.call.seconds:
                task = job.task
                self._leave_pool(task)
                self.leave_behind(task, "")
                job.is_answered = True
                self.advance(task, error=TookTooLong(job.call.seconds))

    def start_light_calls(self) -> None:
        """Have those made that are asked for by now."""
        self._light.start_pullers()

    @property
    def makes_light_calls(self) -> bool:
        """Whether light calls are made now, so that one may hold up the others."""
        return self._light.is_pulling

    def end_light_calls(self) -> None:
        """Go on with what has come of light calls."""
        for job in self._light.take_results():
            self._finish_call(job)

    def _finish_call(self, job: Job) -> None:
        self.services.hanging.drop(job)
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

    def end(self, error: BaseException) -> None:
        """See ``Loop``. A call that has not begun is not made any more: others take over."""
        for job in self._job_of.values():
            job.is_off = True
        super().end(error)

    def stop(self) -> None:
        """End the pools' threads."""
        self._pool.stop()
        self._light_pool.stop()


def _wake() -> None:
    """Wake the engine's thread."""
