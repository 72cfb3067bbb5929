"""Ends of operations from outside: deadlines, and cancellation by a user.

Who cancels or rolls back does not wait for ever for what still runs: after a grace it is told to
stop (``handle_X_cancel``) and has failed. A deletion stops it as soon as no call of it is out. No
limit is stored for that beside what a stack has anyway, and an operation's own deadline stays what
it was: requests must not change when they are sent again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Protocol

from zonda.core.store.schema.rows import ResourceRow, StackRow

from ..model.outcomes import BROKEN, CANCELLED, STACK_TIMED_OUT, SUPERSEDED, Failure
from ..model.states import IDLE, OPEN, PRESENT
from ..model.unit_of_work import Notice, UnitOfWork, read_failures
from ..progress import children, phases, progress
from . import limits, transitions


def fail_overdue(work: UnitOfWork, key: str) -> None:
    """Fail an operation that is past its deadline."""
    row = work.tx.resource(key)
    if row is None or not row.op or row.deadline is None or row.deadline >= work.now:
        return
    transitions.fail(work, transitions.get_lease(row), limits.build_timeout(row))
    work.stop(row)


def fail_broken(work: UnitOfWork, key: str, why: str, code: str = "") -> None:
    """Fail the operation of an instance whose step raised an error; ``why``: its message.

    ``code``: that of an error that is no fault of zonda or of a plug-in, such as a type that is not
    installed any more.
    """
    row = work.tx.resource(key)
    if row is None:
        return
    op = row.op or _name_unbegun(row)
    text = f"{op} was broken off by a fault ({why}); the log tells more"
    reason = f"ResourceFailure: resources.{row.name}: {why if code else text}"
    failure = Failure(reason, code=code) if code else Failure(reason, BROKEN)
    if row.op:
        transitions.fail(work, transitions.get_lease(row), failure)
    elif row.open == OPEN:
        transitions.fail_unbegun(work, row, op, failure)


def _name_unbegun(row: ResourceRow) -> str:
    """The operation that an instance in the plan has yet to begin."""
    op = row.verb or ("DELETE" if row.want != PRESENT else "")
    return op or ("CREATE" if row.action == "INIT" else "UPDATE")


def fail_overdue_stack(work: UnitOfWork, stack_id: str, moving: Iterable[str] = ()) -> None:
    """Fail an action that is past its deadline, and every operation of it.

    ``moving``: the instances that are worked on. Those of the stack that have no operation yet
    are what it has waited for as well: a call that works them out has not come back.
    """
    stack = work.tx.stack(stack_id)
    if stack is None or stack.phase == IDLE or stack.next_action:
        return
    if stack.deadline is None or stack.deadline >= work.now:
        return
    unbegun = [row for row in work.rows(moving) if _is_unbegun(row, stack)]
    kind, how = CANCELLED, "cancelled"
    if not is_cancelled(stack):
        kind, how = STACK_TIMED_OUT, "aborted (stack timed out)"
        progress.fail_stack(work, stack, phases.format_timeout(stack.action))
    children.halt(work, stack)
    for row in unbegun:
        op = _name_unbegun(row)
        transitions.end_unbegun(work, row, op, Failure(f"{op} {how}", kind))
    transitions.give_up_all(work, stack, how, kind)


def _is_unbegun(row: ResourceRow, stack: StackRow) -> bool:
    return row.stack_id == stack.id and row.open == OPEN and not row.op


class Running(Protocol):
    """The steps that this process runs, by the ids of their instances."""

    def is_busy(self, key: str) -> bool:
        """Whether a step of this instance is running."""

    def is_moving(self, key: str) -> bool:
        """Whether it is, and does not wait for its time."""


def stop_superseded(work: UnitOfWork, stack: StackRow, running: Running, grace: float) -> bool:
    """Fail the operations that a deletion or a rollback has waited for long enough.

    A deletion waits only for calls that are out. Of the others it is told that they are waited for.
    Gives whether there were any.
    """
    until = compute_wait_end(stack, grace)
    found = False
    for row in work.rows(work.tx.running(stack.id)):
        if row.op_gen >= stack.generation and not is_cancelled(stack):
            continue
        found = True
        if until is None or not running.is_busy(row.id):
            continue
        if until < work.now:
            _stop(work, row)
        elif not stop_unwanted(work, row.id, running):
            text = f"waiting for {row.op} to end; it is cancelled after {grace:g} s"
            work.after.say.append(Notice(row.stack_id, None, row.name, text, row.started_at))
    return found


def stop_unwanted(work: UnitOfWork, key: str, running: Running) -> bool:
    """Fail the operation that a deletion waits for, unless a call of it is out; tell whether.

    That of an owner ends with what runs below it.
    """
    row = work.tx.resource(key)
    if row is None or not row.op or not children.is_unwanted(work, row):
        return False
    is_waiting = running.is_busy(key) and not running.is_moving(key)
    if not is_waiting or children.find_busy_child(work, row) is not None:
        return False
    is_nested = work.stack_of(row).owner_resource_id is not None
    _stop(work, row, SUPERSEDED if is_nested else CANCELLED)  # below, nothing fails by a newer plan
    return True


def _stop(work: UnitOfWork, row: ResourceRow, kind: str = CANCELLED) -> None:
    failure = Failure(f"{row.op} cancelled", kind)
    transitions.fail(work, transitions.get_lease(row), failure)
    work.stop(row)


def is_cancelled(stack: StackRow) -> bool:
    """Whether the user has cancelled the running action."""
    return progress.CANCELLED in read_failures(stack)


def compute_wait_end(stack: StackRow, grace: float) -> float | None:
    """The time until which a stack waits for operations of older plans; None: without end."""
    if stack.phase == IDLE or stack.deadline is None:
        return None
    if stack.action in ("DELETE", "ROLLBACK"):
        return stack.deadline - stack.timeout_mins * 60 + grace
    return stack.deadline if is_cancelled(stack) else None


def cancel(work: UnitOfWork, stack: StackRow, grace: float) -> None:
    """Start nothing more; what runs ends within ``grace`` seconds, then the action fails."""
    limit = work.now + grace
    stack.deadline = limit if stack.deadline is None else min(stack.deadline, limit)
    stack.failures = json.dumps([progress.CANCELLED, *read_failures(stack)])
    stack.next_action = ""
    children.halt(work, stack)
    cancel_signalled(work, stack, grace)
    phases.advance_phase(work, stack)


def cancel_signalled(work: UnitOfWork, root: StackRow, grace: float) -> bool:
    """Cancel operations that signals have begun in a stack and below it.

    What runs there ends within ``grace`` seconds. Gives whether there was anything.
    """
    begun = work.tx.list_of_tree("signalled", root.id)
    for row in begun:
        limit = work.now + grace
        row.deadline = limit if row.deadline is None else min(row.deadline, limit)
        if children.find_busy_child(work, row) is not None:
            children.halt_below(work, row)
        else:  # it is about to begin something there
            _stop(work, row)
    return bool(begun)


def end_without_rollback(work: UnitOfWork, stack_id: str, why: str) -> None:
    """End the failed action: its rollback cannot be planned."""
    stack = work.tx.stack(stack_id)
    if stack is not None and stack.next_action:
        stack.next_action = ""
        stack.failures = json.dumps([*read_failures(stack), phases.NO_ROLLBACK + why])
        phases.advance_phase(work, stack)
