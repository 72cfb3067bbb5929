"""Ends that do not come from the work itself: deadlines, and a user who cancels."""

from __future__ import annotations

import json

from zonda.core.store.rows import ResourceRow, StackRow

from . import phases, release, transitions
from .outcome import Failure
from .states import IDLE, OPEN, PRESENT
from .work import Work, failures

CANCELLED = "User cancelled operation"


def operation_timed_out(work: Work, key: str) -> None:
    """Fail an operation that is past its deadline."""
    row = work.tx.resource(key)
    if row is None or not row.op or row.deadline is None or row.deadline >= work.now:
        return
    reason = f"ResourceFailure: resources.{row.name}: {row.op} timed out"
    transitions.failed(work, transitions.held(row), Failure(reason))
    work.after.stop[key] = None


def broke(work: Work, key: str, why: str) -> None:
    """Fail what was to be done with an instance whose step died; ``why``: of what."""
    row = work.tx.resource(key)
    if row is None:
        return
    op = row.op or row.verb or ("DELETE" if row.want != PRESENT else "")
    op = op or ("CREATE" if row.action == "INIT" else "UPDATE")
    text = f"{op} was broken off by a fault ({why}); the log tells more"
    reason = f"ResourceFailure: resources.{row.name}: {text}"
    if row.op:
        transitions.failed(work, transitions.held(row), Failure(reason))
    elif row.open == OPEN:
        transitions.could_not(work, row, op, reason)


def stack_timed_out(work: Work, stack_id: str) -> None:
    """Fail an action that is past its deadline, and every operation of it."""
    stack = work.tx.stack(stack_id)
    if stack is None or stack.phase == IDLE or stack.next_action:
        return
    if stack.deadline is None or stack.deadline >= work.now:
        return
    release.fail_stack(work, stack, f"{stack.action.title()} timed out")
    release.halt(work, stack)
    for key in work.tx.running(stack.id):
        row = work.tx.resource(key)
        if row is not None:
            _abort(work, row)
    phases.turn(work, stack)


def _abort(work: Work, row: ResourceRow) -> None:
    transitions.give_up(work, row, f"{row.op} aborted (stack timed out)")
    work.after.stop[row.id] = None


def cancel(work: Work, stack: StackRow) -> None:
    """Start nothing more; what runs ends, then the action has failed."""
    stack.failures = json.dumps([CANCELLED, *failures(stack)])
    stack.next_action = ""
    release.halt(work, stack)
    phases.turn(work, stack)


def no_rollback(work: Work, stack_id: str, why: str) -> None:
    """The rollback cannot be planned: the failed action ends without it."""
    stack = work.tx.stack(stack_id)
    if stack is not None and stack.next_action:
        stack.next_action = ""
        stack.failures = json.dumps([*failures(stack), f"rollback impossible: {why}"])
        phases.turn(work, stack)
