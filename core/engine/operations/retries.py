"""The attempts of an operation: the pause after a failed one, then the next.

What is due is stored before each pause, so that a crash neither shortens nor forgets it. A next
attempt is either the same once more (``SAME``: nobody knows what became of the first, so the key
stays) or a new one (``NEW``: it has failed for sure, so the key changes), and a creation that has
left something behind has that removed first. ``docs/explanation/crash-safety.md`` says why.
"""

from __future__ import annotations

from zonda.core.store.schema.rows import ResourceRow, StackRow, copy_row
from zonda.hooks import records

from ..model import row_annotations
from ..model.outcomes import NO, SAME, Answer, Failure
from ..model.states import BACKOFF, CLEANING, IN_PROGRESS, RETRY
from ..model.states import advance_state as advance
from ..model.unit_of_work import UnitOfWork
from ..model.work_item import WorkItem
from ..progress import history
from . import transitions
from .transitions import Lease

#: Seconds between two attempts at most, and by which part the pause varies by chance.
LONGEST_PAUSE = 300.0
SPREAD = 0.2


def may_retry(row: ResourceRow, answer: Answer) -> bool:
    """Whether an answer is a failure after which there may be another attempt."""
    return isinstance(answer, Failure) and row.most_attempts > 1 and answer.again != NO


def is_put_off(row: ResourceRow) -> bool:
    """Whether an operation is between two attempts."""
    return row.op_state in (BACKOFF, CLEANING) or (
        row.op_state == RETRY and row.retry_at is not None
    )


def compute_pause(row: ResourceRow, chance: float) -> float:
    """Seconds before the next attempt, after so many have failed; ``chance`` from 0 to 1."""
    doubled = row.retry_delay * 2.0 ** min(row.failed_attempts - 1, 64)
    return min(doubled, LONGEST_PAUSE) * (1 + SPREAD * (2 * chance - 1))


# -- in a transaction -----------------------------------------------------------------------------


def postpone(
    work: UnitOfWork, handle: Lease, failure: Failure, chance: float, carried: str | None = None
) -> WorkItem | None:
    """Note that an attempt has failed; None if it was the last one, or the lease is lost.

    ``carried``: what the next one need not do again.
    """
    row = transitions.find_leased(work, handle)
    if row is None:
        return None
    row.failed_attempts += 1
    row.take_overs = 0
    counted = f"attempt {row.failed_attempts} of {row.most_attempts}"
    until = work.now + compute_pause(row, chance)
    last = row.failed_attempts >= row.most_attempts or failure.again == NO
    if last or _is_over(work.stack_of(row), row) or until >= (row.deadline or until + 1):
        reason = f"{failure.reason} ({counted})"
        transitions.fail(work, handle, records.replace(failure, reason=reason))
        return None
    history.record_failure(work, row, failure)
    row.op_state = advance(row.op_state, "again" if failure.again == SAME else "put off")
    row.token, row.is_volatile, row.retry_at = carried, 0, until
    row.status_reason = f"{counted} failed: {failure.reason}"
    said = f"{row.status_reason}; the next one in {until - work.now:.1f} s"
    work.resource_event(row, row.op, IN_PROGRESS, said)
    return _build_seen(work, row)


def continue_attempts(work: UnitOfWork, handle: Lease, is_due: bool) -> WorkItem | None:
    """Store the next step of an operation, if it is due; None if there is none."""
    row = transitions.find_leased(work, handle)
    if row is None:
        return None
    # a removal that has been begun is carried to its end: what it leaves is not what was there
    if _is_over(work.stack_of(row), row) and row.op_state != CLEANING:
        transitions.fail(work, handle, Failure(row.status_reason))
        return None
    if row.op_state == RETRY and is_due:
        row.op_state = advance(row.op_state, "retry")
        _begin_attempt(work, row)
    elif row.op_state != RETRY and is_due and _needs_cleanup(row):
        row.op_state = advance(row.op_state, "clean")
        row.op_id = transitions.new_op_id(work, row, "DELETE")
        # known however the operation ends: by a deadline, say
        row_annotations.annotate(row, row_annotations.REMOVING)
        text = f"removing what attempt {row.failed_attempts} has left"
        work.resource_event(row, row.op, IN_PROGRESS, text)
    elif row.op_state != RETRY and is_due:
        _begin_with_new_id(work, row)
    return _build_seen(work, row)


def begin_after_cleanup(work: UnitOfWork, handle: Lease) -> WorkItem | None:
    """Begin the next attempt: the remains of the last one are deleted."""
    row = transitions.find_leased(work, handle)
    if row is None:
        return None
    row.physical_id = None
    row_annotations.end(row, "clean")
    for name, _, _ in work.tx.data(row.id):
        work.tx.drop_data(row.id, name)
    if _is_over(work.stack_of(row), row):
        transitions.fail(work, handle, Failure(row.status_reason))
        return None
    _begin_with_new_id(work, row)
    return _build_seen(work, row)


def _needs_cleanup(row: ResourceRow) -> bool:
    return row.op == "CREATE" and row.physical_id is not None


def _begin_with_new_id(work: UnitOfWork, row: ResourceRow) -> None:
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
    """Whether the plan of the operation begins nothing more."""
    return bool(stack.halted or row.op_gen != stack.generation)


def _build_seen(work: UnitOfWork, row: ResourceRow) -> WorkItem:
    return WorkItem(copy_row(row), work.stack_of(row), work.tx.data(row.id), fresh=True)
