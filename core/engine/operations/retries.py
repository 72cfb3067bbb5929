"""More than one attempt at an operation: the pause after a failed one, then the next.

What is due is stored before each pause, so that a crash neither shortens nor forgets it. A next
attempt is either the same once more (``SAME``: nobody knows what became of the first, so the key
stays) or a new one (``NEW``: it has failed for sure, so the key changes), and a creation that has
left something behind has that removed first. Called by steps;
``docs/explanation/crash-safety.md`` says why.
"""

from __future__ import annotations

import dataclasses

from zonda.core.store.schema.rows import ResourceRow, StackRow, copied

from ..model import row_annotations
from ..model.outcomes import NO, SAME, Answer, Failure
from ..model.states import BACKOFF, CLEANING, IN_PROGRESS, RETRY
from ..model.states import next_operation_state as advance
from ..model.unit_of_work import UnitOfWork
from ..model.work_item import WorkItem
from ..progress import failures
from . import transitions
from .transitions import Lease

#: Seconds between two attempts at most, and by which part the pause varies by chance.
LONGEST_PAUSE = 300.0
SPREAD = 0.2


def is_one_of_several(row: ResourceRow, answer: Answer) -> bool:
    """Whether an answer is the failure of an attempt after which there may be another one."""
    return isinstance(answer, Failure) and row.most_attempts > 1 and answer.again != NO


def is_put_off(row: ResourceRow) -> bool:
    """Whether an operation is between two attempts."""
    return row.op_state in (BACKOFF, CLEANING) or (
        row.op_state == RETRY and row.retry_at is not None
    )


def pause_after(row: ResourceRow, chance: float) -> float:
    """Seconds before the next attempt, after so many have failed; ``chance`` from 0 to 1."""
    doubled = row.retry_delay * 2.0 ** min(row.failed_attempts - 1, 64)
    return min(doubled, LONGEST_PAUSE) * (1 + SPREAD * (2 * chance - 1))


# -- in a transaction -----------------------------------------------------------------------------


def put_off(
    work: UnitOfWork, handle: Lease, failure: Failure, chance: float, carried: str | None = None
) -> WorkItem | None:
    """Note that an attempt has failed; None if that was the last one, or somebody took over.

    ``carried``: what the next one need not do again.
    """
    row = transitions.fenced(work, handle)
    if row is None:
        return None
    row.failed_attempts += 1
    row.take_overs = 0
    counted = f"attempt {row.failed_attempts} of {row.most_attempts}"
    until = work.now + pause_after(row, chance)
    last = row.failed_attempts >= row.most_attempts or failure.again == NO
    if last or _is_over(work.stack_of(row), row) or until >= (row.deadline or until + 1):
        reason = f"{failure.reason} ({counted})"
        transitions.failed(work, handle, dataclasses.replace(failure, reason=reason))
        return None
    failures.note(work, row, failure)
    row.op_state = advance(row.op_state, "again" if failure.again == SAME else "put off")
    row.token, row.is_volatile, row.retry_at = carried, 0, until
    row.status_reason = f"{counted} failed: {failure.reason}"
    said = f"{row.status_reason}; the next one in {until - work.now:.1f} s"
    work.resource_event(row, row.op, IN_PROGRESS, said)
    return _seen(work, row)


def go_on(work: UnitOfWork, handle: Lease, is_due: bool) -> WorkItem | None:
    """Store what is done next, if its time has come; None if there is nothing more to be done."""
    row = transitions.fenced(work, handle)
    if row is None:
        return None
    # a removal that has been begun is carried to its end: what it leaves is not what was there
    if _is_over(work.stack_of(row), row) and row.op_state != CLEANING:
        transitions.failed(work, handle, Failure(row.status_reason))
        return None
    if row.op_state == RETRY and is_due:
        row.op_state = advance(row.op_state, "retry")
        _begin_attempt(work, row)
    elif row.op_state != RETRY and is_due and _has_left_something(row):
        row.op_state = advance(row.op_state, "clean")
        row.op_id = transitions.new_op_id(work, row, "DELETE")
        # known however the operation ends: by a deadline, say
        row_annotations.hand(row, row_annotations.text(work.sealer, row_annotations.REMOVING, {}))
        text = f"removing what attempt {row.failed_attempts} has left"
        work.resource_event(row, row.op, IN_PROGRESS, text)
    elif row.op_state != RETRY and is_due:
        _begin_anew(work, row)
    return _seen(work, row)


def cleaned(work: UnitOfWork, handle: Lease) -> WorkItem | None:
    """Nothing is left of the attempt before: begin the next one."""
    row = transitions.fenced(work, handle)
    if row is None:
        return None
    row.physical_id = None
    row_annotations.drop(row, row_annotations.REMOVING)
    for name, _, _ in work.tx.data(row.id):
        work.tx.drop_data(row.id, name)
    if _is_over(work.stack_of(row), row):
        transitions.failed(work, handle, Failure(row.status_reason))
        return None
    _begin_anew(work, row)
    return _seen(work, row)


def _has_left_something(row: ResourceRow) -> bool:
    return row.op == "CREATE" and row.physical_id is not None


def _begin_anew(work: UnitOfWork, row: ResourceRow) -> None:
    row.op_state = advance(row.op_state, "retry")
    row.op_id = transitions.new_op_id(work, row, row.op)
    _begin_attempt(work, row)


def _begin_attempt(work: UnitOfWork, row: ResourceRow) -> None:
    row.attempt += 1
    row.take_overs = 0
    row.retry_at = None
    text = f"attempt {row.failed_attempts + 1} of {row.most_attempts}"
    work.resource_event(row, row.op, IN_PROGRESS, text)


def _is_over(stack: StackRow, row: ResourceRow) -> bool:
    """Whether nothing more is to be begun for the plan that the operation is of."""
    return bool(stack.halted or row.op_gen != stack.generation)


def _seen(work: UnitOfWork, row: ResourceRow) -> WorkItem:
    return WorkItem(copied(row), work.stack_of(row), work.tx.data(row.id), fresh=True)
