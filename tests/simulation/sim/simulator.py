"""Runs steps one effect at a time, in an order that a seed decides, and breaks what can break.

Between any two effects the process may crash (its commits stay), go on as a zombie beside its
successor, get a message twice, or see a newer action. Several transactions may share a commit.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from zonda.core.engine import actions
from zonda.core.engine.acting import act, roll_back
from zonda.core.engine.building import build_room
from zonda.core.engine.effects import Call, Step, Tx, Wait
from zonda.core.engine.requests import single
from zonda.core.engine.room import EngineSettings
from zonda.core.engine.steps import drive, step
from zonda.core.engine.work import Work
from zonda.core.store.sealing import Sealer
from zonda.core.store.store import Fenced, Store, open_store
from zonda.core.template.bundle import Bundle
from zonda.hooks.errors import ZondaError
from zonda.hooks.fakes import FakeClock

from .template import FakeLoading
from .world import Fragile, Inward, Odd, Quick, Thing, Violation, World

SEALER = Sealer("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
PENDING, RESULT, ERROR = "pending", "result", "error"


@dataclass(eq=False)
class Task:
    """A step and what it waits for."""

    step: Step
    kind: str = RESULT
    payload: Any = None
    done: Callable[[Any, BaseException | None], None] | None = None


@dataclass(eq=False)
class Process:
    """One life of an engine."""

    owner: str
    tasks: list[Task] = field(default_factory=list)
    zombie: bool = False


class Simulator:
    """One seed."""

    def __init__(self, seed: int, *, inward: bool = False) -> None:
        self.source = random.Random(seed)
        self.world = World(random.Random(seed + 1))
        types = {
            base.__name__: type(base.__name__, (base,), {"world": self.world})
            for base in (Thing, Fragile, Odd, Quick)
        }
        if inward:
            types["Thing"] = type("Thing", (Inward,), {"world": self.world})
        self.store: Store = open_store(":memory:", sealer=SEALER)
        self.reader = self.store.reader()
        self.clock = FakeClock()
        numbers = itertools.count(1)
        self.ids = lambda: f"{next(numbers):012d}"
        self.process = Process("p0")
        self.zombies: list[Process] = []
        self.messages: list[str] = []
        self.owed: list[str] = []
        self.doubles = 0.05
        self.crashes = self.stolen = self.effects = 0
        self.room = build_room(
            self.store,
            types,
            load=FakeLoading(types),
            clock=self.clock,
            ids=self.ids,
            source=self.source,
            lender=None,  # type: ignore[arg-type]
            settings=EngineSettings(),
            durable=lambda run: self._transaction([run], self.process)[0],
            progress=lambda *said: None,
            reader=lambda: self.reader,
        )
        self.running: dict[str, tuple[str, str]] = {}
        self.world.is_held = self._is_held
        self.world.users = self._users
        self.good: str | None = None
        self.texts: list[str] = []
        self.ended: tuple[Any, ...] = ()
        self.alone = True

    # -- actions --------------------------------------------------------------------------------

    def act(self, action: actions.Action) -> None:
        """Begin an action; one that is refused is forgotten."""

        def done(value: Any, error: BaseException | None) -> None:
            if error is not None and not isinstance(error, ZondaError | Fenced):
                raise error

        self.process.tasks.append(Task(act(self.room, action), done=done))

    def bundle(self, text: str) -> Bundle:
        return Bundle(text)

    # -- one move ---------------------------------------------------------------------------------

    def move(self) -> bool:
        """Make one move of the living process; False if it has nothing to do."""
        if self.messages and (not self.process.tasks or self.source.random() < 0.5):
            self._deliver()
            return True
        if self.owed:
            stack_id = self.owed.pop()
            self.process.tasks.append(Task(roll_back(self.room, stack_id)))
            return True
        if not self.process.tasks:
            return False
        self._progress(self.process)
        return True

    def _deliver(self) -> None:
        index = self.source.randrange(len(self.messages))
        key = self.messages[index]
        if self.source.random() > self.doubles:
            self.messages.pop(index)
        self.process.tasks.append(Task(step(self.room, key)))

    def _progress(self, process: Process) -> None:
        task = self.source.choice(process.tasks)
        self.effects += 1
        if task.kind != PENDING:
            self._resume(process, task)
            return
        effect = task.payload
        if isinstance(effect, Tx):
            group = [task]
            if self.source.random() < 0.5:
                group += [
                    other
                    for other in process.tasks
                    if other is not task
                    and other.kind == PENDING
                    and isinstance(other.payload, Tx)
                    and self.source.random() < 0.5
                ]
            self._commit(process, group)
        elif isinstance(effect, Call):
            try:
                task.payload, task.kind = effect.run(), RESULT
            except Exception as error:
                task.payload, task.kind = error, ERROR
            if self.world.violations:
                raise self.world.violations[0]
        else:
            assert isinstance(effect, Wait)
            self.clock.advance(min(effect.seconds, 5.0))
            task.payload, task.kind = None, RESULT

    def _resume(self, process: Process, task: Task) -> None:
        try:
            if task.kind == ERROR:
                effect = task.step.throw(task.payload)
            else:
                effect = task.step.send(task.payload)
        except StopIteration as end:
            process.tasks.remove(task)
            if task.done is not None:
                task.done(end.value, None)
        except (ZondaError, Fenced) as error:
            process.tasks.remove(task)
            if task.done is not None:
                task.done(None, error)
        else:
            task.payload, task.kind = effect, PENDING

    # -- transactions -----------------------------------------------------------------------------

    def _commit(self, process: Process, group: list[Task]) -> None:
        try:
            values = self._transaction([task.payload.run for task in group], process)
        except (ZondaError, Fenced) as error:
            if len(group) > 1:
                for task in group:
                    self._commit(process, [task])
                return
            group[0].payload, group[0].kind = error, ERROR
            return
        for task, value in zip(group, values, strict=True):
            task.payload, task.kind = value, RESULT

    def _transaction(self, runs: list[Callable[[Work], Any]], process: Process) -> list[Any]:
        with self.store.transaction() as tx:
            work = Work(tx, self.clock.now(), self.ids, SEALER, process.owner)
            values = [run(work) for run in runs]
            tx.flush()
            self.alone = len(runs) == 1
            self._check_begun(work, process)
        process.tasks += [Task(drive(self.room, begun)) for begun in work.after.begun]
        keep = not process.zombie or self.source.random() < 0.5
        if keep:
            self.messages.extend(work.after.look)
            self.owed.extend(work.after.plan)
        elif work.after.look or work.after.plan:
            self.stolen += 1
        return values

    def _check_begun(self, work: Work, process: Process) -> None:
        """Nothing begins before its requirements are there, nor waits below zero."""
        for stack_id in [view.id for view in self.reader.stacks()]:
            self._check_ended(work, stack_id)
            for row in work.tx.resources_of(stack_id):
                if row.waiting < 0:
                    raise Violation(f"{row.name} waits for {row.waiting}")
                if process.zombie and row.op and row.owner == process.owner:
                    self.stolen += 1
                begun = (row.op, row.op_id or "")
                if not row.op or self.running.get(row.id) == begun:
                    continue
                self.running[row.id] = begun
                stack = work.tx.stack(stack_id)
                assert stack is not None
                if row.waiting and row.op_gen == stack.generation:
                    raise Violation(f"{row.name} begins and waits")
                if stack.halted and self.alone:
                    raise Violation(f"{row.name} begins in a halted stack")
                if row.op == "SUSPEND":
                    self._check_order(work, row, work.tx.dependants(row))
                if row.op == "RESUME":
                    self._check_order(work, row, work.tx.requirements(row))
                if row.op in ("CREATE", "UPDATE") and row.op_gen == stack.generation:
                    self._check_requirements(work, row)

    def _check_order(self, work: Work, row: Any, before: list[str]) -> None:
        """Whom a suspension or a resumption must follow, it follows."""
        for key in before:
            other = work.tx.resource(key)
            if other is None or other.want != "PRESENT" or other.action == "INIT":
                continue
            if other.op or (other.action, other.status) != (row.op, "COMPLETE"):
                raise Violation(f"{row.op} of {row.name} before {other.name}")

    def _check_ended(self, work: Work, stack_id: str) -> None:
        """A rollback goes back to what was good last."""
        stack = work.tx.stack(stack_id)
        assert stack is not None
        said = (stack.id, stack.generation, stack.action, stack.status)
        if stack.phase != "IDLE" or said == self.ended:
            return
        self.ended = said
        if stack.status == "COMPLETE" and stack.action in ("CREATE", "UPDATE", "ROLLBACK"):
            if stack.action == "ROLLBACK" and stack.template_id != self.good:
                raise Violation(f"rolled back to {stack.template_id}, good was {self.good}")
            self.good = stack.template_id

    def _users(self, key: str) -> list[str]:
        """Who requires an instance and lives."""
        with self.store.transaction() as tx:
            row = tx.resource(key)
            rows = [tx.resource(user) for user in tx.dependants(row)] if row else []
            return [row.name for row in rows if row and row.physical_id in self.world.live]

    def _is_held(self, key: str, op_id: str) -> bool:
        with self.store.transaction() as tx:
            row = tx.resource(key)
            return row is not None and row.op != "" and row.op_id == op_id

    def _check_requirements(self, work: Work, row: Any) -> None:
        for other in work.tx.required(row):
            if other.op or other.status != "COMPLETE" or other.have_hash != other.want_hash:
                raise Violation(f"{row.name} begins before {other.name} is there")

    # -- breaking ---------------------------------------------------------------------------------

    def crash(self, *, zombie: bool) -> None:
        """The process dies, or is only thought to; another one takes over."""
        self.crashes += 1
        old = self.process
        if zombie and old.tasks:
            old.zombie = True
            self.zombies.append(old)
        self.process = Process(f"p{self.crashes}")
        self.messages.clear()
        self.owed.clear()
        self.sweep()

    def zombie_move(self) -> None:
        """One effect of a process that was thought dead."""
        process = self.source.choice(self.zombies)
        self._progress(process)
        if not process.tasks or self.source.random() < 0.1:
            self.zombies.remove(process)

    def sweep(self) -> None:
        """What recovery and the reconcile sweep do."""

        def look(work: Work) -> None:
            work.after.look.update(work.tx.runnable())
            work.after.plan.update(dict.fromkeys(key for key, _ in work.tx.pending_stacks()))

        self.process.tasks.append(Task(single(look)))
