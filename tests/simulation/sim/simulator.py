"""Runs steps one effect at a time, in an order that a seed decides, and breaks what can break.

Between any two effects the process may crash (its commits stay), go on as a zombie beside its
successor, get a message twice, or see a newer action. Several transactions may share a commit, and
in ``whole`` lives the database may refuse one at any statement, others may go on (or the process
die) in the midst of a handler, and clocks are set.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from zonda.core.engine import actions
from zonda.core.engine.drift.check_resources import Checks
from zonda.core.engine.drift.interrupting import interrupt_all
from zonda.core.engine.drift.repair import repair_after_check
from zonda.core.engine.execution.steps import step
from zonda.core.engine.handlers.runners import act, roll_back
from zonda.core.engine.model.effects import Call, GivenUp, Step, Tx, Wait, make_step
from zonda.core.engine.model.row_annotations import ATTEMPT, has
from zonda.core.engine.model.unit_of_work import UnitOfWork
from zonda.core.engine.nested.refresh import refresh
from zonda.core.engine.operations.replacement import is_completed
from zonda.core.engine.operations.timeouts import end_without_rollback
from zonda.core.engine.runtime import sweeps
from zonda.core.engine.runtime.building import build_services
from zonda.core.engine.runtime.clock_jumps import Jumps
from zonda.core.engine.runtime.lateness import Lateness
from zonda.core.engine.services import BACKSTOP, EngineSettings
from zonda.core.store.database.faults import Refused
from zonda.core.store.values.sealing import Sealer
from zonda.core.store.write.database import Fenced, Store, open_store
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.errors import ZondaError

from .clock import SetClock
from .drifting import drifting_types
from .environment import Writing
from .faulty import KINDS, Faulty
from .nested_template import GroupBase, NestingLoading, is_owner
from .nested_writing import NestedWriting
from .template import FakeLoading
from .types import PLAIN, Inward
from .watch import Watcher
from .whole_types import whole_types
from .world import Killed, Violation, World

SEALER = Sealer("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
PENDING, RESULT, ERROR, RUNNING = "pending", "result", "error", "running"


@dataclass(eq=False)
class Task:
    """A step and what it waits for; ``key``: of which instance it is, '' for none."""

    step: Step
    key: str = ""
    kind: str = RESULT
    payload: Any = None
    done: Callable[[Any, BaseException | None], None] | None = None
    given_up: bool = False
    was_stopped: bool = False
    #: It waits for a nested stack, whose end pokes it; or has been poked before it did.
    is_asleep: bool = False
    is_poked: bool = False
    #: The number of times it has begun to wait.
    waits: int = 0

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for its time, or for a nested stack."""
        return self.is_asleep or (self.kind == PENDING and isinstance(self.payload, Wait))

    def stop(self) -> None:
        """Its operation was ended from outside."""
        self.given_up = self.was_stopped = True
        if self.is_asleep:
            self.is_asleep, self.kind, self.payload = False, PENDING, Wait(0.0, self.key)

    def poke(self) -> None:
        """It is to ask now, or as soon as it waits."""
        self.is_asleep, self.is_poked = False, not self.is_asleep


@dataclass(eq=False)
class Process:
    """One life of an engine."""

    owner: str
    tasks: list[Task] = field(default_factory=list)
    zombie: bool = False
    checks: Any = None

    def start(self, made: Step, done: Callable[[Any, BaseException | None], None]) -> None:
        """Run a step of a drift check."""
        self.tasks.append(Task(made, done=done))

    def drives(self, stack_id: str) -> bool:
        """As a driver: it drives all."""
        return True

    def is_moving(self, key: str) -> bool:
        """As a driver."""
        return key in self.list_moving()

    def list_moving(self) -> list[str]:
        """As a driver."""
        return [task.key for task in self.tasks if not task.is_waiting]

    def waits(self, key: str) -> int:
        """As a driver."""
        return max((task.waits for task in self.tasks if task.key == key), default=0)

    @property
    def ready(self) -> list[Task]:
        """The tasks that can go on: not those in the midst of a call."""
        return [task for task in self.tasks if task.kind != RUNNING and not task.is_asleep]


