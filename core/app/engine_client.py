"""The engine client: sends an action to the process that is the engine of the database.

The engine's lock decides. A command that gets it is the engine for as long as it runs, and drives
only its own stack. A command that does not leaves a row in table ``request``, waits for the
answer, and watches; if the engine goes away meanwhile, it takes over. Used by ``core/app/app.py``.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from zonda.core.engine import actions
from zonda.core.engine.actions import Accepted, Action, Caller, answers
from zonda.core.settings.table import Settings
from zonda.core.store.file.lock import EngineLock, RequestLock, ServerLock
from zonda.core.store.read.reader import Reader
from zonda.core.store.read.views import StackView
from zonda.core.store.write.database import Store
from zonda.core.system.ids import Ids
from zonda.hooks.context import Clock
from zonda.hooks.errors import Conflict, StoreError

if TYPE_CHECKING:  # what commands that only read must not import
    from zonda.core.engine.model.definition import Loading
    from zonda.core.engine.runtime.engine import Engine, Notice
    from zonda.core.engine.templates.definitions import Definitions
    from zonda.core.plugins.manager import Plugins
    from zonda.core.store.read.drift_views import DriftCheckView

    from .event_sinks import Delivery
    from .resource_services import ResourceServices

log = logging.getLogger(__name__)

_ASK_AGAIN = 0.05
_LOOK_AGAIN = 0.1


class PausingClock(Clock, Protocol):
    """A clock that can also wait."""

    def pause(self, seconds: float) -> None:
        """Sleep for ``seconds``."""


class AppServices(Protocol):
    """The parts of ``App`` that the engine client uses, under the same names."""

    @property
    def settings(self) -> Settings:
        """The settings."""

    @property
    def clock(self) -> PausingClock:
        """The clock."""

    @property
    def ids(self) -> Ids:
        """The source of ids."""

    @property
    def random(self) -> random.Random:
        """The source of randomness."""

    @property
    def plugins(self) -> Plugins:
        """The plug-ins."""

    @property
    def template_loader(self) -> Loading:
        """The loader that makes definitions."""

    @property
    def lender(self) -> ResourceServices:
        """The services that resources may use."""

    @property
    def store(self) -> Store:
        """The database, for writing."""

    @property
    def reader(self) -> Reader:
        """The database, for reading."""

    @property
    def lock(self) -> EngineLock:
        """The engine lock."""

    def stack(self, name_or_id: str) -> StackView:
        """Read a stack by name or id."""

    def read_stack_or_deleted(self, name_or_id: str) -> StackView:
        """Read a stack by name or id, also a deleted one."""


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """The message of a running operation that waits. ``since``: seconds since the epoch."""

    resource: str
    message: str
    since: float
    stack_id: str = ""


class RunningAction:
    """An accepted action: everything that is needed to watch it to its end."""

    def __init__(
        self,
        commands: EngineClient,
        stack: StackView,
        *,
        generation: int | None = None,
        events_before: int = 0,
        touches_all: bool = False,
        check_id: str = "",
    ) -> None:
        self._commands = commands
        self.stack_id = stack.id
        self.name = stack.name
        #: The number of the plan, None where this command has made none.
        self.generation = generation
        #: Events up to this ``seq`` were there before.
        self.events_before = events_before
        #: Whether every resource will be worked on.
        self.touches_all = touches_all
        #: The drift check that belongs to it, or ''.
        self.check_id = check_id

    def look(self, seconds: float) -> StackView:
        """Return the stack as soon as it is at rest, at the latest after ``seconds``."""
        return self._commands.look(self.stack_id, seconds)

    def is_at_rest(self, stack: StackView) -> bool:
        """Whether nothing is planned or running in the stack, nor above or below it."""
        return self._commands.is_at_rest(stack)

    @property
    def resource_count(self) -> int:
        """The number of the stack's resource instances, with those of nested stacks."""
        return self._commands.resource_count(self.stack_id)

    def waiting(self) -> list[PendingRequest]:
        """List the operations that wait, also nested ones, as far as this process knows."""
        return self._commands.waiting(self.stack_id)

    @property
    def other_engine_pid(self) -> int | None:
        """The id of the engine's process; None if that is this process, or none runs."""
        return self._commands.other_engine_pid


