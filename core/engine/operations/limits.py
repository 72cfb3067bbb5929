"""The limits of one operation: its time, and the number of its attempts.

Read from the stack's policies when the operation begins; a newer plan does not change them. The
time is that of the whole operation, all attempts and the pauses between them.
"""

from __future__ import annotations

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.core.template.environment import policies

from ..model.outcomes import TIMED_OUT, Failure


def set_limits(row: ResourceRow, stack: StackRow, now: float) -> None:
    """Set the limits of the operation that has just begun on ``row``, whose deadline is set."""
    row.failed_attempts, row.most_attempts, row.retry_delay, row.retry_at = 0, 1, 0.0, None
    if not stack.policies:
        return
    known, action = policies.parse_policies(stack.policies), row.op.lower()
    seconds = known.timeout(row.name, row.type, action)
    if seconds is not None:
        row.deadline = now + seconds if row.deadline is None else min(row.deadline, now + seconds)
        row.promised_deadline = row.deadline
    retry = known.retry(row.name, row.type, action)
    row.most_attempts, row.retry_delay = retry.attempts, retry.delay


def compute_deadline(row: ResourceRow, stack: StackRow) -> float | None:
    """The deadline of an operation before that of its stack; None without one."""
    if row.deadline is None or (stack.deadline is not None and row.deadline >= stack.deadline):
        return None
    return row.deadline


def build_timeout(row: ResourceRow) -> Failure:
    """The failure of an operation that is past its deadline."""
    took = round((row.promised_deadline or 0.0) - (row.started_at or 0.0), 3)
    reason = f"ResourceFailure: resources.{row.name}: {row.op} timed out after {took:.10g} s"
    return Failure(reason, TIMED_OUT)
