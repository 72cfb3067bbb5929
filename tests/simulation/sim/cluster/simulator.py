"""Runs several processes in an order that a seed decides, and breaks what can break.

Processes join, stand still (and go on with what they remember), die, are ended, lose their
connections, miss renewals and hear nothing of what is told; hosts have wrong clocks. It has the
same face as ``Simulator`` for whoever asks for actions, and for what must hold at rest.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import Any

from zonda.core.engine import actions
from zonda.core.engine.actions import Accepted, Caller
from zonda.core.engine.model.row_annotations import ATTEMPT, has
from zonda.core.engine.operations.replacement import is_completed
from zonda.core.store.file.connection import FileConnection
from zonda.core.store.read.reader import Reader
from zonda.core.store.schema.prepared import SQL
from zonda.core.store.schema.rows import ResourceRow
from zonda.core.store.write.database import Fenced, open_store
from zonda.core.store.write.duties import Foreign
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.errors import StoreError, ZondaError

from ..drifting import drifting_types
from ..nested_template import GroupBase, NestingLoading
from ..nested_writing import NestedWriting
from ..simulator import SEALER
from ..whole_types import whole_types
from ..world import Violation, World
from .database import Sessions
from .process import Process, Time
from .watching import ClusterWatcher, Ownerships, SeenClock

#: Seconds that a move takes, on average.
PACE = 0.05
#: Rounds of all sweeps without any change after which nothing is left to do.
QUIET = 4
MOST = 4


class Ids:
    """Ids in order, of all processes."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def new(self) -> str:
        return f"{next(self._numbers):012d}"

    __call__ = new


class Timing:
    """What schedules of drift mean: every quarter of an hour."""

    def compute_next_due(self, text: str, stack_id: str, now: float) -> float:
        return now + 900.0


