"""A process of the simulation: its store, its engine and its lives as a member are the real ones.

Only what waits is replaced: threads by lists of what they would do next, clocks by ``Time``.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from zonda.core.cluster.clock import ClusterClock
from zonda.core.cluster.lives import Lives
from zonda.core.cluster.membership import Membership, Terms
from zonda.core.engine.execution.pool import Pool
from zonda.core.engine.execution.tickets import Ticket
from zonda.core.engine.model.effects import UNDER_WAY, Tx, make_step
from zonda.core.engine.model.unit_of_work import Notice, UnitOfWork
from zonda.core.engine.runtime.building import EngineEnded
from zonda.core.engine.runtime.engine import Engine
from zonda.core.engine.services import EngineSettings
from zonda.core.store.postgresql.members import Members
from zonda.core.store.write.database import open_store
from zonda.core.system.clock import SystemClock
from zonda.hooks.errors import StoreError

from ..simulator import SEALER
from ..world import Killed
from .database import SharedDatabase, SteppedMembers

if TYPE_CHECKING:
    from .simulator import ClusterSimulator

START = 1_700_000_000.0
LEASE = 6.0
#: Seconds between two sweeps of an engine, and between two looks at schedules of drift.
SWEEP, DRIFT_SWEEP = 1.0, 5.0
#: Moves in a process within which it ends by SIGTERM, at most.
GRACE = 60


class Time:
    """The time that passes everywhere, and the server's clock."""

    def __init__(self) -> None:
        self.passed = 0.0

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.passed += seconds

    def read_server(self) -> float:
        """The time by the server's clock."""
        return START + self.passed


class Host(SystemClock):
    """The clocks of a host: one is wrong and is set, the other goes too fast or stands still."""

    def __init__(self, time: Time, source: Random) -> None:
        self._time = time
        self._rate = source.choice([1.0, 0.999, 1.001])
        self.skew = source.choice([0.0, -3600.0, 7.0])
        #: Seconds for which the host stood still.
        self.stood = 0.0
        super().__init__()

    def now(self) -> float:
        return START + self._time.passed + self.skew

    def monotonic(self) -> float:
        return (self._time.passed - self.stood) * self._rate

    def pause(self, seconds: float) -> None:
        raise AssertionError("nothing sleeps here")


class HostClock(ClusterClock, Host):
    """The clock of a cluster on a host."""

    def __init__(self, time: Time, source: Random) -> None:
        Host.__init__(self, time, source)
        ClusterClock.__init__(self)


class HeldPool(Pool):
    """Calls that wait for a thread, which there is none."""

    def __init__(self, size: int) -> None:
        super().__init__(size, "")
        self.jobs: list[Callable[[], None]] = []

    def submit(self, job: Callable[[], None], order: int = UNDER_WAY) -> None:
        super().submit(lambda: None, order)
        self.jobs.append(job)

    def run(self, job: Callable[[], None]) -> None:
        """Run one of the jobs, as a thread would."""
        self.jobs.remove(job)
        job()
        self._unfinished -= 1

    def _start_one(self) -> None:
        """Start none."""

    _start_spare = _start_one


class Clockwork:
    """The scheduler: the simulator calls the sweeps itself."""

    def start(self, engine: Engine, *, stays: bool) -> None:
        """Nothing: see ``Process.sweep``."""

    def wake_at(self, due: float) -> None:
        """Nothing: what is due is looked at in each turn."""

    def stop(self) -> None:
        """Nothing runs."""


