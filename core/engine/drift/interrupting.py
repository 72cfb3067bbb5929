"""Interrupts the checks of an engine that has ended; called when an engine starts.

Called by the engines, so that it imports nothing of what a check takes.
"""

from __future__ import annotations

from collections.abc import Sequence

from zonda.core.store.schema.rows import DriftCheckRow
from zonda.core.store.schema.words import DRIFTED, INTERRUPTED, MISSING, SCHEDULE

from ..model.unit_of_work import UnitOfWork

#: The most immediate restarts in a row of a check whose process has ended before it.
MOST_INTERRUPTIONS = 3


def interrupt(work: UnitOfWork, row: DriftCheckRow) -> None:
    """Store that a check was interrupted; the check of a schedule is due again at once.

    Where that has happened again and again it is due when the schedule says: what it looks at may
    be what ends the process, and everything else goes on in between.
    """
    row.ended_at, row.status = work.now, INTERRUPTED
    row.reason = "the engine that ran it has ended"
    if not work.tx.drift.end_check(row):
        return
    stack = work.tx.stack(row.stack_id)
    newest = work.tx.drift.list_newest(row.stack_id, MOST_INTERRUPTIONS + 1)
    if len(newest) > MOST_INTERRUPTIONS and all(each.status == INTERRUPTED for each in newest):
        return
    if row.cause == SCHEDULE and stack is not None and stack.drift_next is not None:
        stack.drift_next = work.now


def interrupt_all(work: UnitOfWork) -> None:
    """Interrupt every running check: the engine that ran it has ended."""
    for row in work.tx.drift.all_running():
        interrupt(work, row)
    for stack_id in work.tx.drift.list_repaired():
        _schedule_repair(work, stack_id)


def interrupt_trees(work: UnitOfWork, roots: Sequence[str]) -> None:
    """Interrupt the running checks of trees: the members that ran them have ended."""
    for row in work.tx.drift.list_running(roots):
        interrupt(work, row)
    for stack_id in work.tx.drift.list_repaired():
        if stack_id in roots:
            _schedule_repair(work, stack_id)


def _schedule_repair(work: UnitOfWork, stack_id: str) -> None:
    """Have a stack checked at once whose check by schedule was not repaired."""
    stack, last = work.tx.stack(stack_id), work.tx.drift.last(stack_id)
    if stack is None or last is None or last.cause != SCHEDULE:
        return
    if last.verdict in (DRIFTED, MISSING) and last.generation == stack.generation:
        stack.drift_next = work.now