class ClusterSimulator:
    """One seed."""

    def __init__(self, seed: int) -> None:
        self.source = random.Random(seed)
        self.world = World(random.Random(seed + 1), whole=True)
        self.types = drifting_types(whole_types(self.world))
        self.types["Group"] = type("Group", (GroupBase,), {})
        self.load = NestingLoading(self.types)
        self.writing = NestedWriting()
        self.time, self.timing, self.ids = Time(), Timing(), Ids()
        self._first = open_store(":memory:", sealer=SEALER)
        connection: Any = self._first._connection
        self.connection: FileConnection = connection
        self.sessions = Sessions(self, self.connection)
        self.reader: Reader = self._first.reader()
        self.clock = SeenClock(self)
        self.ownerships = Ownerships(self.connection)
        self.watcher = ClusterWatcher(self.connection, self.reader, self.world, self.clock)
        self.counted: Counter[str] = Counter()
        self.texts: list[str] = []
        self.disturbed: set[str] = self.watcher.disturbed
        #: How often the database refuses, a commit is not heard of, something told is not heard.
        self.faults, self.losses, self.deafness = 0.02, 0.002, 0.1
        self.doubles = 0.0
        self.crashes = self.stolen = 0
        self.is_calm = False
        self._depth = 0
        self.world.is_held = self._is_held
        self.world.users = self._users
        self.world.policy = lambda key: self.watcher.rows[key].deletion_policy
        self.processes: list[Process] = []
        most = self.source.randrange(2, MOST + 1)
        while len(self.processes) < most:
            self.join()

    # -- what is asked of the world ---------------------------------------------------------------

    def _find_row(self, key: str) -> ResourceRow | None:
        found = self.connection.execute(SQL["resource_by_id"], (key,)).fetchone()
        return None if found is None else ResourceRow(*found)

    def _is_held(self, key: str, op_id: str) -> bool:
        row = self._find_row(key)
        return row is not None and row.op != "" and row.op_id == op_id

    def _users(self, key: str) -> list[str]:
        row = self._find_row(key)
        if row is None or row.op != "DELETE" or not is_completed(row) or has(row, ATTEMPT):
            return []
        users = [src for src, dst in self.reader.edges(row.stack_id) if dst == key]
        rows = [self._find_row(user) for user in users]
        return [row.name for row in rows if row and row.physical_id in self.world.live]

    # -- actions ----------------------------------------------------------------------------------

    def bundle(self, text: str) -> Bundle:
        return Bundle(text)

    def act(
        self,
        action: actions.Action,
        done: Callable[[Any], None] = lambda accepted: None,
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        """Ask any process for an action; one that is refused is forgotten.

        ``ended``: as soon as it is known what has become of it.
        """
        kind = type(action).__name__
        while not (up := [process for process in self.processes if process.is_up]):
            self.move()
        future = self.source.choice(up).engine.submit(action, Caller(user="somebody"))

        def finish(answered: Future[Accepted]) -> None:
            error = None if answered.cancelled() else answered.exception()
            is_unknown = isinstance(error, StoreError | Fenced | CancelledError)
            if not is_unknown and not answered.cancelled():
                ended()  # else who was asked may do it yet, or has done it
            if answered.cancelled() or isinstance(error, ZondaError | Fenced | CancelledError):
                self.counted[f"{kind} refused"] += 1
            elif isinstance(error, Foreign):  # its tree was taken meanwhile
                self.counted[f"{kind} elsewhere"] += 1
            elif error is not None:
                self.world.violated(f"{kind} raises {error!r}")
            else:
                self.counted[kind] += 1
                done(answered.result())

        future.add_done_callback(finish)

    # -- one move ---------------------------------------------------------------------------------

    def move(self) -> bool:
        """Make one move of a process, or let time pass; False where nothing is left to do."""
        moves = [move for process in self.processes for move in process.list_moves()]
        if moves:
            self.time.advance(self.source.expovariate(1 / PACE))
            self.source.choice(moves)()
            for process in list(self.processes):
                process.sweep_due(0.3)
            self._check()
            return True
        return self._pass_time()

    def _pass_time(self) -> bool:
        """Let time pass until something is due; False where nothing ever is."""
        for _ in range(QUIET):
            changes = self.ownerships.changes
            waits = [process.compute_wait() for process in self.processes]
            self.time.advance(max(min([1.0, *waits]), 0.001))
            self._sweep_all()
            if self.ownerships.changes != changes or min([*waits, 1e9]) < 1e9:
                return True
            if self._has_dead or any(process.list_moves() for process in self.processes):
                return True
        return self._wait_for_free()

    @property
    def _has_dead(self) -> bool:
        """Whether somebody is a member yet whose process is gone."""
        owned = [process.store.ownership for process in self.processes]
        return bool(self.ownerships.members - {each.member for each in owned if each is not None})

    def _sweep_all(self) -> None:
        """One round of all sweeps, and what comes of it at once."""
        for process in list(self.processes):
            process.sweep_due(1.0)
            for _ in range(20):
                if process.is_dead or process.stands or not process.engine.is_ready:
                    break
                process.engine.turn()
        self._check()

    def _wait_for_free(self) -> bool:
        """Wait for what may not be taken yet; False where there is nothing of that kind."""
        last = "SELECT MAX(not_before) FROM duty WHERE member IS NULL AND not_before > ?"
        ((until,),) = self.connection.execute(last, (self.time.read_server(),)).fetchall()
        if until is None:
            return False
        self.pass_calmly(until - self.time.read_server())
        return True

    def pass_calmly(self, seconds: float) -> None:
        """Let time pass in which leases are kept."""
        until = self.time.passed + seconds
        while self.time.passed < until:
            self.time.advance(min(1.0, until - self.time.passed))
            for process in list(self.processes):
                process.sweep_due(1.0)

    def _check(self) -> None:
        if self.world.violations:
            raise self.world.violations[0]

    def go_on_beside(self) -> None:
        """What others do while a plug-in waits."""
        if self.source.random() > 0.1 or self._depth > 1:
            return
        self._depth += 1
        try:
            if not self.is_calm and self.source.random() < 0.2:
                self.disrupt()
            for _ in range(self.source.randrange(12)):
                moves = [move for process in self.processes for move in process.list_moves()]
                if moves:
                    self.source.choice(moves)()
                self.time.advance(self.source.expovariate(1 / PACE))
                for process in list(self.processes):
                    process.sweep_due(0.3)
        finally:
            self._depth -= 1

    def note_commit(self, process: Process) -> None:
        """Look at all that a process has committed."""
        self.counted["transactions"] += 1
        owned = process.store.ownership
        try:
            self.ownerships.look(None if owned is None else owned.member)
            self.watcher.look(process, alone=process.units <= 1)
        except Violation as found:
            self.world.violations.append(found)

    def note_members(self) -> None:
        """Look at what was done to members."""
        try:
            self.ownerships.look(None)
        except Violation as found:
            self.world.violations.append(found)

    def notify(self, text: str) -> None:
        """Tell all that listen; some do not hear it."""
        for process in self.processes:
            if not process.is_dead and self.source.random() >= self.deafness:
                process.mail.append(text)

    # -- sweeps that are asked for ----------------------------------------------------------------

    def sweep(self) -> None:
        """The reconcile sweep of every process."""
        for process in self.processes:
            if process.is_up:
                process.engine.sweep_reconcile()

    def sweep_deadlines(self) -> None:
        """What is past its deadline ends."""
        for process in self.processes:
            if process.is_up:
                process.engine.sweep_deadlines()

    # -- breaking ---------------------------------------------------------------------------------

    def join(self) -> None:
        """Another process, unless the database refuses it."""
        with suppress(StoreError):
            self.processes.append(Process(self))

    def disrupt(self) -> None:
        """Break something."""
        alive = [process for process in self.processes if not process.is_dead]
        process = self.source.choice(alive)
        disruptions: list[tuple[float, Callable[[Process], None]]] = [
            (4, self._kill),
            (4, self._stand_still),
            (2, self._sleep_host),
            (3, self._miss_renewals),
            (2, self._cut),
            (2, self._end),
            (1, self._drain),
            (1, self._set_clock),
            (1, self._stop_all),
        ]
        weights = [weight for weight, _ in disruptions]
        chosen = self.source.choices([run for _, run in disruptions], weights)[0]
        self.counted[chosen.__name__.strip("_")] += 1
        chosen(process)

    def calm(self) -> None:
        """Nothing breaks any more; who stands still goes on."""
        self.is_calm, self.faults, self.losses, self.deafness = True, 0.0, 0.0, 0.0
        statement = "UPDATE member SET draining = 0"
        self.connection.execute(statement)
        for process in self.processes:
            process.stands_until = process.keeps_after = 0.0

    def _replace(self, process: Process) -> None:
        if process in self.processes:
            self.processes.remove(process)
        while len(self.processes) < 2 or (
            len(self.processes) < MOST and self.source.random() < 0.5
        ):
            self.join()

    def _kill(self, process: Process) -> None:
        self.crashes += 1
        process.kill()
        if self.source.random() < 0.6:  # else its host is gone, and the server waits for it
            process.lose_sessions()
        self._replace(process)

    def _stand_still(self, process: Process) -> None:
        seconds = self.source.choice([1.0, 5.0, 8.0, 20.0])
        process.stands_until = self.time.passed + seconds

    def _sleep_host(self, process: Process) -> None:
        """A virtual machine is stopped: its clocks stand still."""
        seconds = self.source.choice([1.0, 8.0, 60.0])
        process.stands_until = self.time.passed + seconds
        process.clock.stood += seconds

    def _miss_renewals(self, process: Process) -> None:
        """The lease is not kept, and the engine goes on."""
        process.keeps_after = self.time.passed + self.source.choice([3.0, 8.0, 20.0])

    def _cut(self, process: Process) -> None:
        self.sessions.end(process.store._connection.number)  # type: ignore[attr-defined]

    def _end(self, process: Process) -> None:
        if not process.stands and self._depth == 0:
            process.end()
            self._replace(process)

    def _drain(self, process: Process) -> None:
        """Somebody wants a member to drain, or all to go on."""
        if self.source.random() < 0.5:
            self.connection.execute("UPDATE member SET draining = 0")
        elif process.store.ownership is not None:
            member = process.store.ownership.member
            self.connection.execute("UPDATE member SET draining = 1 WHERE id = ?", (member,))

    def _set_clock(self, process: Process) -> None:
        process.clock.skew += self.source.choice([-3600.0, 60.0, 3600.0])

    def _stop_all(self, process: Process) -> None:
        """The server stands still, or everything does."""
        self.time.advance(self.source.choice([3.0, 10.0, 1000.0]))


__all__ = ["ClusterSimulator"]
