"""The progress of a plan: an instance is closed, and those that waited for it are released.

``waiting`` counts the open neighbours that come first in the running phase: requirements going
UP, dependants going DOWN. ``remaining`` counts the open instances of the stack; whoever closes
the last one turns the phase. ``dirty`` outlives a plan that was halted, so the next plan knows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from zonda.core.store.schema.rows import ResourceRow, StackRow

from ..model import row_annotations
from ..model.states import (
    CLEAN,
    CLOSED,
    DIRTY,
    FAILED,
    LEAVING,
    MARKED,
    OPEN,
    PASSING_OPERATIONS,
    PRESENT,
    UNDONE,
    UP,
    USER_CANCELLED,
)
from ..model.unit_of_work import UnitOfWork, read_failures
from . import children, phases

#: The failure of an action that the user has cancelled.
CANCELLED = USER_CANCELLED
#: The most reasons that a stack keeps of one action: the list is read and written at each failure.
MOST_REASONS = 100
MORE = "and more: each resource has its own reason"


def close(work: UnitOfWork, row: ResourceRow, *, changed: bool) -> None:
    """Take ``row`` out of the plan and release those that waited for it.

    A neighbour that is released by its last one and has nothing to do is closed in the same
    transaction.
    """
    stack = work.stack_of(row)
    pending = [(row, changed)]
    while pending:
        row, changed = pending.pop()
        if row.open:
            _take_out(work, stack, row)
            _release(work, stack, row, changed, pending)
    phases.advance_phase(work, stack)


def _take_out(work: UnitOfWork, stack: StackRow, row: ResourceRow) -> None:
    row.open = 0
    row.hook = ""
    stack.remaining -= 1
    if row.verb:
        if row.verb not in PASSING_OPERATIONS:  # who was not reached is not done with this plan
            row.generation = stack.generation
        row.verb = ""
    elif row.want == PRESENT:
        row.dirty = DIRTY if row.dirty == MARKED else CLEAN
        if stack.generation > 1:  # the first plan has nothing that is to go
            work.tx.drop_edges_to_absent(row)


def _release(
    work: UnitOfWork,
    stack: StackRow,
    row: ResourceRow,
    changed: bool,
    pending: list[tuple[ResourceRow, bool]],
) -> None:
    if _is_removed_first(stack, row) and _has_other_removals(work, row):
        return
    for other in neighbours(work, stack, row):
        if changed:
            other.dirty = other.dirty or DIRTY
        if other.open and other.waiting > 0:
            other.waiting -= 1
            if other.waiting == 0:
                if has_work(other):
                    work.look(other)
                else:
                    pending.append((other, False))


def has_work(row: ResourceRow) -> bool:
    """Whether a step must look at an open instance that waits for nothing."""
    return bool(row.dirty or row.op or row.verb or row.want != PRESENT)


def _waits_for_attempts(row: ResourceRow) -> bool:
    """Whether ``row`` waits for the removal of attempts."""
    begun = row_annotations.get(row, row_annotations.ATTEMPT) == row_annotations.WAITS
    return bool(begun and row.open and row.waiting)


def neighbours(work: UnitOfWork, stack: StackRow, row: ResourceRow) -> Iterator[ResourceRow]:
    """The instances that come after ``row`` in the running phase and have the same aim."""
    if _is_removed_first(stack, row):
        yield from filter(_waits_for_attempts, work.tx.resources_of(row.stack_id))
        return
    ids = work.tx.dependants(row) if stack.phase == UP else work.tx.requirements(row)
    yield from (other for other in work.rows(ids) if other.want == row.want)


def _is_removed_first(stack: StackRow, row: ResourceRow) -> bool:
    """Whether ``row`` is removed before others are made."""
    return stack.phase == UP and row.want != PRESENT


def _has_other_removals(work: UnitOfWork, row: ResourceRow) -> bool:
    """Whether other instances are still to be removed before others are made."""
    others = work.rows(work.tx.list_absent(row.stack_id))
    return any(other.open and other.id != row.id for other in others)


def remove_now(work: UnitOfWork, row: ResourceRow) -> None:
    """Have ``row``, which is to go, removed before others are made."""
    if row.open:
        return
    stack = work.stack_of(row)
    row.open, row.waiting, row.generation = OPEN, 0, stack.generation
    stack.remaining += 1
    if not row.op:
        work.look(row)


def mark_dependants(work: UnitOfWork, row: ResourceRow) -> None:
    """Mark the dependants of ``row``, whose attributes have changed outside the plan.

    Nobody reads what is to go any more, although edges to it stay until their users have moved on.
    """
    for other in work.rows(work.tx.dependants(row)) if row.want == PRESENT else ():
        if other.want == PRESENT:
            other.dirty = MARKED if other.open else DIRTY


def block(work: UnitOfWork, row: ResourceRow) -> None:
    """Take ``row``, which failed, and everything that waits for it out of the plan.

    What still runs (an operation of an older plan) leaves when that ends.
    """
    stack = work.stack_of(row)
    pending = [row]
    while pending:
        row = pending.pop()
        if row.open == OPEN or (row.open and not row.op):
            pending.extend(other for other in neighbours(work, stack, row) if other.waiting > 0)
            row.verb = ""
            row.open = LEAVING if row.op else CLOSED
            stack.remaining -= int(not row.op)
            if not row.op:  # a breakpoint that was cleared for this plan is none for the next one
                row.hook, row.hook_until = "", None
    phases.advance_phase(work, stack)


def fail_stack(work: UnitOfWork, stack: StackRow, reason: str) -> None:
    """Note that the running action fails; with rollback on nothing more is started.

    What the user has cancelled is not rolled back.
    """
    known = read_failures(stack)
    if len(known) <= MOST_REASONS:
        known.append(reason if len(known) < MOST_REASONS else MORE)
        stack.failures = json.dumps(known)
    if CANCELLED in known:
        return
    if stack.action in UNDONE and not stack.disable_rollback:
        if not stack.next_action:
            work.stack_state(stack, FAILED, phases.format_failure(stack))
        stack.next_action = "ROLLBACK"
        work.after.plan[stack.id] = None
        children.halt(work, stack)


def request_rollback(work: UnitOfWork, row: ResourceRow) -> None:
    """An operation has ended: a rollback that is owed may have waited for that."""
    stack = work.stack_of(row)
    root = work.tx.stack(stack.root) if stack.halted else None
    if root is not None and root.next_action:
        work.after.plan[root.id] = None
