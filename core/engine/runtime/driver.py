"""The base of all drivers: tasks, units that share a commit, the work after a commit.

One thread owns a driver and the database (``engine.py``: its own thread; ``inline.py``: the
caller's). Subclasses say how a ``Call`` is made. Everything that waits for a transaction when
``commit`` is called shares one; if it fails, the units run one by one.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from zonda.core.store.file.faults import Refused, Unusable
from zonda.core.store.write.database import Fenced, Store
from zonda.core.store.write.transaction import Transaction
from zonda.hooks.errors import StoreError, ZondaError
from zonda.hooks.text.borders import raise_interruption

from ..drift.on_demand import ChecksOnDemand
from ..execution.steps import look, proceed, step
from ..execution.timers import AT_ONCE, Timetable
from ..handlers.runners import roll_back
from ..model.effects import Call, GivenUp, Step, TookTooLong, Tx, Wait
from ..model.unit_of_work import Outbox, UnitOfWork
from ..model.work_item import WorkItem
from ..nested.refresh import refresh
from ..operations.cut_off import Alone
from ..operations.timeouts import end_without_rollback, fail_broken
from ..services import EngineServices
from .clock_jumps import Jumps
from .listeners import Listeners

log = logging.getLogger(__name__)

Done = Callable[[Any, BaseException | None], None]
#: For how many seconds a commit that the database refuses is tried again before the engine stops.
PATIENCE = 10.0
#: Seconds between two such tries, at first and at most.
_FIRST_RETRY, _LAST_RETRY = 0.02, 2.0


@dataclass(slots=True, eq=False)
class Task:
    """A running step: ``key`` is the resource's id, or '' for an action."""

    step: Step
    key: str = ""
    done: Done | None = None
    admitted: bool = False
    waiting: bool = False
    #: How often it has begun to wait.
    waits: int = 0
    given_up: bool = False
    #: Somebody has poked it while it was not waiting: what it was to see may be newer.
    poked: bool = False
    #: A newer operation of the same instance may have begun meanwhile: look once more at the end.
    was_stopped: bool = False


