"""The engine client: sends an action to the process that is the engine of the database.

Made by ``App``. A command that gets the engine's lock drives its own stack. One that does not
leaves a row in table ``request`` and watches; if the engine goes away meanwhile, it takes over.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from zonda.core.engine import actions
from zonda.core.engine.actions import Accepted, Action, Caller, parse_answer
from zonda.core.store.database.faults import Unusable
from zonda.core.store.database.protocols import Lock
from zonda.core.store.read.views import StackView
from zonda.hooks.errors import Conflict, StoreError
from zonda.hooks.records import replace

from .parts import Parts, add_declared_types
from .server_record import ServerRecord
from .stacks import Stacks
from .surface import PendingRequest, RunningAction

if TYPE_CHECKING:  # what commands that only read must not import
    from concurrent.futures import Future

    from zonda.core.cluster.lives import Lives
    from zonda.core.cluster.membership import Claim
    from zonda.core.engine.model.tracing import CallTracer
    from zonda.core.engine.plan.accept import Noted
    from zonda.core.engine.runtime.engine import Engine, Notice
    from zonda.core.engine.runtime.listeners import CommitListener, Listener, Listeners
    from zonda.core.engine.runtime.load import EngineLoad
    from zonda.core.engine.runtime.waiting import WaitingOperations
    from zonda.core.engine.services import FindCheck
    from zonda.core.engine.templates.definitions import Definitions
    from zonda.core.store.read.drift_views import DriftCheckView
    from zonda.core.store.write.database import Transaction

    from .event_sinks import Delivery

log = logging.getLogger(__name__)

#: The duty of a member of a cluster to deliver events to sinks.
SINKS = "sinks"
_ASK_AGAIN, _LOOK_AGAIN = 0.05, 0.1
#: Seconds within which the thread of a working engine goes round.
LONGEST_TURN = 5.0


class EngineClient:
    """The client of this process: submits actions, and is the engine where no other is."""

    def __init__(self, parts: Parts, stacks: Stacks) -> None:
        self._parts = parts
        self._stacks = stacks
        self._engine: Engine | None = None
        self._waiting: WaitingOperations | None = None
        self._own: set[str] = set()
        self._drives_all = False
        self._server_lock: Lock | None = None
        self._delivery: Delivery | None = None
        self._lives: Lives | None = None
        # Those who listen to the engine, or in a cluster to one engine after the other.
        self._listeners: Listeners | None = None
        self._tracer: CallTracer | None = None
        #: Makes the check of what a caller of another process may use, see ``Allowance``.
        self.find_check: FindCheck = lambda asked_by: None

    # -- actions --------------------------------------------------------------------------------

    def act(self, action: Action, *, drive: bool = True, supersedes: bool = True) -> RunningAction:
        """Submit an action to the engine of the database; ``drive``: also carry it out here.

        Raises ZondaError where the action cannot be accepted: ActionInProgress while another one
        is carried out, unless it ``supersedes`` that and may.
        """
        action, parts = add_declared_types(action, self._parts), self._parts
        caller = Caller(parts.settings.user, parts.settings.project, supersedes)
        before = parts.find_last_event()
        if self._become_engine("own") and self._engine is not None:
            accepted = self._engine.submit(action, caller).result()
        else:
            accepted = self._send_request(action, caller)
        if drive or (parts.is_clustered and accepted.check_id):  # its owner may die
            self._drive_stack(accepted.stack_id)
        return RunningAction(
            self,
            accepted.stack_id,
            self._stacks.find(accepted.stack_id).name,
            accepted.generation,
            before,
            action.touches_all,
            accepted.check_id,
            accepted.warnings,
        )

    def submit(self, action: Action, caller: Caller, note: Noted | None = None) -> Future[Accepted]:
        """Submit ``action`` to the engine of this process; raises StoreError if it is none.

        ``note``: see ``Engine.submit``.
        """
        return self._require_engine().submit(action, caller, note)

    def keep(self, write: Callable[[Transaction], Any]) -> Any:
        """Commit a write that is no action by the engine of this process; returns its result."""
        return self._require_engine().keep(write)

    def _require_engine(self) -> Engine:
        self._check_engine()
        if self._engine is None:
            raise StoreError("This process is not the engine of the database.")
        return self._engine

    def wait(self, name_or_id: str) -> RunningAction:
        """Continue what a stack is doing, here or by watching the engine that does it."""
        before = self._parts.find_last_event()
        stack = self._stacks.find_or_deleted(name_or_id)
        if not self.is_at_rest(stack) and self._become_engine("own"):
            self._drive_stack(stack.id)
        return RunningAction(self, stack.id, stack.name, events_before=before)

    def is_at_rest(self, stack: StackView) -> bool:
        """Whether nothing is planned or running in the stack, nor above or below it.

        Signals make nested stacks work below an idle root.
        """
        return stack.idle and not self._parts.reader.is_tree_busy(stack.root_id)

    def _send_request(self, action: Action, caller: Caller) -> Accepted:
        """Leave the action to the engine that holds the lock, or become the engine."""
        parts = self._parts
        request = parts.ids.new()
        log.debug("request %s: %s", request, type(action).__name__)
        text = parts.store.sealer.seal(actions.to_json(action, caller))
        with parts.store.database.request_lock(request):
            with parts.store.transaction() as tx:
                tx.add_request(request, text, parts.clock.now())
            try:
                answer = self._wait_for_answer(request)
            except BaseException:  # Ctrl-C too: what nobody waits for must not be done later
                self._withdraw_request(request)
                raise
        return parse_answer(answer)

    def _withdraw_request(self, request: str) -> None:
        if self._engine is not None:  # its thread alone may write
            self._engine.withdraw(request)
            return
        with suppress(StoreError), self._parts.store.transaction() as tx:
            tx.withdraw_request(request)

    def _wait_for_answer(self, request: str) -> str:
        """Wait for the answer to a request."""
        parts = self._parts
        while True:
            answer = parts.reader.request(request).answer
            if answer is not None:
                return answer
            self.check()
            if self._become_engine("own") and self._engine is not None:
                self._engine.sweep_requests()
            parts.clock.pause(_ASK_AGAIN)

    # -- being the engine -----------------------------------------------------------------------

    def _become_engine(self, drive: str) -> bool:
        """Become the engine if possible; whether this process is the engine.

        A command leaves the lock to a long-running engine that waits for it.
        """
        if self._engine is not None:
            return True
        parts = self._parts
        if parts.is_clustered:
            self._begin_lives(drive)
            return True
        if drive == "own" and parts.store.database.server_lock().is_taken():
            return False
        if not parts.lock.acquire():
            return False
        self.start_engine(self.make_engine(), drive)
        return True

    def make_engine(self) -> Engine:
        """Make an engine for the database."""
        parts = self._parts
        from zonda.core.engine.runtime.engine import Engine
        from zonda.core.schedule.scheduler import Scheduler
        from zonda.core.schedule.timing import Timing

        known = parts.make_engine_settings()
        return Engine(
            parts.store,
            parts.plugins,
            clock=parts.clock,
            scheduler=Scheduler(parts.clock),
            ids=parts.ids,
            random=parts.random,
            lender=parts.lender,
            load=parts.template_loader,
            settings=replace(known, timing=Timing(), find_check=lambda by: self.find_check(by)),
        )

    def start_engine(self, engine: Engine, drive: str) -> None:
        """Start an engine, with what others listen to."""
        from zonda.core.engine.runtime.listeners import Listeners
        from zonda.core.engine.runtime.waiting import WaitingOperations

        if self._listeners is None:
            self._listeners = Listeners()
            self._waiting = WaitingOperations(self._parts.clock.now)
            self._listeners.subscribe(self._take_notices)
        engine.subscribe(self._listeners.publish)
        engine.subscribe_commits(self._listeners.tell_commit)
        if self._tracer is not None:
            engine.trace_calls(self._tracer)
        engine.start(drive)
        self._engine = engine
        for stack_id in self._own:  # of an earlier life
            engine.drive(stack_id)
        if not self._parts.is_clustered:
            self._start_delivery(engine)

    # -- being a member of a cluster ------------------------------------------------------------

    def _begin_lives(self, drive: str) -> None:
        from zonda.core.cluster.lives import Lives

        parts = self._parts
        if drive == "all":  # trees of others may come at once
            parts.lender.load_runners()
        terms = parts.make_terms()
        self._lives = Lives(self, parts.store, parts.clock, parts.ids, terms)
        try:
            self._lives.begin(drive)
        except BaseException:
            self._lives = None
            raise

    def check_delivery(self, engine: Engine, claim: Claim) -> None:
        """Deliver events of all members to sinks if none of the others does."""
        if self._delivery is not None:
            self._delivery.news()
            return
        if self._parts.settings.sinks and self._engine is engine and claim(SINKS):
            self._start_delivery(engine)

    def show_progress(self, notice: Notice) -> None:
        """Show what an operation of another member waits for; '' for one that has ended."""
        if self._waiting is not None:
            self._waiting.take([notice])

    def lose_engine(self) -> None:
        """End what depends on an engine that has failed, without a wait."""
        if self._delivery is not None:
            self._delivery.abandon()
            self._delivery = None
        if self._engine is not None:
            self._engine.stop(0.0)

    def stop_engine(self) -> None:
        """Let the engine end what it has begun to call, and deliver what that has caused."""
        if self._engine is not None:
            self._engine.stop(self._parts.settings.stop_grace)
        if self._delivery is not None:
            self._delivery.finish()
            self._delivery = None

    def _start_delivery(self, engine: Engine) -> None:
        """Start the delivery of this engine's events to the configured sinks."""
        parts = self._parts
        if parts.settings.sinks:
            from .event_sinks import Delivery

            self._delivery = Delivery(parts, engine)

    @property
    def definitions(self) -> Definitions | None:
        """The definition cache of this process's engine; None if it is not the engine."""
        return None if self._engine is None else self._engine.services.definitions

    def check(self) -> None:
        """Raise StoreError if this process is the engine and it has died.

        A member of a cluster begins another life.
        """
        if not self._parts.is_clustered:
            self._check_engine()

    def _check_engine(self) -> None:
        if self._engine is not None and self._engine.failure is not None:
            raise self._engine.failure

    def find_trouble(self) -> str:
        """A sentence on why this engine does nothing at the moment; '' if it works."""
        engine = self._engine
        if engine is None or engine.is_over:
            return "The engine has stopped."
        if engine.seconds_since_turn > LONGEST_TURN:
            return "The engine does not answer."
        owned = self._parts.store.ownership
        if owned is not None and owned.is_draining:
            return "This member of the cluster drains."
        return "The database refuses what is to be stored." if engine.is_refused else ""

    def _drive_stack(self, stack_id: str) -> None:
        """Carry out the plan of a stack, if this process is the engine."""
        self._own.add(stack_id)
        if self._engine is not None:
            self._engine.drive(stack_id)

    def run(self, goes_on: Callable[[int | None], bool] = lambda holder: True) -> bool:
        """Become the engine of every stack until ``close``, as soon as no command is the engine.

        ``goes_on`` is asked while it waits, with the process that it waits for; False gives that
        up. Whether it is the engine now. Raises Conflict if another process is, or waits for it.
        """
        parts = self._parts
        if parts.is_clustered:
            self._drives_all = self._become_engine("all")
            return True
        lock = self._server_lock = parts.store.database.server_lock()
        if not lock.acquire():
            holder, url = lock.read_holder(), ServerRecord(parts.settings).find_url()
            where = f", a server at {url}" if url else ""
            raise Conflict(
                f"Another engine is running for this database (process {holder or 'unknown'}"
                f"{where}).",
                hint="Stop it first; commands work beside it.",
            )
        while not self._become_engine("all"):
            if not goes_on(parts.lock.read_holder()):
                return False
            parts.clock.pause(_ASK_AGAIN)
        self._drives_all = True
        return True

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """See ``Engine.subscribe``; raises StoreError if this process is not the engine."""
        self._require_engine()
        assert self._listeners is not None
        return self._listeners.subscribe(listener)

    def subscribe_all(self, listener: Listener) -> Callable[[], None]:
        """Tell ``listener`` of the events and the progress of all members of a cluster.

        Without one that is ``subscribe``. Events come from ``begin_to_follow`` on.
        """
        if self._lives is None:
            return self.subscribe(listener)

        def tell_progress(notices: Sequence[Notice]) -> None:
            listener([notice for notice in notices if notice.event is None])

        end_progress = self.subscribe(tell_progress)
        end_events = self._lives.tail.subscribe(listener)

        def end() -> None:
            end_progress()
            end_events()

        return end

    def begin_to_follow(self) -> None:
        """Begin with events of other members, before those so far are read. Raises StoreError."""
        if self._lives is not None:
            self._lives.tail.begin()

    def subscribe_commits(self, listener: CommitListener) -> None:
        """See ``Engine.subscribe_commits``."""
        self._require_engine()
        assert self._listeners is not None
        self._listeners.commit_listeners.append(listener)

    def trace_calls(self, tracer: CallTracer) -> None:
        """See ``Engine.trace_calls``."""
        self._require_engine().trace_calls(tracer)
        self._tracer = tracer

    def read_load(self) -> EngineLoad:
        """See ``Engine.read_load``."""
        return self._require_engine().read_load()

    def _take_notices(self, notices: Sequence[Notice]) -> None:
        """Take what the engine tells. Called in its threads."""
        if self._delivery is not None and any(notice.event is not None for notice in notices):
            self._delivery.news()
        if self._waiting is not None:
            self._waiting.take(notices)

    # -- watching -------------------------------------------------------------------------------

    #: Seconds after which to look again while something goes on.
    look_again = 0.2

    def look(self, stack_id: str, seconds: float, seen: int = 0) -> StackView:
        """Return the stack as soon as it is at rest, at the latest after ``seconds``.

        ``seen``: the last event that is known, for those who wait longer.
        """
        until = self._parts.clock.monotonic() + seconds
        while self._engine is None:
            stack = self._stacks.find(stack_id)
            left = until - self._parts.clock.monotonic()
            if self.is_at_rest(stack) or left <= 0:
                return stack
            if self._become_engine("own"):
                self._drive_stack(stack_id)
            else:
                self._parts.clock.pause(min(left, _LOOK_AGAIN))
        try:
            return self._engine.wait(stack_id, max(0.0, until - self._parts.clock.monotonic()))
        except Unusable:
            if self._lives is None:
                raise
            self._parts.clock.pause(_LOOK_AGAIN)  # the next life goes on
            return self._stacks.find(stack_id)

    def wait_for_check(self, check_id: str, seconds: float) -> DriftCheckView:
        """Return a drift check as soon as it has ended, at the latest after ``seconds``.

        If the process that carries it out has died, this one becomes the engine, which says so.
        """
        until = self._parts.clock.monotonic() + seconds
        while (found := self._parts.reader.drift_check(check_id)).is_running:
            self.check()
            left = until - self._parts.clock.monotonic()
            if left <= 0:
                break
            self._become_engine("own")
            self._parts.clock.pause(min(left, _ASK_AGAIN))
        return found

    def waiting(self, stack_id: str) -> list[PendingRequest] | None:
        """List the operations that wait, also nested ones; None: this process is told nothing."""
        if self._waiting is None:
            return None
        stacks = self._waiting.list_stacks()
        if stacks != [stack_id]:
            root = self._parts.reader.stack_by_id(stack_id).root_id
            tree = {key for key, _, _ in self._parts.reader.names_of_tree(root)}
            stacks = [key for key in stacks if key in tree]
        return [
            PendingRequest(each.resource, each.message, each.since or 0.0, each.stack_id)
            for each in self._waiting.list_messages(stacks)
        ]

    def count_resources(self, stack_id: str) -> int:
        """Count the stack's resource instances, with those of nested stacks."""
        return self._parts.reader.tree_size(self._parts.reader.stack_by_id(stack_id).root_id)

    def find_holder(self, stack: StackView) -> str:
        """Find the other process that carries out what goes on in a stack, for people; or ''."""
        if not self._parts.is_clustered:
            return "" if self._parts.lock.held else self._parts.find_engine()
        owner = self._parts.reader.find_owner(stack.root_id)
        return "process {1} on {0}".format(*owner) if owner else ""

    @property
    def other_engine(self) -> str:
        """The engine's process, if it is another one, for people; else ''."""
        if self._parts.is_clustered:
            return ""
        holder = None if self._parts.lock.held else self._parts.lock.read_holder()
        return "" if holder is None else f"the engine of process {holder}"

    def finish(self, say: Callable[[str], None]) -> None:
        """Accept nothing more before ``close``; wait for handlers of other commands.

        They were asked for here because this process is the engine. To cut one off may fail its
        resource, so that there is no grace; Ctrl-C ends the wait. Does nothing after ``run``.
        """
        if self._engine is not None and not self._drives_all:
            with suppress(StoreError):  # the command itself has done what it was to do
                self._let_others_finish(self._engine, say)

    def _let_others_finish(self, engine: Engine, say: Callable[[str], None]) -> None:
        if names := engine.list_running_here(self._own):
            engine.close_door()
            shown = ", ".join(sorted(names))
            say(f"Waiting for what is being done for other commands ({shown}); Ctrl-C leaves it.")
        while engine.list_running_here(self._own):
            self._parts.clock.pause(_ASK_AGAIN)

    def close(self) -> None:
        """Stop the engine. External operations go on; their tokens are stored.

        What the last calls have caused is delivered, too: events go out once the engine has ended.
        """
        if self._lives is not None:
            self._lives.end()
        else:
            self.stop_engine()
        self._engine = None
        if self._server_lock is not None:
            self._server_lock.release()
