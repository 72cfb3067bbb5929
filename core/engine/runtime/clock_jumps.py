"""Jumps of the wall clock (it is set, or the machine sleeps): stored times move with it.

A time that is waited for is stored by the wall clock, since it has to outlive the process. Between
two transactions the wall clock goes on by as much as the monotonic one; where it does not, all such
times move by the difference: nothing is over early, and nothing is waited for longer. What an
earlier process has begun in what is the future by now begins now.

Called by drivers at the beginning of every transaction, so that what begins in it is not moved.
"""

from __future__ import annotations

from math import inf

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.core.template.environment import policies
from zonda.hooks.context import Clock

from ..model.unit_of_work import UnitOfWork

#: Seconds by which the clocks may differ between two looks without a jump.
LEAST = 5.0


class Jumps:
    """The state of the clocks. ``offset``: the wall clock less the monotonic one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._offset: float | None = None

    def look(self, work: UnitOfWork) -> float:
        """Move the stored times after a jump; returns the offset, for ``looked``."""
        offset = self._clock.now() - self._clock.monotonic()
        if self._offset is None:
            _move_all(work, 0.0, work.tx.list_begun_after(work.now))
        elif abs(offset - self._offset) < LEAST:
            return self._offset
        else:
            running = work.tx.overdue(inf)
            _move_all(work, offset - self._offset, running)
            work.after.poke.update(dict.fromkeys(running))
        return offset

    def keep_offset(self, offset: float) -> None:
        """Keep the offset: its transaction is committed."""
        self._offset = offset


def _move_all(work: UnitOfWork, jump: float, running: list[str]) -> None:
    for key in work.tx.overdue_stacks(inf):
        stack = work.tx.stack(key)
        if stack is not None:
            _move_action(work, stack, jump)
    for row in work.rows(running):
        _move_operation(work, row, jump)
    for row in work.rows(work.tx.list_overdue_breakpoints(inf)):
        _move_breakpoint(work, row, jump)


def _move_action(work: UnitOfWork, stack: StackRow, jump: float) -> None:
    if stack.deadline is not None:
        stack.deadline = min(stack.deadline + jump, work.now + stack.timeout_mins * 60)


def _move_operation(work: UnitOfWork, row: ResourceRow, jump: float) -> None:
    if row.deadline is not None:
        longest = (row.promised_deadline or row.deadline) - (row.started_at or 0.0)
        row.deadline = min(row.deadline + jump, work.now + longest)
    if row.retry_at is not None:  # after a sleep nobody has to wait for another attempt
        row.retry_at += min(jump, 0.0)


def _move_breakpoint(work: UnitOfWork, row: ResourceRow, jump: float) -> None:
    if row.hook_until is not None:
        known = policies.parse_policies(work.stack_of(row).policies)
        longest = known.wait(row.name, row.type, row.hook)
        latest = inf if longest is None else work.now + longest
        row.hook_until = min(row.hook_until + jump, latest)
