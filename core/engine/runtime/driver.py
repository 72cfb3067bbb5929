"""The base of all drivers: tasks, units that share a commit, the work after a commit.

One thread owns a driver and the database (``engine.py``: its own thread; ``inline.py``: the
caller's). Subclasses say how a ``Call`` is made. Everything that waits for a transaction when
``commit`` is called shares one; if it fails, the units run one by one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any

from zonda.core.store.database.faults import Refused, Unusable
from zonda.core.store.write.database import Store
from zonda.core.store.write.duties import FencedOut, Ownership
from zonda.hooks.errors import StoreError, ZondaError
from zonda.hooks.text.borders import raise_interruption

from ..drift.on_demand import ChecksOnDemand
from ..execution.loop import Loop, Task
from ..execution.steps import look, proceed
from ..handlers.runners import roll_back
from ..model.effects import Tx, make_step
from ..model.unit_of_work import Outbox, UnitOfWork
from ..model.work_item import WorkItem
from ..nested.refresh import refresh
from ..operations import timeouts
from ..services import EngineServices
from .clock_jumps import Jumps
from .listeners import Listeners

log = logging.getLogger(__name__)

#: For how many seconds a commit that the database refuses is tried again before the engine stops.
PATIENCE = 10.0
#: Seconds between two such tries, at first and at most.
_FIRST_RETRY, _LAST_RETRY = 0.02, 2.0


class Driver(Loop):
    """Runs steps and stores what they ask for; see the module's docstring."""

    def __init__(self, store: Store, services: EngineServices, *, cap: int, owner: str) -> None:
        super().__init__(services, cap)
        self._database = store
        #: The trees of the member of a cluster whose engine this is; another life has others.
        self.owned: Ownership | None = None
        self.owner = owner
        self.listeners = Listeners()
        # Stacks whose rollback is planned; whether that was asked for again since.
        self._planning: dict[str, bool] = {}
        # Owners that are asked what they show; whether somebody has told of more since.
        self._refreshing: dict[str, bool] = {}
        self._units: list[tuple[Task, Tx]] = []
        self._jumps = Jumps(services.clock)
        #: The checks of drift that are run here.
        self.checks = ChecksOnDemand(services, self.start)
        services.hanging.spare = self.widen
        self._refused = 0
        # By the monotonic clock: since when the database refuses, and when it is asked again.
        self._refused_since = self._retry_at = 0.0

    # -- what subclasses do ---------------------------------------------------------------------

    def widen(self, by: int) -> None:
        """Have so many threads more, or fewer: calls that hang hold them."""

    def drives(self, stack_id: str) -> bool:
        """Whether this driver carries out the plans of a stack."""
        return True

    def on_rested(self, stack_ids: Iterable[str]) -> None:
        """Stacks have come to rest."""

    def note_planned(self, root_id: str) -> None:
        """Something is to be done that is not carried out here (yet)."""

    def on_detached(self, stack_id: str, root_id: str) -> None:
        """Note that a stack is no longer nested in the root ``root_id``."""

    # -- what the loop asks for -----------------------------------------------------------------

    def store(self, task: Task, effect: Tx) -> None:
        """Keep a unit for the next commit."""
        self._units.append((task, effect))

    def stop_unwanted(self, key: str) -> None:
        """See ``Loop``."""
        self.start(make_step(Tx(lambda work: timeouts.stop_unwanted(work, key, self))))

    def admit(self) -> None:
        """See ``Loop``; nothing begins while the database refuses."""
        if not self._refused and (self._ready or self.alone.keys):
            super().admit()

    def end(self, error: BaseException) -> None:
        """See ``Loop``."""
        self._units.clear()
        super().end(error)

    @property
    def has_units(self) -> bool:
        """Whether something waits for a transaction."""
        return bool(self._units)

    def retry_in(self) -> float | None:
        """Seconds until a commit that was refused is tried again; None if none was."""
        return self._retry_at - self.services.clock.monotonic() if self._refused else None

    # -- transactions ---------------------------------------------------------------------------

    def commit(self) -> None:
        """Run every unit that waits, in one transaction; then go on with what follows."""
        if not self._units or (self.retry_in() or 0.0) > 0:
            return
        units, self._units = self._units, []
        try:
            results, work, ahead = self._run_units([unit.run for _, unit in units], ahead=True)
        except (Refused, Unusable) as error:
            self._put_back(units, error)
            return
        except BaseException as error:  # the border: find out which unit it was
            raise_interruption(error)
            self._commit_each(units)
            return
        self._refused = 0
        self._follow_commit(work)
        for (task, _), value in zip(units, results, strict=True):
            self.advance(task, value)
        for task in ahead:
            self.advance(task)

    def _commit_each(self, units: list[tuple[Task, Tx]]) -> None:
        for index, (task, unit) in enumerate(units):
            try:
                results, work, _ = self._run_units([unit.run])
            except (Refused, Unusable) as error:
                self._put_back(units[index:], error)
                return
            except BaseException as error:  # its own fault: the database did answer
                raise_interruption(error)
                self._refused = 0
                self.advance(task, error=error)
            else:
                self._refused = 0
                self._follow_commit(work)
                self.advance(task, results[0])

    def run_in_transaction(self, run: Callable[[UnitOfWork], Any]) -> Any:
        """Run one unit at once, in a transaction of its own."""
        results, work, _ = self._run_units([run])
        self._follow_commit(work)
        return results[0]

    def _run_units(
        self, runs: list[Callable[[UnitOfWork], Any]], *, ahead: bool = False
    ) -> tuple[list[Any], UnitOfWork, list[Task]]:
        """Run units in one transaction; ``ahead``: and enter the steps that they release."""
        begun = self.services.clock.monotonic() if self.listeners.commit_listeners else 0.0
        with self._database.transaction() as tx:
            if self.owned is not None and self._database.ownership is not self.owned:
                raise FencedOut("This life as a member of the cluster has ended.")
            services = self.services
            work = UnitOfWork(tx, services.clock.now(), services.ids, services.sealer, self.owner)
            offset = self._jumps.look(work)
            results = [run(work) for run in runs]
            _note_progress(work)
            released = self._look_ahead(work) if ahead else []
        self._jumps.keep_offset(offset)
        if self.listeners.commit_listeners:
            self.listeners.tell_commit(len(runs), self.services.clock.monotonic() - begun)
        return results, work, [self._enter(key, proceed(services, it)) for key, it in released]

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

    def _follow_commit(self, work: UnitOfWork) -> None:
        after: Outbox = work.after
        self.services.instances.lending.tracing.requests.update(after.requests)
        for run in after.then:
            run()
        self.listeners.announce(work)
        for stack_id, root_id in after.detached.items():
            self.on_detached(stack_id, root_id)
        for key, stack_id in after.look.items():
            if self.drives(stack_id):
                self.enqueue(key)
            else:
                self.note_planned(stack_id)
        for key in after.alone:
            self.alone.add(key)
        for stack_id in after.plan:
            if self.drives(stack_id):
                self.plan_rollback(stack_id)
        for key in after.poke:
            self.poke(key)
        for key in after.refresh:
            self.refresh(key)
        for key in after.unwanted:
            self.note_unwanted(key)
        for key, root_id in after.stop.items():
            self.give_up(key, root_id)
        for check in after.checks:
            self.checks.begin(check)
        self.on_rested(after.idle)

    def plan_rollback(self, stack_id: str) -> None:
        """Plan a rollback, once at a time."""
        if stack_id in self._planning:
            self._planning[stack_id] = True  # it may have read what was before
            return
        self._planning[stack_id] = False

        def finish(_: Any, error: BaseException | None) -> None:
            again = self._planning.pop(stack_id)
            if error is not None:
                self.fail_rollback(stack_id, error)
            elif again and self._over is None and self.drives(stack_id):
                self.plan_rollback(stack_id)

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
        self.start(
            make_step(Tx(lambda work: timeouts.end_without_rollback(work, stack_id, str(shown))))
        )


def _note_progress(work: UnitOfWork) -> None:
    """Note the trees of a member whose last owners have died, and that get on now."""
    duties = work.tx.duties
    if duties is None or not duties.has_suspects:
        return
    for stack_id in {event.stack_id for event in work.after.events if event.status == "COMPLETE"}:
        stack = work.tx.stack(stack_id)
        if stack is not None:
            duties.note_progress(stack.root)
