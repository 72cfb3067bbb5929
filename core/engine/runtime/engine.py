"""The embedded engine: one thread that owns the database, a pool that runs plug-ins.

Made by the engine client. Every public method may be called from any thread; each puts something
into the inbox and, at most, waits. What is in the inbox together shares one commit.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Collection
from concurrent.futures import CancelledError, Future, InvalidStateError
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

from zonda.core.plugins.manager import Plugins
from zonda.core.store.read.reader import Reader
from zonda.core.store.read.views import StackView
from zonda.core.store.write.database import Store, Transaction
from zonda.hooks.context import Clock
from zonda.hooks.errors import StoreError

from ..actions import Accepted, Action, Caller
from ..drift.interrupting import interrupt_all
from ..execution.tickets import Ticket
from ..handlers.runners import act
from ..model.definition import Loading
from ..model.effects import Step, Tx, make_step
from ..model.lending import Lender
from ..model.tracing import CallTracer
from ..model.unit_of_work import Notice, UnitOfWork
from ..plan.accept import Noted, skip_note
from ..services import EngineSettings
from . import sweeps
from .building import EngineEnded, build_services, build_stop_error
from .lateness import Lateness
from .listeners import CommitListener, Listener
from .load import EngineLoad
from .pool_driver import PoolDriver
from .requests import Requests

if TYPE_CHECKING:  # what only members of a cluster import
    from .trees import Placed, Trees

__all__ = ["Engine", "EngineSettings", "Notice"]

log = logging.getLogger(__name__)

_LONGEST_SLEEP = 1.0
#: Seconds between two looks at polls that come one after the other: each is made at most half of
#: that too early or too late.
POLL_TICK = 0.1


class Scheduler(Protocol):
    """The clock of an engine: see ``zonda.core.schedule.scheduler``."""

    def start(self, engine: Engine, *, stays: bool) -> None:
        """Call ``engine.wake`` and its sweeps from now on; ``stays``: for more than a command."""

    def wake_at(self, due: float) -> None:
        """Call ``engine.wake`` at ``due``, then every ``POLL_TICK``, instead of when it was set to.

        ``due`` by the monotonic clock.
        """

    def stop(self) -> None:
        """Call the engine no more."""


class Engine:
    """Carries out actions. ``start`` before anything else, ``stop`` at the end."""

    def __init__(
        self,
        store: Store,
        plugins: Plugins,
        *,
        clock: Clock,
        scheduler: Scheduler,
        ids: Callable[[], str],
        random: Random,
        lender: Lender,
        load: Loading,
        settings: EngineSettings | None = None,
    ) -> None:
        self.settings = settings or EngineSettings()
        self.clock = clock
        self._readers = threading.local()
        self._store = store
        self._reader = store.reader()
        self.services = build_services(
            store.sealer,
            plugins.resource_types,
            load=load,
            clock=clock,
            ids=ids,
            source=random,
            lender=lender,
            settings=self.settings,
            durable=self._run_durable,
            progress=lambda *said: self._driver.listeners.progress(*said),
            wake=lambda key: self._put(lambda: self._driver.poke(key)),
            get_load=lambda: self._driver.load,
            reader=self._get_reader,
            drives=lambda root_id: self._driver.drives(root_id),
            origins=plugins.origins,
        )
        self._inbox: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._driver = PoolDriver(
            store, self.services, self._inbox, f"{ids()}", self._close_own_reader
        )
        self._requests = Requests(self._driver, self.drive, store.is_awaited)
        self._trees: Trees | None = None
        #: Whether it has begun as a member of a cluster.
        self.is_member = False
        self._fire: Callable[[UnitOfWork], None] | None = None
        self._stop_superseded = sweeps.StopSuperseded(self._driver, self.settings.cancel_grace)
        self._lateness = Lateness(self._driver, clock)
        self._swept_at: float | None = None
        self._thread: threading.Thread | None = None
        self._changed, self._changes = threading.Condition(), 0
        self._stopping = False
        #: Whether it has ended, by an error or because it was told to.
        self.is_over = False
        # When the thread has last gone round, by the monotonic clock.
        self._turned_at = clock.monotonic()
        #: The error that has ended the thread, if any.
        self.failure: StoreError | None = None
        #: Called in the thread when an error has ended it.
        self.on_failure: Callable[[], None] = lambda: None
        self._scheduler = scheduler
        #: The time at which the scheduler wakes the thread, by the monotonic clock.
        self._wakes_at = math.inf
        # Seconds by which polls are taken before they are due: once for each call of the scheduler.
        self._early = 0.0

    # -- what faces call ------------------------------------------------------------------------

    def start(self, drive: str = "own") -> None:
        """Start the thread. ``all``: take up all unfinished stacks; ``own``: driven ones only.

        A member of a cluster (``Store.ownership``) takes the trees that no other has.
        """
        self._store.forget_rows()
        if drive == "all":
            from ..drift.schedule import DueChecks  # short commands fire nothing

            self._driver.driven, self._fire = None, DueChecks(self.services)
        if self._store.ownership is not None:
            from .trees import Trees

            self.is_member = True
            owned, read = self._store.ownership, self._requests.sweep
            self._trees = Trees(self._driver, owned, read, self.fire_checks)
            self._requests.act = self._trees.act_as_owner
        self._start_thread()
        if self._trees is not None:
            self._put(self._trees.sweep)
        else:
            self._run_unit(interrupt_all)
            if drive == "all":
                self._run_unit(sweeps.take_up_after_end)
        self._scheduler.start(self, stays=drive == "all")

    def _start_thread(self) -> None:
        self._thread = threading.Thread(target=self._run, name="zonda-engine", daemon=True)
        self._thread.start()

    def submit(
        self, action: Action, caller: Caller | None = None, note: Noted | None = None
    ) -> Future[Accepted]:
        """Have an action carried out; the future is done once it is planned and committed.

        ``note`` runs in the transaction that accepts it; what it raises undoes that. Whoever
        cancels the future in time withdraws the action.
        """
        future: Future[Accepted] = Future()
        services = self.services if caller is None else self.services.for_caller(caller)

        def note_all(work: UnitOfWork, accepted: Accepted) -> None:
            # once more if the commit was refused
            if future.cancelled() or not (
                future.running() or future.set_running_or_notify_cancel()
            ):
                raise CancelledError
            (note or skip_note)(work, accepted)

        def make() -> Step:
            if self._trees is None:
                return act(services, action, note_all)
            return self._trees.act(services, action, note_all, future.cancelled)

        return self._submit_step(make, future)

    def drive(self, stack_id: str) -> None:
        """Carry out (or take up) the plan of a stack, and those above and below it."""
        root, driving = self._reader.stack_by_id(stack_id).root_id, self._trees or self._driver
        self._put(lambda: driving.drive(root))

    def wait(self, stack_id: str, timeout: float | None = None) -> StackView:
        """Wait until a stack is idle, with those above and below it; return it as it is then.

        After ``timeout`` it is not idle. Raises StoreError if the engine died.
        """
        until = math.inf if timeout is None else self.clock.monotonic() + timeout
        while True:
            seen = self._changes
            view = self._reader.stack_by_id(stack_id)
            if view.idle and not self._reader.is_tree_busy(view.root_id):
                return view
            if self.failure is not None:
                raise self.failure
            with self._changed:
                left = until - self.clock.monotonic()
                if self._changes == seen and left > 0:
                    self._changed.wait(min(left, _LONGEST_SLEEP))
                if self._changes == seen and self.clock.monotonic() >= until:
                    return view

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Tell ``listener``, in the engine's threads, about events and progress.

        It gets all events of one commit at once; what it does holds up the engine.
        """
        return self._driver.listeners.subscribe(listener)

    def read_load(self) -> EngineLoad:
        """The load of this moment, from any thread; raises StoreError once the engine has ended."""
        if self.failure is not None:
            raise self.failure
        now, due = self.clock.monotonic(), self._driver.next_due()
        return EngineLoad(
            inbox=self._inbox.qsize(),
            calls=self._driver.admitted,
            late=0.0 if due is None else max(0.0, now - due),
            sweep_age=0.0 if self._swept_at is None else now - self._swept_at,
        )

    def trace_calls(self, tracer: CallTracer) -> None:
        """Tell ``tracer`` of plug-in calls, in the threads that make them."""
        self.services.instances.lending.tracing.tracer = tracer

    def subscribe_commits(self, listener: CommitListener) -> None:
        """Tell ``listener``, in this thread, of each commit: how many units, how long it took."""
        self._driver.listeners.commit_listeners.append(listener)

    @property
    def seconds_since_turn(self) -> float:
        """Seconds since the thread has last gone round; its clock wakes it every second."""
        return self.clock.monotonic() - self._turned_at

    @property
    def is_refused(self) -> bool:
        """Whether the database has refused the last commit."""
        return self._driver.retry_in() is not None

    def close_door(self) -> None:
        """Begin nothing more; the thread ends when the last call has."""
        self._put(self._begin_stop)

    def list_running_here(self, but: Collection[str]) -> set[str]:
        """The names of stacks of other processes with a handler that may be running here.

        Whoever ends now cuts it off. ``but``: stacks that are the caller's own.
        """
        if self._thread is None or not self._thread.is_alive():
            return set()
        return self._requests.list_running(self._reader, but)

    def stop(self, grace: float = 5.0) -> None:
        """Begin nothing more, wait up to ``grace`` seconds for running calls, end the thread."""
        if self._thread is None:
            return
        self._put(self._begin_stop)
        self._thread.join(grace)
        self._put(lambda: None)
        self._scheduler.stop()
        self._driver.stop()

    # -- what the scheduler calls ---------------------------------------------------------------

    def wake(self) -> None:
        """Go on with whatever is due."""
        self._put(self._woken)

    def sweep_deadlines(self) -> None:
        """Fail operations and stacks that are past their deadline."""
        self._swept_at = self.clock.monotonic()
        if self._trees is None or self._trees.has_any:
            self._put(lambda: self._driver.start(self._lateness.sweep()))
            self._run_unit(self._stop_superseded)
        self._put(self._driver.checks.sweep)
        self._put(self._driver.give_up_overlong)
        self.sweep_duties()

    def sweep_duties(self, *, takes_free: bool = False) -> None:
        """Release trees at rest, read requests, or take free trees; for a member of a cluster."""
        if self._trees is not None:
            self._put(self._trees.take_free if takes_free else self._trees.sweep)

    def place(self, root_id: str) -> Future[Placed]:
        """Take a tree that the queue of a cluster brings, if that is free and there is room."""
        assert self._trees is not None
        place = partial(self._trees.place, root_id=root_id)
        return self._submit_step(lambda: make_step(Tx(place)))

    def sweep_drift(self) -> None:
        """Begin the drift checks that are due."""
        if self._fire is not None and self._trees is not None:
            self._run_unit(self._trees.claim_due)
        self.fire_checks()

    def fire_checks(self) -> None:
        """Begin those of trees that are owned."""
        if self._fire is not None:
            self._run_unit(self._fire)

    def sweep_reconcile(self) -> None:
        """Enqueue every instance that could run and does not."""
        self._run_unit(lambda work: sweeps.reconcile(work, self._driver.is_busy))
        if self._trees is not None:
            self._put(self._trees.note_all)

    def sweep_requests(self) -> None:
        """Carry out the requests of other processes."""
        if not self.is_member:  # it reads them with its duties
            self._put(self._requests.sweep)

    def withdraw(self, request: str) -> None:
        """Take back a request that has no answer yet."""
        self._run_unit(lambda work: work.tx.withdraw_request(request))

    def keep(self, write: Callable[[Transaction], Any]) -> Any:
        """Commit a write that is no transition, together with others; returns its result.

        Not from the engine's thread. Raises StoreError once the engine has stopped.
        """
        return self._submit_step(lambda: make_step(Tx(lambda work: write(work.tx)))).result()

    def housekeeping(self) -> None:
        """Delete old events and unused rows, unless the queue of a cluster has one member do so."""
        owned = self._store.ownership
        if owned is None or not owned.has_queue:
            self.delete_old()

    def delete_old(self) -> None:
        """Delete old events and unused rows."""
        keep = self.settings.keep_events
        self._run_unit(lambda work: sweeps.delete_old(work, keep))

    # -- the engine's thread ----------------------------------------------------------------------

    def _run(self) -> None:
        while self._turn():
            pass

    def _turn(self) -> bool:
        """Go round once; returns False at the end."""
        try:
            if not self._has_ended():
                self._turned_at = self.clock.monotonic()
                self._drain_inbox()
                self._driver.end_light_calls()
                self._driver.wake_due(self.clock.monotonic() + self._early)
                self._early = 0.0
                self._driver.admit()
                self._driver.commit()
                self._driver.start_light_calls()
                self._tell_waiters()
                if self._stopping and self._trees is not None:
                    self._trees.leave()
                return True
        except BaseException as error:  # the thread's end: everybody must learn of it
            log.exception("The engine stops")
            self._end(build_stop_error(error))
            self.failure = build_stop_error(error)
            self.on_failure()
        else:
            self._end(EngineEnded("The engine has been stopped.", hint="Run the command again."))
        with self._changed:
            self._changes += 1
            self._changed.notify_all()
        return False

    def _end(self, error: StoreError) -> None:
        """End with an error for all who wait. The driver refuses everything after that."""
        self._driver.end(error)
        self.is_over = True
        self._empty_inbox()

    def _empty_inbox(self) -> None:
        with suppress(Empty):
            while True:
                self._inbox.get_nowait()()

    def _drain_inbox(self) -> None:
        """Carry out all that is in the inbox; wait for it while there is nothing to do."""
        waits = not self._has_work
        if waits:
            self._set_alarm()
        with suppress(Empty):
            self._inbox.get(waits)()
            for _ in range(self.settings.max_batch):
                self._inbox.get_nowait()()

    @property
    def _has_work(self) -> bool:
        driver, retry = self._driver, self._driver.retry_in()
        if retry is not None:
            return retry <= 0
        due = driver.next_due()
        is_due = due is not None and due <= self.clock.monotonic()
        return driver.has_units or is_due or (driver.has_ready and driver.has_room)

    def _set_alarm(self) -> None:
        """Have the scheduler wake this thread when something is due, unless it soon does."""
        driver, now = self._driver, self.clock.monotonic()
        retry, due = driver.retry_in(), driver.next_due()
        at = math.inf if due is None else max(due, now + POLL_TICK)
        if retry is not None:
            at = now + retry
        if driver.makes_light_calls:
            at = min(at, now + POLL_TICK)
        if at < self._wakes_at or at > self._wakes_at + POLL_TICK:
            self._wakes_at = at
            self._scheduler.wake_at(at)

    def _woken(self) -> None:
        self._wakes_at = self.clock.monotonic() + POLL_TICK
        self._early = POLL_TICK / 2

    def _tell_waiters(self) -> None:
        if self._driver.idle_stacks:
            self._requests.forget(self._driver.idle_stacks)
            if self._trees is not None:
                self._trees.note_rested(self._driver.idle_stacks)
            self._driver.idle_stacks.clear()
            with self._changed:
                self._changes += 1
                self._changed.notify_all()

    def _begin_stop(self) -> None:
        self._stopping = True
        self._driver.close_door()

    def _has_ended(self) -> bool:
        return self._stopping and self._driver.calls == 0 and not self._driver.has_units

    # -- between the threads ----------------------------------------------------------------------

    def _put(self, what: Callable[[], None]) -> None:
        self._inbox.put(what)
        if self.is_over:
            self._empty_inbox()

    def _run_unit(self, run: Callable[[UnitOfWork], Any]) -> None:
        self._put(lambda: self._driver.start(make_step(Tx(run))))

    def _submit_step(
        self, make: Callable[[], Step], future: Future[Any] | None = None
    ) -> Future[Any]:
        answered: Future[Any] = Future() if future is None else future

        def finish(value: Any, error: BaseException | None) -> None:
            with suppress(InvalidStateError):  # it was withdrawn
                if error is None:
                    answered.set_result(value)
                else:
                    answered.set_exception(error)

        self._put(lambda: self._driver.start(make(), finish))
        return answered

    def _run_durable(self, run: Callable[[UnitOfWork], Any]) -> Any:
        """Run a unit and come back when it is committed; called in the pool."""
        ticket = Ticket()
        self._put(lambda: self._driver.start(make_step(Tx(run)), ticket.answer))
        return ticket.wait()

    def _get_reader(self) -> Reader:
        reader: Reader | None = getattr(self._readers, "reader", None)
        if reader is None:
            reader = self._readers.reader = self._store.reader()
        return reader

    def _close_own_reader(self) -> None:
        """Close the reader of a thread that ends."""
        reader: Reader | None = self._readers.__dict__.pop("reader", None)
        if reader is not None:
            self._store.close_reader(reader)
