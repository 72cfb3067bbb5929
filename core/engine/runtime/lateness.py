"""Fails late operations and stacks, after one more poll.

An engine may have been away when a deadline was over: stopped, asleep, or not running at all. What
was done outside meanwhile may have ended long ago. So whoever is late is polled, and fails at a
later sweep, when that poll has said "not yet". A call that was under way all the time had its time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks.context import Clock
from zonda.hooks.records import dataclass

from ..handlers import breakpoints
from ..model.effects import Step, Tx
from ..model.unit_of_work import UnitOfWork
from ..operations import limits, timeouts
from ..progress import children

#: Seconds within which an answer has to come.
PATIENCE = 30.0
#: A deadline that is over for so many seconds when it is seen: the engine was away.
AWAY = 5.0


class Tasks(Protocol):
    """The interface of a driver for this sweep."""

    def drives(self, stack_id: str) -> bool:
        """Whether the stack at the top of a tree is driven here."""

    def is_moving(self, key: str) -> bool:
        """Whether the task of an instance is on its way; not while it waits for its time."""

    def list_moving(self) -> Sequence[str]:
        """The instances whose tasks are on their way."""

    def waits(self, key: str) -> int:
        """Count how often the task of an instance has begun to wait; 0 where it has none."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """The state of a polled operation: its wait, its nested stack, its time limit."""

    waits: int
    below: tuple[int, str]
    until: float


class Lateness:
    """The sweep of deadlines of one engine. Stacks without a driver are left out."""

    def __init__(self, tasks: Tasks, clock: Clock) -> None:
        self._tasks = tasks
        self._clock = clock
        self.asked: dict[tuple[str, float | None], _Asked] = {}

    def sweep(self) -> Step:
        """One sweep, as a step."""
        self.asked = yield Tx(self.fail_late)

    def fail_late(self, work: UnitOfWork) -> dict[tuple[str, float | None], _Asked]:
        """The unit of a sweep; returns the polled operations, for the next one."""
        stacks = self._select_driven(work, map(work.tx.stack, work.tx.overdue_stacks(work.now)))
        rows = work.rows(work.tx.overdue(work.now))
        late = {row.id: row for row in rows if self._is_driven(work, row)}
        asked: dict[tuple[str, float | None], _Asked] = {}
        held = set[str]()
        for row in [*late.values(), *_list_running(work, stacks)]:
            asked[_get_key(row)] = self._poll_late(work, row)
            if self._may_answer(row, asked[_get_key(row)]):
                held.update(_list_above(work, row))
        for stack in stacks:
            if stack.id not in held:
                timeouts.fail_overdue_stack(work, stack.id, self._tasks.list_moving())
        for row in late.values():
            is_open = self._may_answer(row, asked[_get_key(row)])
            if not is_open and not _ends_with_polled(work, row, held):
                timeouts.fail_overdue(work, row.id)
        for key in work.tx.list_overdue_breakpoints(work.now):
            breakpoints.clear_expired(work, key)
        return asked

    def _select_driven(self, work: UnitOfWork, stacks: Iterable[StackRow | None]) -> list[StackRow]:
        return [each for each in stacks if each is not None and self._tasks.drives(each.root)]

    def _is_driven(self, work: UnitOfWork, row: ResourceRow) -> bool:
        return self._tasks.drives(work.stack_of(row).root)

    def _may_answer(self, row: ResourceRow, asked: _Asked) -> bool:
        return self._clock.monotonic() < asked.until and self._tasks.waits(row.id) < asked.waits

    def _poll_late(self, work: UnitOfWork, row: ResourceRow) -> _Asked:
        """Poll a late operation, unless that was done; once more where its stack has ended."""
        now, below = self._clock.monotonic(), _read_child_state(work, row)
        known = self.asked.get(_get_key(row))
        if known is not None and (known.below == below or now >= known.until):
            return known
        until = now + PATIENCE if known is None else known.until
        is_moving, waits = self._tasks.is_moving(row.id), self._tasks.waits(row.id)
        had_its_time = is_moving and work.now - (row.deadline or 0.0) <= AWAY
        if had_its_time or _is_too_late(work, row):
            return _Asked(waits, below, until)
        work.after.poke[row.id] = None
        # the end of a call that is under way is no answer to this
        return _Asked(waits + 1 + int(is_moving), below, until)


def _get_key(row: ResourceRow) -> tuple[str, float | None]:
    """Get the key that an operation keeps through all of its attempts."""
    return row.id, row.started_at


def _is_too_late(work: UnitOfWork, row: ResourceRow) -> bool:
    """Whether no poll can help: an operation below ends, or was late when it began."""
    is_late = (row.promised_deadline or 0.0) <= (row.started_at or 0.0)
    return is_late or children.find_busy_child(work, row) is not None


def _list_above(work: UnitOfWork, row: ResourceRow) -> Iterator[str]:
    """The stack of an instance, and those that it is nested in."""
    stack: StackRow | None = work.stack_of(row)
    while stack is not None:
        yield stack.id
        owner = work.tx.resource(stack.owner_resource_id or "")
        stack = None if owner is None else work.stack_of(owner)


def _ends_with_polled(work: UnitOfWork, row: ResourceRow, held: set[str]) -> bool:
    """Whether an operation ends with its stack, or with a nested one, that is polled."""
    stack, child = work.stack_of(row), children.find_busy_child(work, row)
    if stack.id in held and limits.compute_deadline(row, stack) is None:
        return True
    return child is not None and child.id in held


def _list_running(work: UnitOfWork, stacks: Iterable[StackRow]) -> list[ResourceRow]:
    return [row for stack in stacks for row in work.rows(work.tx.running(stack.id))]


def _read_child_state(work: UnitOfWork, row: ResourceRow) -> tuple[int, str]:
    """The state of the nested stack of an instance: after its end the owner can answer."""
    child = None if row.physical_id is None else work.tx.child_of(row.id)
    return (0, "") if child is None else (child.generation, child.phase)