class SteppedEngine(Engine):
    """An engine without threads: ``_turn`` is called from outside."""

    def __init__(self, process: Process, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._process = process
        self.pool = HeldPool(self.settings.workers)
        driver: Any = self._driver
        driver._pool = driver._light._pool = self.pool
        run_units, look_ahead = driver._run_units, driver._look_ahead

        def count_units(runs: Any, *, ahead: bool = False) -> Any:
            process.units = len(runs)
            return run_units(runs, ahead=ahead)

        def count_ahead(work: UnitOfWork) -> Any:
            found = look_ahead(work)
            process.units += len(found)
            return found

        driver._run_units, driver._look_ahead = count_units, count_ahead

    def _start_thread(self) -> None:
        """There is none."""

    @property
    def _has_work(self) -> bool:
        return True  # a turn never waits

    @property
    def is_ready(self) -> bool:
        """Whether a turn would do anything now."""
        driver, retry = self._driver, self._driver.retry_in()
        if self._inbox.qsize():
            return True
        if retry is not None:
            return retry <= 0
        due = driver.next_due()
        is_due = due is not None and due <= self.clock.monotonic()
        return driver.has_units or is_due or (driver.has_ready and driver.has_room)

    @property
    def seconds_to_wait(self) -> float:
        """Seconds until something is due."""
        retry, due = self._driver.retry_in(), self._driver.next_due()
        if retry is not None:
            return max(retry, 0.0)
        return float("inf") if due is None else max(due - self.clock.monotonic(), 0.0)

    def turn(self) -> None:
        """Go round once."""
        if not self.is_over:
            self._turn()
        if isinstance(self.failure, EngineEnded):  # by no fault of the database
            self._process.note_fault(self.failure)

    def begin_stop(self) -> None:
        """What SIGTERM does first."""
        self._put(self._begin_stop)

    def _run_durable(self, run: Callable[[UnitOfWork], Any]) -> Any:
        ticket = Ticket()
        self._put(lambda: self._driver.start(make_step(Tx(run)), ticket.answer))
        self._process.wait_for(self, ticket)
        return ticket.wait()


class SteppedMembership(Membership):
    """A membership without threads: ``keep`` is one round of that which keeps the lease."""

    def __init__(self, sim: ClusterSimulator, *given: Any) -> None:
        super().__init__(*given)
        self._sim = sim
        self._members: Members | None = None
        self.is_kept = False

    def _open(self) -> Members:
        return SteppedMembers(self._sim)

    def _start(self, run: Callable[[], None]) -> None:
        self.is_kept = True

    def _open_listener(self) -> Members | None:
        listener = self._open()
        listener.begin_to_listen(self._member)
        return listener

    @property
    def is_due(self) -> bool:
        """Whether the thread that keeps the lease would wake up."""
        now = self._clock.monotonic()
        due = now >= min(self._renew_at, self._look_at) or bool(self._news)
        return self.is_kept and due

    def keep(self) -> None:
        """One round."""
        try:
            self._members = self._members or self._open()
            self.is_kept = self._do_due(self._members, self._clock.monotonic())
        except StoreError:
            self._members = None

    def take(self, told: str) -> None:
        """Hear something."""
        self._take(told)

    def lose(self) -> None:
        """Its process has ended: so do its sessions."""
        for members in (self._members, self._listener):
            if members is not None:
                members.close()
        self._members = self._listener = None
        self.is_kept = False

    def leave(self) -> None:
        super().leave()
        self._end(self._members)
        self.lose()

    def abandon(self) -> None:
        super().abandon()
        self.lose()


class Flag:
    """An event that nobody waits for."""

    def __init__(self) -> None:
        self._is_set = False

    def set(self) -> None:
        self._is_set = True

    def is_set(self) -> bool:
        return self._is_set

    def wait(self, seconds: float) -> bool:
        return self._is_set


class SteppedLives(Lives):
    """The lives of a process; what a thread would do waits in ``threads``."""

    def __init__(self, sim: ClusterSimulator, *given: Any) -> None:
        super().__init__(*given)
        self._sim = sim
        self._is_over = Flag()  # type: ignore[assignment]
        self.threads: list[Callable[[], None]] = []
        self.membership: SteppedMembership

    def _make_membership(self, member: str) -> Membership:
        known = self._store.database, self._clock, member, self._terms.lease
        self.membership = SteppedMembership(self._sim, *known, self._enqueue)
        return self.membership

    def _start(self, run: Callable[[], None]) -> None:
        if not self._is_over.is_set():
            self.threads.append(run)


class Process:
    """One process, from its start to its end."""

    def __init__(self, sim: ClusterSimulator, *, drive: str = "all") -> None:
        self._sim, source = sim, sim.source
        self.clock = HostClock(sim.time, source)
        self.is_dead = False
        #: The units of the transaction that runs, and the steps that it has looked at ahead.
        self.units = 1
        #: Until when it stands still, by the time that passes everywhere.
        self.stands_until = 0.0
        #: Until when its lease is not renewed, although its engine goes on.
        self.keeps_after = 0.0
        self.mail: list[str] = []
        self.engines: list[SteppedEngine] = []
        self._sweep_at = self._drift_at = sim.time.passed
        database: Any = SharedDatabase(sim, self)
        self.store = open_store(database, sealer=SEALER)
        # without a queue: sweeps take its place
        terms = Terms(LEASE, "1", "", source.choice([1, 2, 100]))
        self.lives = SteppedLives(sim, self, self.store, self.clock, sim.ids, terms)
        self.lives.begin(drive)

    # -- what the lives ask for -------------------------------------------------------------------

    def make_engine(self) -> Engine:
        """An engine; the calls of the one before go on."""
        sim, source = self._sim, self._sim.source
        settings = EngineSettings(
            workers=8,
            user="somebody",
            max_batch=source.choice([0, 1, 3, 256]),
            backstop=float("inf"),
            drift_workers=2,
            timing=sim.timing,
        )
        plugins: Any = SimpleNamespace(resource_types=sim.types, origins={})
        lender: Any = SimpleNamespace(setup="", is_shared=False)
        return SteppedEngine(
            self,
            self.store,
            plugins,
            clock=self.clock,
            scheduler=Clockwork(),
            ids=sim.ids,
            random=source,
            lender=lender,
            load=sim.load,
            settings=settings,
        )

    def start_engine(self, engine: Engine, drive: str) -> None:
        """Start it."""
        assert isinstance(engine, SteppedEngine)
        engine.start(drive)
        self.engines = [each for each in self.engines if each.pool.jobs or not each.is_over]
        self.engines.append(engine)

    def lose_engine(self) -> None:
        """It has ended by itself."""

    def stop_engine(self) -> None:
        """SIGTERM: what has begun may end, for a while."""
        engine, source = self.engine, self._sim.source
        engine.begin_stop()
        for _ in range(source.randrange(GRACE)):
            if engine.is_over or self.is_dead:
                return
            if engine.pool.jobs and source.random() < 0.5:
                self._make_call(engine)
            else:
                engine.turn()

    def check_delivery(self, engine: Engine, claim: Callable[[str], bool]) -> None:
        """No sinks here."""

    def show_progress(self, notice: Notice) -> None:
        """Nobody looks."""

    # -- what the simulator asks for --------------------------------------------------------------

    @property
    def engine(self) -> SteppedEngine:
        """The engine of the last life."""
        return self.engines[-1]

    @property
    def stands(self) -> bool:
        """Whether it stands still."""
        return self._sim.time.passed < self.stands_until

    @property
    def is_up(self) -> bool:
        """Whether it takes actions."""
        return not self.is_dead and not self.stands and not self.engine.is_over

    def list_moves(self) -> list[Callable[[], None]]:
        """All that it could do now, but for sweeps and the lease."""
        moves: list[Callable[[], None]] = []
        if self.is_dead or self.stands:
            return moves
        for engine in self.engines:
            if not engine.is_over and engine.is_ready:
                moves.append(engine.turn)
            if engine.pool.jobs:
                moves.append(lambda engine=engine: self._make_call(engine))  # type: ignore[misc]
        if self.lives.threads:
            moves.append(self._run_thread)
        if self.mail:
            moves.append(self._hear)
        return moves

    def sweep_due(self, chance: float) -> None:
        """Do what is due by the clock; each with that chance."""
        if self.is_dead or self.stands:
            return
        source, now = self._sim.source, self._sim.time.passed
        is_due = self.lives.membership.is_due and now >= self.keeps_after
        if is_due and source.random() < chance:
            self.lives.membership.keep()
        if now >= self._sweep_at and source.random() < chance:
            self._sweep_at = now + SWEEP
            self.engine.sweep_deadlines()
        if now >= self._drift_at and source.random() < chance:
            self._drift_at = now + DRIFT_SWEEP
            self.engine.sweep_drift()

    def compute_wait(self) -> float:
        """Seconds until something of its engines is due."""
        if self.is_dead:
            return float("inf")
        if self.stands:
            return self.stands_until - self._sim.time.passed
        waits = [engine.seconds_to_wait for engine in self.engines if not engine.is_over]
        return min(waits, default=float("inf"))

    def kill(self) -> None:
        """``kill -9``: nothing more is done, and what is in memory is lost."""
        self.is_dead = True
        self._sim.sessions.end(self.store._connection.number)  # type: ignore[attr-defined]

    def lose_sessions(self) -> None:
        """The server sees that it is gone."""
        self.store._connection.close()
        self.lives.membership.lose()

    def end(self) -> None:
        """SIGTERM."""
        self.lives.end()
        self.kill()
        self.lose_sessions()

    def _make_call(self, engine: SteppedEngine) -> None:
        jobs = engine.pool.jobs
        self._sim.counted["calls"] += 1
        try:
            engine.pool.run(jobs[self._sim.source.randrange(len(jobs))])
        except Killed:
            self._sim.counted["calls cut off"] += 1

    def note_fault(self, fault: Exception) -> None:
        """Note that an engine has broken."""
        self._sim.world.violated(f"an engine has ended: {fault}")

    def _run_thread(self) -> None:
        self.lives.threads.pop(0)()

    def _hear(self) -> None:
        self.lives.membership.take(self.mail.pop(0))

    def wait_for(self, engine: SteppedEngine, ticket: Ticket) -> None:
        """A plug-in waits for what it stores: others go on, and it may be the end of all."""
        self._sim.go_on_beside()
        while ticket._lock.locked():
            if self.is_dead:
                raise Killed
            if self.stands:
                self._sim.time.advance(self.compute_wait())
            engine.turn()
            if not engine.is_ready and ticket._lock.locked():
                # Less than that may be lost in the sum, and no time would pass.
                self._sim.time.advance(min(max(engine.seconds_to_wait, 1e-6), 0.5))
        self._sim.go_on_beside()
        if self.is_dead:
            raise Killed