class Simulator:
    """One seed."""

    def __init__(
        self,
        seed: int,
        *,
        inward: bool = False,
        whole: bool = False,
        nested: bool = False,
        drifting: bool = False,
    ) -> None:
        self.source = random.Random(seed)
        self.whole = whole
        self.drifting = drifting
        self.world = World(random.Random(seed + 1), whole=whole)
        types = {base.__name__: type(base.__name__, (base,), self._shared()) for base in PLAIN}
        if inward:
            types["Thing"] = type("Thing", (Inward,), self._shared())
        if whole:
            types = whole_types(self.world)
        if drifting:
            types = drifting_types(types)
        self.writing = NestedWriting() if nested else Writing()
        load: Any = FakeLoading(types)
        if nested:
            types["Group"] = type("Group", (GroupBase,), {})
            load = NestingLoading(types)
        self.store: Store = open_store(":memory:", sealer=SEALER)
        self.reader = self.store.reader()
        connection = self.store._connection
        self.faulty = Faulty(connection)
        self.store._connection = self.faulty  # type: ignore[assignment]
        self.clock = SetClock()
        numbers = itertools.count(1)
        self.ids = lambda: f"{next(numbers):012d}"
        self.process = Process("p0")
        self.zombies: list[Process] = []
        self.callers: list[Process] = []
        self.messages: list[str] = []
        self.owed: list[str] = []
        self.doubles = 0.05
        self.faults = 0.03 if whole else 0.0
        self.meanwhile = 0.05 if whole else 0.0
        self.crashes = self.stolen = 0
        self.counted: Counter[str] = Counter()
        self.texts: list[str] = []
        #: Names of what was signalled or marked, so that it need not be as its template says.
        self.disturbed: set[str] = set()
        settings = EngineSettings(user="somebody")
        self.services = build_services(
            self.store.sealer,
            types,
            load=load,
            clock=self.clock,
            ids=self.ids,
            source=self.source,
            lender=SimpleNamespace(setup="", is_shared=False),  # type: ignore[arg-type]
            settings=settings,
            durable=self._durable,
            progress=lambda *said: None,
            reader=lambda: self.reader,
            drives=lambda root_id: True,
        )
        self.process.checks = self._checks(self.process)
        self.jumps = Jumps(self.clock)
        #: What a unit of the running transaction has done once that is committed.
        self.after_commit: Callable[[], None] = lambda: None
        self.lateness = Lateness(self.process, self.clock)
        self.superseded = sweeps.StopSuperseded(self, settings.cancel_grace)
        self.watcher = Watcher(connection, self.reader, self.world, self.clock)
        self.watcher.disturbed = self.disturbed
        self.world.is_held = self._is_held
        self.world.users = self._users
        self.world.policy = lambda key: self.watcher.rows[key].deletion_policy

    def _shared(self) -> dict[str, Any]:
        return {"world": self.world}

    def _checks(self, process: Process) -> Checks:
        return Checks(
            self.services, process.start, lambda check: repair_after_check(self.services, check)
        )

    # -- actions --------------------------------------------------------------------------------

    def act(
        self,
        action: actions.Action,
        done: Callable[[Any], None] = lambda accepted: None,
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        """Begin an action; one that is refused is forgotten. ``ended``: in any case."""
        kind = type(action).__name__

        def over(value: Any, error: BaseException | None) -> None:
            ended()
            if error is None:
                self.counted[kind] += 1
                done(value)
            elif not isinstance(error, ZondaError | Fenced):
                raise error
            else:
                self.counted[f"{kind} refused"] += 1

        self.process.tasks.append(Task(act(self.services, action), done=over))

    def bundle(self, text: str) -> Bundle:
        return Bundle(text)

    # -- one move ---------------------------------------------------------------------------------

    def move(self) -> bool:
        """Make one move of the living process; False if it has nothing to do."""
        if self.messages and (not self.process.ready or self.source.random() < 0.5):
            self._deliver()
            return True
        if self.owed:
            self._plan_rollback(self.owed.pop())
            return True
        if not self.process.ready:
            return False
        self._progress(self.process)
        return True

    def _plan_rollback(self, stack_id: str) -> None:
        def over(value: Any, error: BaseException | None) -> None:
            if error is not None and not isinstance(error, Fenced):
                why = str(error)
                unit = make_step(Tx(lambda work: end_without_rollback(work, stack_id, why)))
                self.process.tasks.append(Task(unit))

        self.process.tasks.append(Task(roll_back(self.services, stack_id), done=over))

    def _deliver(self) -> None:
        index = self.source.randrange(len(self.messages))
        key = self.messages[index]
        if self.source.random() > self.doubles:
            self.messages.pop(index)
        self.process.tasks.append(Task(step(self.services, key), key))

    def _progress(self, process: Process) -> None:
        task = self.source.choice(process.ready)
        self.counted["effects"] += 1
        if task.kind != PENDING:
            self._resume(process, task)
            return
        effect = task.payload
        if task.given_up and not isinstance(effect, Call):
            task.given_up = False
            task.payload, task.kind = GivenUp(), ERROR
        elif isinstance(effect, Tx):
            self._commit(process, self._grouped(process, task))
        elif isinstance(effect, Call):
            self._call(process, task, effect)
        else:
            assert isinstance(effect, Wait)
            self._wait(task, effect.seconds)

    def _wait(self, task: Task, seconds: float) -> None:
        """An end of a nested stack is told; the time until it is asked for does not pass."""
        task.payload, task.kind = None, RESULT
        task.waits += 1
        row = self.watcher.rows.get(task.key)
        waits_below = row is not None and is_owner(row) and seconds >= BACKSTOP
        if waits_below and not task.is_poked:
            task.is_asleep = True
        elif not task.is_poked:
            self.clock.advance(min(seconds, 5.0))
        task.is_poked = False

    def _grouped(self, process: Process, task: Task) -> list[Task]:
        """Those that share a commit with ``task``."""
        group = [task]
        if self.source.random() < 0.5:
            group += [
                other
                for other in process.tasks
                if other is not task
                and other.kind == PENDING
                and isinstance(other.payload, Tx)
                and not other.given_up
                and self.source.random() < 0.5
            ]
        return group

    def _resume(self, process: Process, task: Task) -> None:
        try:
            if task.kind == ERROR:
                effect = task.step.throw(task.payload)
            else:
                effect = task.step.send(task.payload)
        except StopIteration as end:
            self._over(process, task, end.value, None)
        except (ZondaError, Fenced, GivenUp) as error:
            self._over(process, task, None, error)
        else:
            task.payload, task.kind = effect, PENDING

    def _over(self, process: Process, task: Task, value: Any, error: BaseException | None) -> None:
        process.tasks.remove(task)
        if task.was_stopped and process is self.process:
            self.messages.append(task.key)
        if task.done is not None:
            task.done(value, error)

    # -- calls ------------------------------------------------------------------------------------

    def _call(self, process: Process, task: Task, effect: Call) -> None:
        task.kind = RUNNING
        self.callers.append(process)
        try:
            payload, kind = effect.run(), RESULT
        except Killed:
            return
        except Exception as error:
            payload, kind = error, ERROR
        finally:
            self.callers.pop()
        task.payload, task.kind = payload, kind
        if self.world.violations:
            raise self.world.violations[0]

    def _durable(self, run: Callable[[UnitOfWork], Any]) -> Any:
        """What a plug-in stores: others go on meanwhile, or the process dies."""
        process = self.callers[-1] if self.callers else self.process
        self._others_go_on(process)
        while True:
            try:
                value = self._transaction([run], process)[0]
                break
            except Refused:
                self.counted["refused"] += 1
        self._others_go_on(process)
        return value

    def _others_go_on(self, process: Process) -> None:
        if self.source.random() >= self.meanwhile or len(self.callers) > 2:
            return
        if self.source.random() < 0.2:
            self.counted["crashes in calls"] += 1
            self.crash(zombie=self.source.random() < 0.5)
        for _ in range(self.source.randrange(6)):
            self.move()
        if process is not self.process and process not in self.zombies:
            raise Killed

    # -- transactions -----------------------------------------------------------------------------

    def _commit(self, process: Process, group: list[Task]) -> None:
        try:
            values = self._transaction([task.payload.run for task in group], process)
        except Refused:  # nothing has happened; they are tried again
            self.counted["refused"] += 1
            return
        except (ZondaError, Fenced) as error:
            if len(group) > 1:
                for task in group:
                    self._commit(process, [task])
                return
            group[0].payload, group[0].kind = error, ERROR
            return
        for task, value in zip(group, values, strict=True):
            task.payload, task.kind = value, RESULT

    def _transaction(self, runs: list[Callable[[UnitOfWork], Any]], process: Process) -> list[Any]:
        if self.faults and self.source.random() < self.faults:
            self.faulty.arm(self.source.randrange(12), self.source.choice(list(KINDS)))
        try:
            with self.store.transaction() as tx:
                work = UnitOfWork(tx, self.clock.now(), self.ids, SEALER, process.owner)
                offset = self.jumps.look(work)
                values = [run(work) for run in runs]
            self.jumps.keep_offset(offset)
            self.after_commit()
        except BaseException:
            self.watcher.sweeps_at = None
            raise
        finally:
            self.after_commit = lambda: None
            self.faulty.arm(None)
        self.counted["transactions"] += 1
        zombie = process.owner if process.zombie else None
        self.stolen += self.watcher.committed(alone=len(runs) == 1, zombie=zombie)
        self._after(work, process)
        return values

    def _after(self, work: UnitOfWork, process: Process) -> None:
        after = work.after
        for run in after.then:
            run()
        for check in after.checks:
            process.checks.begin(check)
        told = [process]
        if not process.zombie or self.source.random() < 0.5:
            self.messages.extend(after.look)
            self.owed.extend(after.plan)
            told = [self.process, process] if process.zombie else told
        elif after.look or after.plan or after.poke or after.refresh:
            self.stolen += 1
        told[0].tasks += [Task(refresh(self.services, key)) for key in after.refresh]
        for task in process.tasks:
            if task.key in after.stop:
                task.stop()
        for each in told:
            for task in each.tasks:
                if task.key in after.poke:
                    task.poke()

    def _users(self, key: str) -> list[str]:
        """Who requires an instance and lives."""
        with self.store.transaction() as tx:
            row = tx.resource(key)
            # what a failed attempt has left, or was never completed: nobody began on that (watch)
            if row is None or row.op != "DELETE" or not is_completed(row) or has(row, ATTEMPT):
                return []
            rows = [tx.resource(user) for user in tx.dependants(row)]
            return [row.name for row in rows if row and row.physical_id in self.world.live]

    def _is_held(self, key: str, op_id: str) -> bool:
        with self.store.transaction() as tx:
            row = tx.resource(key)
            return row is not None and row.op != "" and row.op_id == op_id

    def is_busy(self, key: str) -> bool:
        """Whether a step of this instance is running."""
        return any(task.key == key for task in self.process.tasks)

    def is_moving(self, key: str) -> bool:
        """Whether it is, and does not wait for its time."""
        return any(task.key == key and not task.is_waiting for task in self.process.tasks)

    # -- breaking ---------------------------------------------------------------------------------

    def crash(self, *, zombie: bool) -> None:
        """The process dies, or is only thought to; another one takes over."""
        self.crashes += 1
        old = self.process
        if zombie and old.tasks:
            old.zombie = True
            self.zombies.append(old)
        self.process = Process(f"p{self.crashes}")
        self.process.checks = self._checks(self.process)
        self.jumps, self.lateness = Jumps(self.clock), Lateness(self.process, self.clock)
        self.watcher.crashed()
        self.messages.clear()
        self.owed.clear()
        self.store.forget_rows()
        self.sweep()

    def zombie_move(self) -> None:
        """One effect of a process that was thought dead."""
        process = self.source.choice(self.zombies)
        self.counted["zombies' moves"] += 1
        if process.ready:
            self._progress(process)
        if not process.ready or self.source.random() < 0.1:
            self.zombies.remove(process)

    def sweep(self) -> None:
        """What recovery and the reconcile sweep do."""
        if self.drifting:
            self.process.tasks.append(Task(make_step(Tx(interrupt_all))))
        self.process.tasks.append(Task(make_step(Tx(sweeps.take_up_all))))

    def sweep_deadlines(self) -> None:
        """What is past its deadline, or was waited for long enough, ends."""

        lateness = self.lateness

        def swept(work: UnitOfWork) -> None:
            if lateness is self.lateness:  # else a process that was thought dead
                self.watcher.sweeps_at = work.now, self.clock.monotonic()
            asked = lateness.fail_late(work)
            self.after_commit = lambda: setattr(lateness, "asked", asked)

        self.process.tasks += [Task(make_step(Tx(swept))), Task(make_step(Tx(self.superseded)))]


__all__ = ["SEALER", "Simulator", "Violation"]
