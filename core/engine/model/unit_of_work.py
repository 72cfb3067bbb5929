"""A unit of work: the rows of a transaction, and the actions that follow its commit.

Made by a driver for every transaction and handed to transitions. What is collected here is
dropped when the transaction is undone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from zonda.core.store.read.views import EventView
from zonda.core.store.schema.rows import EventRow, ResourceRow, StackRow
from zonda.core.store.values.sealing import Sealer
from zonda.core.store.write.database import Transaction
from zonda.hooks.records import dataclass, field

from .tracing import PlanRequest


@dataclass(frozen=True, slots=True)
class Notice:
    """A message that a listener may show.

    A committed event, or the progress of a running operation (``message``, nothing stored).
    """

    stack_id: str
    event: EventView | None = None
    resource: str = ""
    message: str = ""
    since: float | None = None


@dataclass(slots=True)
class Outbox:
    """The actions that follow a commit.

    ``look``: instances to run a step for, with the stacks at their top; ``alone``: those for which
    it is run alone (``cut_off``); ``plan``: stacks that are
    owed a plan; ``poke``: operations to poll now; ``stop``: operations ended from outside, with
    the stacks at their top; ``unwanted``: operations to end once no call of them is out;
    ``idle``: stacks that came to rest; ``say``: progress that nothing stored tells;
    ``refresh``: owners of nested stacks that may show something else now; ``checks``: checks of
    drift (``drift.check.Check``) that are to be run; ``detached``: stacks that are nested no more,
    with the stack that was at their top; ``requests``: those behind plans that begin, by the stack
    at the top; ``then``: what is changed in memory for what is stored.
    """

    look: dict[str, str] = field(default_factory=dict)
    alone: dict[str, str] = field(default_factory=dict)
    plan: dict[str, None] = field(default_factory=dict)
    poke: dict[str, None] = field(default_factory=dict)
    stop: dict[str, str] = field(default_factory=dict)
    unwanted: dict[str, None] = field(default_factory=dict)
    idle: dict[str, None] = field(default_factory=dict)
    say: list[Notice] = field(default_factory=list)
    events: list[EventRow] = field(default_factory=list)
    refresh: dict[str, None] = field(default_factory=dict)
    checks: list[Any] = field(default_factory=list)
    detached: dict[str, str] = field(default_factory=dict)
    requests: dict[str, PlanRequest] = field(default_factory=dict)
    then: list[Callable[[], None]] = field(default_factory=list)


class UnitOfWork:
    """The rows of one transaction, the time, new ids, and what follows the commit."""

    __slots__ = ("after", "ids", "now", "owner", "sealer", "tx")

    def __init__(
        self, tx: Transaction, now: float, ids: Callable[[], str], sealer: Sealer, owner: str
    ) -> None:
        self.tx = tx
        self.now = now
        self.ids = ids
        self.sealer = sealer
        self.owner = owner
        self.after = Outbox()

    def stack_of(self, row: ResourceRow) -> StackRow:
        """The stack of an instance; it is there as long as the instance is."""
        stack = self.tx.stack(row.stack_id)
        assert stack is not None
        return stack

    def rows(self, keys: Iterable[str]) -> Iterator[ResourceRow]:
        """The instances of these ids that exist."""
        for key in keys:
            row = self.tx.resource(key)
            if row is not None:
                yield row

    def owners(self, row: ResourceRow) -> Iterator[ResourceRow]:
        """The instances that ``row`` is nested in, the innermost first."""
        while owner_id := self.stack_of(row).owner_resource_id:
            owner = self.tx.resource(owner_id)
            if owner is None:
                return
            yield (row := owner)

    def stop(self, row: ResourceRow) -> None:
        """After the commit, stop the step of the operation of this instance."""
        self.after.stop[row.id] = self.stack_of(row).root_id

    def look(self, row: ResourceRow) -> None:
        """After the commit, run a step for this instance."""
        self.after.look[row.id] = self.stack_of(row).root

    def resource_event(self, row: ResourceRow, action: str, status: str, reason: str) -> None:
        """Record a change of state of a resource."""
        about = (row.id, row.name, row.type, row.physical_id)
        event = self._event(self.stack_of(row), about, action, status, reason)
        begins = status == "IN_PROGRESS" and row.op_properties is not None
        if begins and row.op_properties != row.properties:
            self.tx.add_event_properties(event, str(row.op_properties), row.hidden)

    def stack_state(self, stack: StackRow, status: str, reason: str) -> None:
        """Set the state of a stack's action and record it."""
        stack.status = status
        stack.status_reason = reason
        self.stack_event(stack, stack.action, status, reason)

    def stack_event(self, stack: StackRow, action: str, status: str, reason: str) -> None:
        """Record something about a stack, whose state stays what it is."""
        self._event(stack, (None, "", "", stack.id), action, status, reason)

    def _event(
        self,
        stack: StackRow,
        about: tuple[str | None, str, str, str | None],
        action: str,
        status: str,
        reason: str,
    ) -> EventRow:
        place = (self.ids(), stack.id, stack.name, stack.generation)
        event = EventRow(*place, *about, action, status, reason, self.now)
        self.after.events.append(event)
        self.tx.add_event(event)
        return event


def read_failures(stack: StackRow) -> list[str]:
    """Why the running action of a stack fails, the first reason first."""
    reasons: list[str] = json.loads(stack.failures)
    return reasons