class EngineClient:
    """The client of this process: submits actions, and is the engine where no other is."""

    def __init__(self, parts: AppServices) -> None:
        self._parts = parts
        self._engine: Engine | None = None
        # By stack and resource.
        self._notices: dict[str, dict[str, PendingRequest]] = {}
        self._unsubscribe: Callable[[], None] | None = None
        self._own: set[str] = set()
        self._drives_all = False
        self._server_lock: ServerLock | None = None
        self._delivery: Delivery | None = None

    # -- actions --------------------------------------------------------------------------------

    def act(self, action: Action, *, drive: bool, supersedes: bool) -> RunningAction:
        """Submit ``action``; see ``App.act``."""
        known = self._parts.settings
        caller = Caller(known.user, known.project, supersedes)
        before = self._parts.reader.last_event()
        if self._become_engine("own") and self._engine is not None:
            accepted = self._engine.submit(action, caller).result()
        else:
            accepted = self._send_request(action, caller)
        if drive:
            self._drive_stack(accepted.stack_id)
        return RunningAction(
            self,
            self._parts.stack(accepted.stack_id),
            generation=accepted.generation,
            events_before=before,
            touches_all=action.touches_all,
            check_id=accepted.check_id,
        )

    def wait(self, name_or_id: str) -> RunningAction:
        """Drive or watch what a stack is doing; see ``App.wait``."""
        before = self._parts.reader.last_event()
        stack = self._parts.read_stack_or_deleted(name_or_id)
        if not self.is_at_rest(stack) and self._become_engine("own"):
            self._drive_stack(stack.id)
        return RunningAction(self, stack, events_before=before)

    def is_at_rest(self, stack: StackView) -> bool:
        """See ``RunningAction.is_at_rest``. Signals make nested stacks work below an idle root."""
        return stack.idle and not self._parts.reader.is_tree_busy(stack.root_id)

    def _send_request(self, action: Action, caller: Caller) -> Accepted:
        """Leave the action to the engine that holds the lock, or become the engine."""
        parts = self._parts
        request = parts.ids.new()
        log.debug("request %s: %s", request, type(action).__name__)
        text = parts.store.sealer.seal(actions.to_json(action, caller))
        with RequestLock(parts.store.path, request):
            with parts.store.transaction() as tx:
                tx.add_request(request, text, parts.clock.now())
            try:
                answer = self._wait_for_answer(request)
            except BaseException:  # Ctrl-C too: what nobody waits for must not be done later
                self._withdraw_request(request)
                raise
        return answers.parse_answer(answer)

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
        store, parts = self._parts.store, self._parts
        if drive == "own" and ServerLock(store.path).is_taken():
            return False
        if not parts.lock.acquire():
            return False
        from zonda.core.engine.runtime.engine import Engine, EngineSettings
        from zonda.core.schedule.scheduler import Scheduler
        from zonda.core.schedule.timing import Timing

        known = parts.settings
        engine = Engine(
            store,
            parts.plugins,
            clock=parts.clock,
            scheduler=Scheduler(parts.clock),
            ids=parts.ids,
            random=parts.random,
            lender=parts.lender,
            load=parts.template_loader,
            settings=EngineSettings(
                workers=known.workers,
                project=known.project,
                user=known.user,
                cancel_grace=known.cancel_grace,
                drift_workers=known.drift_workers,
                drift_rate=known.drift_rate,
                drift_timeout=known.drift_timeout,
                timing=Timing(),
            ),
        )
        self._unsubscribe = engine.subscribe(self._heard)
        engine.start(drive)
        self._engine = engine
        self._start_delivery(engine)
        return True

    def _start_delivery(self, engine: Engine) -> None:
        """Start the delivery of this engine's events to the configured sinks."""
        parts = self._parts
        if parts.settings.sinks:
            from .event_sinks import Delivery

            given = (parts.settings, parts.plugins, parts.store, engine, parts.clock, parts.random)
            self._delivery = Delivery(*given)

    @property
    def definitions(self) -> Definitions | None:
        """The definition cache of this process's engine; None if it is not the engine."""
        return None if self._engine is None else self._engine.services.definitions

    def definition(self, template_id: str | None) -> Any:
        """Find a definition in the cache of this process's engine; None if it is not there."""
        known = self.definitions
        return None if known is None or template_id is None else known.get(template_id)

    def check(self) -> None:
        """Raise StoreError if this process is the engine and it has died."""
        if self._engine is not None and self._engine.failure is not None:
            raise self._engine.failure

    def _drive_stack(self, stack_id: str) -> None:
        """Carry out the plan of a stack, if this process is the engine."""
        self._own.add(stack_id)
        if self._engine is not None:
            self._engine.drive(stack_id)

    def run_engine(self, goes_on: Callable[[int | None], bool]) -> bool:
        """See ``App.run_engine``."""
        parts = self._parts
        lock = self._server_lock = ServerLock(parts.store.path)
        if not lock.acquire():
            holder = lock.read_holder()
            raise Conflict(
                f"Another engine is running for this database (process {holder or 'unknown'}).",
                hint="Stop it first; commands work beside it.",
            )
        while not self._become_engine("all"):
            if not goes_on(parts.lock.read_holder()):
                return False
            parts.clock.pause(_ASK_AGAIN)
        self._drives_all = True
        return True

    def _heard(self, notice: Notice) -> None:
        """Record a waiting operation's message until it ends. Called in the engine's threads."""
        if notice.event is not None and self._delivery is not None:
            self._delivery.news()
        if notice.event is None:
            since = self._parts.clock.now() if notice.since is None else notice.since
            waiting = PendingRequest(notice.resource, notice.message, since, notice.stack_id)
            self._notices.setdefault(notice.stack_id, {})[notice.resource] = waiting
        elif notice.event.status == "IN_PROGRESS":
            return
        elif notice.event.resource_name:
            self._notices.get(notice.stack_id, {}).pop(notice.event.resource_name, None)
        else:  # the stack is at its end, and with it all that it waited for
            self._notices.pop(notice.stack_id, None)

    # -- watching -------------------------------------------------------------------------------

    def look(self, stack_id: str, seconds: float) -> StackView:
        """See ``RunningAction.look``."""
        until = self._parts.clock.monotonic() + seconds
        while self._engine is None:
            stack = self._parts.stack(stack_id)
            left = until - self._parts.clock.monotonic()
            if self.is_at_rest(stack) or left <= 0:
                return stack
            if self._become_engine("own"):
                self._drive_stack(stack_id)
            else:
                self._parts.clock.pause(min(left, _LOOK_AGAIN))
        try:
            return self._engine.wait(stack_id, max(0.0, until - self._parts.clock.monotonic()))
        except TimeoutError:
            return self._parts.stack(stack_id)

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

    def waiting(self, stack_id: str) -> list[PendingRequest]:
        """See ``RunningAction.waiting``."""
        stacks = list(self._notices)
        if stacks != [stack_id]:
            root = self._parts.stack(stack_id).root_id
            tree = {key for key, _, _ in self._parts.reader.names_of_tree(root)}
            stacks = [key for key in stacks if key in tree]
        found = (list(self._notices.get(key, {}).values()) for key in stacks)
        return [each for known in found for each in known]

    def resource_count(self, stack_id: str) -> int:
        """See ``RunningAction.resource_count``."""
        return self._parts.reader.tree_size(self._parts.stack(stack_id).root_id)

    @property
    def other_engine_pid(self) -> int | None:
        """See ``RunningAction.driven_elsewhere``."""
        return None if self._parts.lock.held else self._parts.lock.read_holder()

    def finish(self, say: Callable[[str], None]) -> None:
        """Accept nothing more before ``close``; wait for handlers of other commands.

        They were asked for here because this process is the engine. To cut one off may fail its
        resource, so that there is no grace; Ctrl-C ends the wait. Does nothing after ``run_all``.
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
        """Stop the engine. External operations go on; their tokens are stored."""
        if self._delivery is not None:
            self._delivery.finish()
            self._delivery = None
        if self._unsubscribe is not None:
            self._unsubscribe()
        if self._engine is not None:
            self._engine.stop(self._parts.settings.stop_grace)
            self._engine = None
        if self._server_lock is not None:
            self._server_lock.release()
