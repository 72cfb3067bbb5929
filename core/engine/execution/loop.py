"""The loop that runs steps: it resumes each until it asks for something, and with the answer.

One thread owns a loop. Subclasses say how a call is made, and what becomes of a unit: drivers store
it (``runtime``), the plan of a repair does not (``drift.dry_run``). Steps of instances begin while
there is room in the pool; all others begin at once.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import Any

from zonda.core.store.write.database import Fenced
from zonda.core.store.write.duties import Foreign
from zonda.core.template.source.diagnostics import UNKNOWN_NAMES
from zonda.hooks.records import dataclass
from zonda.hooks.text.borders import raise_interruption

from ..model.effects import Call, GivenUp, Step, TookTooLong, Tx, Wait, make_step
from ..operations.timeouts import fail_broken
from ..services import EngineServices
from .alone import Alone
from .steps import step
from .timers import AT_ONCE, Timetable

log = logging.getLogger(__name__)

Done = Callable[[Any, BaseException | None], None]


@dataclass(slots=True, eq=False)
class Task:
    """A running step: ``key`` is the resource's id, or '' for an action."""

    step: Step
    key: str = ""
    done: Done | None = None
    admitted: bool = False
    waiting: bool = False
    #: The number of times it has begun to wait.
    waits: int = 0
    given_up: bool = False
    #: It was woken while it was not waiting: the state that it was to see may be newer.
    poked: bool = False
    #: Nobody wants its operation any more: it ends when it next waits.
    unwanted: bool = False
    #: A newer operation of the same instance may have begun meanwhile: look once more at the end.
    was_stopped: bool = False


class Loop:
    """Runs steps; at most ``cap`` of instances are in the pool. See the module's docstring."""

    def __init__(self, services: EngineServices, cap: int) -> None:
        self.services = services
        self._cap = cap
        self._admitted = 0
        self._ready: deque[str] = deque()
        self._queued: set[str] = set()
        self._busy: dict[str, Task] = {}
        self._again: set[str] = set()
        self.alone = Alone()
        # Tasks of which somebody waits to hear; and what they heard when all was over.
        self._awaited: dict[Task, None] = {}
        self._over: BaseException | None = None
        self._timetable: Timetable[Task] = Timetable()

    # -- what subclasses do ---------------------------------------------------------------------

    def call(self, task: Task, effect: Call) -> None:
        """Make a call outside the loop's thread; ``advance`` the task with its result."""
        raise NotImplementedError

    def store(self, task: Task, effect: Tx) -> None:
        """Run a unit, and ``advance`` the task when it is stored."""
        raise NotImplementedError

    def leave_behind(self, task: Task, root_id: str) -> None:
        """Stop to wait for the call of a task: it may never return."""

    def stop_unwanted(self, key: str) -> None:
        """End the operation of a task that waits, and that nobody wants any more."""

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
        awaited, self._awaited = list(self._awaited), {}
        for task in awaited:
            if task.done is not None:
                task.done(None, error)

    @property
    def admitted(self) -> int:
        """The number of resources that are worked on."""
        return self._admitted

    @property
    def has_ready(self) -> bool:
        """Whether a resource waits to be looked at."""
        return bool(self._ready or self.alone)

    def is_busy(self, key: str) -> bool:
        """Whether a step of this resource is running."""
        return key in self._busy

    def is_moving(self, key: str) -> bool:
        """Whether a step of this resource is running and not waiting for its time."""
        task = self._busy.get(key)
        return task is not None and not task.waiting

    def list_moving(self) -> list[str]:
        """The resources whose steps are running and not waiting for their time."""
        return [key for key, task in self._busy.items() if not task.waiting]

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
        while self._admitted < self._cap:
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
            task = self._enter(key, step(self.services, key, alone=is_alone))
            if is_alone:
                self.alone.begin(task)
            self.advance(task)

    def _enter(self, key: str, made: Step) -> Task:
        """Enter the step of an instance; ``advance`` is to follow."""
        task = self._busy[key] = Task(made, key, admitted=True)
        self._admitted += 1
        return task

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
        if task is self.alone.task:
            self.alone.note(effect)
        if task.given_up and type(effect) is not Call:
            # Its row is somebody else's by now: what it wants to store must not be.
            task.given_up = False
            self.advance(task, error=GivenUp())
        elif type(effect) is Tx:
            self.store(task, effect)
        elif type(effect) is Call:
            self.call(task, effect)
        else:
            assert isinstance(effect, Wait)
            self._leave_pool(task)
            task.waiting = True
            task.waits += 1
            due = AT_ONCE if task.poked else self.services.clock.monotonic() + effect.seconds
            self._timetable.put(due, task)
            if task.unwanted and not task.poked:
                self.stop_unwanted(task.key)
            task.poked = False

    def _leave_pool(self, task: Task) -> None:
        if task.admitted:
            task.admitted = False
            self._admitted -= 1

    def _end_task(self, task: Task, value: Any, error: BaseException | None) -> None:
        self._leave_pool(task)
        self.alone.end(task)
        is_current = bool(task.key) and self._busy.get(task.key) is task
        if is_current:
            del self._busy[task.key]
            if task.key in self._again or task.was_stopped:
                self._again.discard(task.key)
                self.enqueue(task.key)
        if task.done is not None:
            self._awaited.pop(task, None)
            task.done(value, error)
        elif error is not None and not isinstance(error, GivenUp | Fenced | Foreign):
            log.error("A step of resource %s broke", task.key, exc_info=error)
            if is_current:
                # Nobody would drive its operation any more: it must not be in progress for ever.
                why, code = _describe_fault(error)
                self.start(make_step(Tx(lambda work: fail_broken(work, task.key, why, code))))

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

    def note_unwanted(self, key: str) -> None:
        """End the operation of a task when it next waits: a call that is out may make something."""
        task = self._busy.get(key)
        if task is not None:
            task.unwanted = True

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
            self.alone.end(task)
            self.leave_behind(task, root_id)
        if task.waiting:
            task.waiting = False
            self._timetable.drop(task)
            self.advance(task, error=GivenUp())


def _describe_fault(error: BaseException) -> tuple[str, str]:
    """The text of an error that quotes no value, so that no secret is in it; else its class.

    Beside it the code of a name that is not known here any more, or ''.
    """
    code = getattr(error, "code", "")
    if code in UNKNOWN_NAMES:
        return str(error), code
    return str(error) if isinstance(error, TookTooLong) else type(error).__name__, ""