class Driver:
    """Runs steps; see the module's docstring."""

    def __init__(self, store: Store, services: EngineServices, *, cap: int, owner: str) -> None:
        self.store = store
        self.services = services
        self.owner = owner
        self.listeners = Listeners()
        self._cap = cap
        self._admitted = 0
        self._ready: deque[str] = deque()
        self._queued: set[str] = set()
        self._busy: dict[str, Task] = {}
        self._again: set[str] = set()
        self.alone = Alone()
        self._planning: set[str] = set()
        # Owners that are asked what they show; whether somebody has told of more since.
        self._refreshing: dict[str, bool] = {}
        self._units: list[tuple[Task, Tx]] = []
        # Tasks of which somebody waits to hear; and what they heard when all was over.
        self._awaited: dict[Task, None] = {}
        self._over: BaseException | None = None
        self._timetable: Timetable[Task] = Timetable()
        self._jumps = Jumps(services.clock)
        #: The checks of drift that are run here.
        self.checks = ChecksOnDemand(services, self.start)
        services.hanging.spare = self.widen
        self._refused = 0
        # By the monotonic clock: since when the database refuses, and when it is asked again.
        self._refused_since = self._retry_at = 0.0

    # -- what subclasses do ---------------------------------------------------------------------

    def call(self, task: Task, effect: Call) -> None:
        """Make a call outside the engine's thread; ``advance`` the task with its result."""
        raise NotImplementedError

    def widen(self, by: int) -> None:
        """Have so many threads more, or fewer: calls that hang hold them."""

    def leave_behind(self, task: Task, root_id: str) -> None:
        """Stop to wait for the call of a task: it may never return."""

    def drives(self, stack_id: str) -> bool:
        """Whether this driver carries out the plans of a stack."""
        return True

    def on_rested(self, stack_ids: Iterable[str]) -> None:
        """Stacks have come to rest."""

    def planned(self, root_id: str) -> None:
        """Something is to be done that is not carried out here (yet)."""

    def on_detached(self, stack_id: str, root_id: str) -> None:
        """Note that a stack is no longer nested in the root ``root_id``."""

    # -- tasks ----------------------------------------------------------------------------------

    def start(self, made: Step, done: Done | None = None) -> None:
        """Run a step that is not of a resource."""
        task = Task(made, done=done)
        if done is not None:
            if self._over is not None:
                done(None, self._over)
                return
            self._awaited[task] = None
        self.advance(task)

    def end(self, error: BaseException) -> None:
        """End everything; ``error`` is raised for all who wait, now and later."""
        self._over = error
        self._units.clear()
        awaited, self._awaited = list(self._awaited), {}
        for task in awaited:
            if task.done is not None:
                task.done(None, error)

    @property
    def has_units(self) -> bool:
        """Whether something waits for a transaction."""
        return bool(self._units)

    @property
    def has_ready(self) -> bool:
        """Whether a resource waits to be looked at."""
        return bool(self._ready or self.alone)

    def retry_in(self) -> float | None:
        """Seconds until a commit that was refused is tried again; None if none was."""
        return self._retry_at - self.services.clock.monotonic() if self._refused else None

    def is_busy(self, key: str) -> bool:
        """Whether a step of this resource is running."""
        return key in self._busy

    def is_moving(self, key: str) -> bool:
        """Whether a step of this resource is running and not waiting for its time."""
        task = self._busy.get(key)
        return task is not None and not task.waiting

    def waits(self, key: str) -> int:
        """Count how often the running step of this resource has begun to wait."""
        task = self._busy.get(key)
        return 0 if task is None else task.waits

    def enqueue(self, key: str) -> None:
        """Run a step for a resource, now or after the one that is running."""
        if key in self._busy:
            self._again.add(key)
        elif key not in self._queued:
            self._queued.add(key)
            self._ready.append(key)

    def admit(self) -> None:
        """Begin steps as long as there is room in the pool: completions come first."""
        while not self._refused and self._admitted < self._cap:
            key = self.alone.take()
            is_alone = key is not None
            if key is None:
                if self.alone or not self._ready:
                    return
                key = self._ready.popleft()
                self._queued.discard(key)
            if key in self._busy:
                self._again.add(key)
                continue
            task = Task(step(self.services, key, alone=is_alone), key, admitted=True)
            if is_alone:
                self.alone.begin(task)
            self._busy[key] = task
            self._admitted += 1
            self.advance(task)

    def advance(self, task: Task, value: Any = None, error: BaseException | None = None) -> None:
        """Resume a step until it asks for something."""
        if self._over is not None:
            return
        try:
            effect = task.step.send(value) if error is None else task.step.throw(error)
        except StopIteration as end:
            self._end_task(task, end.value, None)
        except BaseException as failure:  # the border: one broken step must not stop the others
            raise_interruption(failure)
            self._end_task(task, None, failure)
        else:
            self._carry_out(task, effect)

    def _carry_out(self, task: Task, effect: Any) -> None:
        self.alone.asked(task, effect)
        if task.given_up and type(effect) is not Call:
            # Its row is somebody else's by now: what it wants to store must not be.
            task.given_up = False
            self.advance(task, error=GivenUp())
        elif type(effect) is Tx:
            self._units.append((task, effect))
        elif type(effect) is Call:
            self.call(task, effect)
        else:
            assert isinstance(effect, Wait)
            self._leave_pool(task)
            task.waiting = True
            task.waits += 1
            due = AT_ONCE if task.poked else self.services.clock.monotonic() + effect.seconds
            task.poked = False
            self._timetable.put(due, task)

    def _leave_pool(self, task: Task) -> None:
        if task.admitted:
            task.admitted = False
            self._admitted -= 1

    def _end_task(self, task: Task, value: Any, error: BaseException | None) -> None:
        self._leave_pool(task)
        self.alone.ended(task)
        is_current = bool(task.key) and self._busy.get(task.key) is task
        if is_current:
            del self._busy[task.key]
            if task.key in self._again or task.was_stopped:
                self._again.discard(task.key)
                self.enqueue(task.key)
        if task.done is not None:
            self._awaited.pop(task, None)
            task.done(value, error)
        elif error is not None and not isinstance(error, GivenUp | Fenced):
            log.error("A step of resource %s broke", task.key, exc_info=error)
            if is_current:
                # Nobody would drive its operation any more: it must not be in progress for ever.
                key = task.key
                why = str(error) if isinstance(error, TookTooLong) else type(error).__name__
                self._units.append(
                    (Task(_make_empty_step()), Tx(lambda work: fail_broken(work, key, why)))
                )

    # -- time -----------------------------------------------------------------------------------

    def next_due(self) -> float | None:
        """The due time of the next waiting task, by the monotonic clock: nobody sets that back."""
        return self._timetable.next_due()

    def wake_due(self, now: float) -> None:
        """Resume every task whose time has come; ``now`` by the monotonic clock."""
        while (task := self._timetable.take(now)) is not None:
            task.waiting = False
            self.advance(task)

    def poke(self, key: str) -> None:
        """Resume a resource's task now, or as soon as it waits."""
        task = self._busy.get(key)
        if task is not None and task.waiting:
            self._timetable.put(AT_ONCE, task)
        elif task is not None:
            task.poked = True

    def give_up(self, key: str, root_id: str) -> None:
        """Tell a task, when it waits (next), that its operation was ended from outside.

        ``root_id``: the stack at its top.
        """
        task = self._busy.get(key)
        if task is None:
            return
        task.was_stopped = True
        task.given_up = not task.waiting
        if task.given_up:
            # Its call may never come back. What is next for the instance must not wait for that;
            # what the call still says is somebody else's by now.
            del self._busy[key]
            self._again.discard(key)
            self.enqueue(key)
            self._leave_pool(task)
            self.alone.ended(task)
            self.leave_behind(task, root_id)
        if task.waiting:
            task.waiting = False
            self._timetable.drop(task)
            self.advance(task, error=GivenUp())

    # -- transactions ---------------------------------------------------------------------------

    def commit(self) -> None:
        """Run every unit that waits, in one transaction; then go on with what follows."""
        if not self._units or (self.retry_in() or 0.0) > 0:
            return
        units, self._units = self._units, []
        try:
            results, work, ahead = self._commit_together(units, ahead=True)
        except Refused as error:
            self._put_back(units, error)
            return
        except Unusable:
            self._units = units + self._units
            raise
        except BaseException as error:  # the border: find out which unit it was
            raise_interruption(error)
            self._commit_each(units)
            return
        self._refused = 0
        self._follow_commit(work)
        for (task, _), value in zip(units, results, strict=True):
            self.advance(task, value)
        for task, seen in ahead:
            task.step = proceed(self.services, seen)
            self.advance(task)

    def _commit_together(
        self, units: list[tuple[Task, Tx]], *, ahead: bool
    ) -> tuple[list[Any], UnitOfWork, list[tuple[Task, WorkItem]]]:
        with self.store.transaction() as tx:
            work = self.work(tx)
            offset = self._jumps.look(work)
            results = [effect.run(work) for _, effect in units]
            looked = self._look_ahead(work) if ahead else []
        self._jumps.looked(offset)
        return results, work, self._admit_seen(looked)

    def _look_ahead(self, work: UnitOfWork) -> list[tuple[str, WorkItem]]:
        """Look at what was just released in the same transaction, as far as there is room."""
        found: list[tuple[str, WorkItem]] = []
        after, space = work.after.look, self._cap - self._admitted - len(self._ready)
        space = 0 if self.alone else space
        while after and len(found) < space:
            key = next(iter(after))
            if key in self._busy or key in self._queued or not self.drives(after[key]):
                break
            del after[key]
            seen = look(work, self.services, key)
            if seen is not None:
                found.append((key, seen))
        return found

    def _admit_seen(self, looked: list[tuple[str, WorkItem]]) -> list[tuple[Task, WorkItem]]:
        tasks = []
        for key, seen in looked:
            task = Task(_make_empty_step(), key, admitted=True)
            self._busy[key] = task
            self._admitted += 1
            tasks.append((task, seen))
        return tasks

    def _commit_each(self, units: list[tuple[Task, Tx]]) -> None:
        for index, unit in enumerate(units):
            try:
                self._commit_alone(unit)
            except (Refused, Unusable) as error:
                self._put_back(units[index:], error)
                return

    def _commit_alone(self, unit: tuple[Task, Tx]) -> None:
        try:
            results, work, _ = self._commit_together([unit], ahead=False)
        except (Refused, Unusable):
            raise
        except BaseException as error:  # its own fault: the database did answer
            raise_interruption(error)
            self._refused = 0
            self.advance(unit[0], error=error)
        else:
            self._refused = 0
            self._follow_commit(work)
            self.advance(unit[0], results[0])

    def _put_back(self, units: list[tuple[Task, Tx]], error: StoreError) -> None:
        """The database refused: nothing is lost, the same units are tried again later."""
        self._units = units + self._units
        now = self.services.clock.monotonic()
        if not self._refused:
            self._refused_since = now
        self._refused += 1
        self._retry_at = now + min(_FIRST_RETRY * 2.0**self._refused, _LAST_RETRY)
        log.warning("%s (attempt %d)", error, self._refused)
        if isinstance(error, Unusable) or now - self._refused_since >= PATIENCE:
            raise error

    def work(self, tx: Transaction) -> UnitOfWork:
        """A unit of work in a transaction."""
        return UnitOfWork(
            tx, self.services.clock.now(), self.services.ids, self.services.sealer, self.owner
        )

    def run_in_transaction(self, run: Callable[[UnitOfWork], Any]) -> Any:
        """Run one unit at once, in a transaction of its own."""
        with self.store.transaction() as tx:
            work = self.work(tx)
            offset = self._jumps.look(work)
            result = run(work)
        self._jumps.looked(offset)
        self._follow_commit(work)
        return result

    def _follow_commit(self, work: UnitOfWork) -> None:
        after: Outbox = work.after
        for run in after.then:
            run()
        self.listeners.committed(work)
        for stack_id, root_id in after.detached.items():
            self.on_detached(stack_id, root_id)
        for key, stack_id in after.look.items():
            if self.drives(stack_id):
                self.enqueue(key)
            else:
                self.planned(stack_id)
        for key in after.alone:
            self.alone.add(key)
        for stack_id in after.plan:
            if self.drives(stack_id):
                self.plan_rollback(stack_id)
        for key in after.poke:
            self.poke(key)
        for key in after.refresh:
            self.refresh(key)
        for key, root_id in after.stop.items():
            self.give_up(key, root_id)
        for check in after.checks:
            self.checks.begin(check)
        for notice in after.say:
            self.listeners.publish(notice)
        self.on_rested(after.idle)

    def plan_rollback(self, stack_id: str) -> None:
        """Plan a rollback, once at a time."""
        if stack_id in self._planning:
            return
        self._planning.add(stack_id)

        def finish(_: Any, error: BaseException | None) -> None:
            self._planning.discard(stack_id)
            if error is not None:
                self.fail_rollback(stack_id, error)

        self.start(roll_back(self.services, stack_id), finish)

    def refresh(self, key: str) -> None:
        """Refresh the attributes of an owner, once at a time."""
        if key in self._refreshing:
            self._refreshing[key] = True
            return
        self._refreshing[key] = False

        def finish(_: Any, error: BaseException | None) -> None:
            if error is not None and self._over is None:
                log.error("What resource %s shows could not be stored", key, exc_info=error)
            if self._refreshing.pop(key) and self._over is None:
                self.refresh(key)

        self.start(refresh(self.services, key), finish)

    def fail_rollback(self, stack_id: str, error: BaseException) -> None:
        """Leave the stack failed, with the reason why its good template cannot be planned."""
        shown = error if isinstance(error, ZondaError) else type(error).__name__
        log.error("The rollback of stack %s cannot be planned", stack_id, exc_info=error)
        self._units.append(
            (
                Task(_make_empty_step()),
                Tx(lambda work: end_without_rollback(work, stack_id, str(shown))),
            )
        )


def _make_empty_step() -> Step:
    yield Wait(0, "")
