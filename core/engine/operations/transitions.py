"""The transitions of an instance and its operation, each as one function over rows.

Called by steps inside a transaction. Every write of a worker is fenced: it names the operation
and the fence that it took, and does nothing (``None`` / False) once somebody else took over.
"""

from __future__ import annotations

import itertools
import json

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks.records import dataclass

from ..model import causes, row_annotations
from ..model.outcomes import RESTRICTED, SUPERSEDED, Failure, Final, Prepared, Replace
from ..model.states import (
    CLEAN,
    CLEANING,
    COMPLETE,
    DIRTY,
    FAILED,
    IN_PROGRESS,
    LEAVING,
    MAKING,
    PASSING_OPERATIONS,
    POLLING,
    PRESENT,
    STARTING,
    UNHARMED,
    UP,
    check_may_follow,
)
from ..model.states import advance_state as advance
from ..model.unit_of_work import UnitOfWork
from ..model.work_item import take_desired
from ..progress import adoption, breakpoints, children, history, phases, progress
from ..progress.protection import CODE, KIND, explain_no_replacement
from . import limits, replacement

CHANGED = "state changed"


@dataclass(frozen=True, slots=True)
class Lease:
    """The lease of a worker on an operation: instance, operation, fence."""

    key: str
    op_id: str
    fence: int


def get_lease(row: ResourceRow) -> Lease:
    """The lease on the operation of ``row``."""
    assert row.op_id is not None
    return Lease(row.id, row.op_id, row.fence)


def find_leased(work: UnitOfWork, handle: Lease) -> ResourceRow | None:
    """The instance if the lease ``handle`` is still valid."""
    row = work.tx.resource(handle.key)
    if row is None or not row.op or row.op_id != handle.op_id or row.fence != handle.fence:
        return None
    return row


def begin(
    work: UnitOfWork, row: ResourceRow, op: str, prepared: Prepared | None, op_id: str | None = None
) -> None:
    """T1: store the intent, before anything is done outside.

    ``op_id``: the one that a draft of this operation has.
    """
    check_may_follow(row.action, row.status, op, suspended=bool(row.suspended))
    stack = work.stack_of(row)
    row.op_state = advance(row.op_state, "begin")
    row.op = op
    row.op_id = op_id or new_op_id(work, row, op)
    row.op_gen = stack.generation
    row.fence += 1
    row.owner = work.owner
    row.attempt = 1
    row.take_overs = 0
    row.started_at = work.now
    limit = work.now + stack.timeout_mins * 60
    row.deadline = limit if stack.deadline is None else min(limit, stack.deadline)
    row.promised_deadline = row.deadline
    row.token = None
    row.is_volatile = 0
    row.hook = ""
    row.updated_at = work.now
    if op == "SUSPEND":
        row.suspended = 1
    row_annotations.end(row, "begin", op)
    if prepared is None:
        if row.definition is not None:
            row.op_definition = row.op_properties = None
    else:
        if op == "UPDATE" and row.definition is None:
            # what a failed creation was begun with is what there is to be updated
            row.definition, row.properties = row.op_definition, row.op_properties
        row.op_hash = row.want_hash
        row.op_template_id = row.want_template_id
        row.op_definition = prepared.definition
        row.op_properties = prepared.properties
        row.hidden = merge_hidden(row.hidden, prepared.hidden)
        row.deletion_policy = prepared.deletion_policy
        row.type = prepared.type
        row.class_type = prepared.class_type
        row.op_resolved = prepared.resolved_hash
        if op == "UPDATE":
            row.cause = prepared.cause
        if prepared.metadata is not None:
            row.meta = prepared.metadata
        if prepared.external_id is not None:
            row.external_id = row.physical_id = prepared.external_id
    limits.set_limits(row, stack, work.now)
    if op != "SIGNAL":
        work.resource_event(row, op, IN_PROGRESS, CHANGED)


def new_op_id(work: UnitOfWork, row: ResourceRow, op: str) -> str:
    """A key for an operation, or for a new attempt at one."""
    return f"{row.id}-{op.lower()}-{work.stack_of(row).generation}-{work.ids()[-12:]}"


def merge_hidden(before: str, after: str) -> str:
    """The hidden names of both definitions: both are shown until an operation has ended well."""
    if before in ("{}", after):
        return after
    old, new = json.loads(before), json.loads(after)
    union = {
        key: bool(old.get(key) or new.get(key))
        if key == "reference"
        else sorted({*old.get(key, ()), *new.get(key, ())})
        for key in {**old, **new}
    }
    return json.dumps(union)


def take_over(work: UnitOfWork, row: ResourceRow) -> None:
    """T6: go on with an operation that another engine has begun."""
    row.fence += 1
    row.owner = work.owner
    if row.op_state in (STARTING, POLLING, CLEANING):
        row.take_overs += 1
    children.note_unwanted(work, row)


def record_call(work: UnitOfWork, handle: Lease, event: str = "") -> bool:
    """Record that a call has returned; ``event``: that the handler is called again, or is to be."""
    row = find_leased(work, handle)
    if row is None:
        return False
    if event:
        row.op_state = advance(row.op_state, event)
    if event == "retry":
        row.attempt += 1
    else:
        row.take_overs = 0
    return True


def record_token(
    work: UnitOfWork, handle: Lease, event: str, token: str | None, volatile: bool
) -> bool:
    """T2 and T3: store the token of the handler, before the first poll, or a changed one."""
    if not record_call(work, handle, event):
        return False
    row = find_leased(work, handle)
    assert row is not None
    row.token, row.is_volatile = token, int(volatile)
    return True


def complete(work: UnitOfWork, handle: Lease, final: Final) -> None:
    """T4 and T7: the operation ended well."""
    row = find_leased(work, handle)
    if row is None:
        return
    op = row.op
    current = _end_operation(work, row, "finished", COMPLETE, final.reason)
    if op == "DELETE":
        if not current or not breakpoints.stop_at(work, row, "post-delete"):
            remove(work, row)
        return
    changed = _store_result(row, op, final)
    if current:
        hooked = op in ("CREATE", "UPDATE")
        waits = hooked and breakpoints.stop_at(work, row, f"post-{op.lower()}")
        # another plan may end the wait, and then nobody else knows any more
        if changed and (waits or work.stack_of(row).phase != UP):
            progress.mark_dependants(work, row)
        if not waits:
            progress.close(work, row, changed=changed)
    else:
        _recheck(work, row, changed)


def _end_operation(
    work: UnitOfWork, row: ResourceRow, event: str, status: str, reason: str, *, told: bool = True
) -> bool:
    """End the operation; returns whether it was of the running plan. ``told``: with an event."""
    row.op_state = advance(row.op_state, event)
    op, row.op = row.op, ""
    if op == "RESUME" and (row.action, row.status) == ("CHECK", FAILED):
        row.have_hash = row.resolved_hash = ""  # it is not well, whatever it is shown as now
    if op not in PASSING_OPERATIONS:
        row.action, row.status, row.status_reason = op, status, reason
    if event == "finished":
        adoption.clear_annotations(work, row, op)
        if op == "RESUME":
            row.suspended = 0
    if op == "SIGNAL":  # its stack may have been idle all the time: somebody may wait for this end
        work.after.idle[row.stack_id] = None
        row.dirty = row.dirty or (DIRTY if event == "failed" else CLEAN)
        children.refresh_owner(work, row)
        if event == "failed":  # what has come and gone below by then is there, or is not
            children.request_refresh(work, row)
    progress.request_rollback(work, row)
    if row.below != row.below_seen:  # it may have been told while the operation asked already
        work.after.refresh[row.id] = None
    if event == "failed" and op == "UPDATE":
        # What there is now is unknown: no later CHECK or RESUME makes it what was wanted.
        row.have_hash = row.resolved_hash = ""
        row_annotations.end(row, "fail", op)
    row.token = None
    row.is_volatile = 0
    row.updated_at = work.now
    if told and (op, status) != ("SIGNAL", COMPLETE):  # the event of the signal itself tells of it
        work.resource_event(row, op, status, reason)
    return bool(row.open and row.op_gen == work.stack_of(row).generation)


def _store_result(row: ResourceRow, op: str, final: Final) -> bool:
    """Store the result of the operation; returns whether others may see a difference."""
    if op in PASSING_OPERATIONS and op != "SIGNAL":
        return False
    # what is managed elsewhere is taken note of by a check
    if op in MAKING or (row.definition is None and row.external_id is not None):
        take_desired(row)
        row.op_definition = row.op_properties = None
    if final.hidden is not None and op in MAKING:
        row.hidden = final.hidden
    changed = row.outputs_hash != final.outputs_hash
    row.reference = final.reference
    row.outputs = final.outputs
    row.outputs_hash = final.outputs_hash
    return changed or op in ("CREATE", "ADOPT")


def _recheck(work: UnitOfWork, row: ResourceRow, changed: bool) -> None:
    """Have the newer plan look at the instance: an operation of an older plan has ended."""
    if changed:
        progress.mark_dependants(work, row)
    if not row.open:
        return
    row.dirty = 1
    if work.stack_of(row).halted or row.open == LEAVING:
        progress.block(work, row)
    elif row.waiting == 0:
        work.look(row)


def remove(work: UnitOfWork, row: ResourceRow) -> None:
    """Delete the row, as nothing is left outside; where one is due a successor takes its place."""
    if row.want != PRESENT:
        progress.close(work, row, changed=True)
        work.tx.remove_resource(row)
    elif _is_in_running_plan(work, row):
        replacement.succeed(work, row)
    else:
        _recheck(work, row, False)


def _is_in_running_plan(work: UnitOfWork, row: ResourceRow) -> bool:
    """Whether the plan of the last operation of ``row`` is still being carried out."""
    stack = work.stack_of(row)
    return bool(row.open and row.op_gen == stack.generation and not stack.halted)


def drop_missing(work: UnitOfWork, row: ResourceRow) -> bool:
    """Drop the row of an instance that is to be deleted and was found missing; whether it was.

    What has its outside name by now may be its successor.
    """
    gone = row_annotations.has(row, row_annotations.GONE)
    kept = row_annotations.has(row, row_annotations.FORGET)  # for snapshots
    if not gone or kept or work.tx.child_of(row.id) is not None:
        return False
    work.resource_event(row, "DELETE", COMPLETE, "nothing to delete: it was found missing")
    remove(work, row)
    return True


def fail(work: UnitOfWork, handle: Lease, failure: Failure) -> None:
    """T5: the operation failed; so does the stack, if it is of the running plan."""
    row = find_leased(work, handle)
    if row is None:
        return
    told = failure.kind != SUPERSEDED or row.op == "SIGNAL"  # which no newer plan makes up for
    if told:
        history.record_failure(work, row, failure)
    abort_below(work, row, failure)
    if not _end_operation(work, row, "failed", FAILED, failure.reason, told=told):
        _recheck(work, row, False)
    elif told:
        _fail_plan(work, row, failure.reason)
    else:
        progress.block(work, row)  # its stack is superseded already


def give_up_all(work: UnitOfWork, stack: StackRow, how: str, kind: str) -> None:
    """End the running operations of a stack from outside, and those of signals below it.

    The stack has failed already.
    """
    running = work.rows(work.tx.running(stack.id))
    for row in itertools.chain(running, children.list_signalled(work, stack)):
        failure = Failure(f"{row.op} {how}", kind)
        history.record_failure(work, row, failure)
        abort_below(work, row, failure)
        _end_operation(work, row, "failed", FAILED, failure.reason)
        progress.block(work, row)
        work.stop(row)
    phases.advance_phase(work, stack)


def abort_below(work: UnitOfWork, row: ResourceRow, failure: Failure) -> None:
    """Abort the operations in the nested stack of an operation that ends from outside.

    What a newer plan of the owner overtakes goes on, as in any stack.
    """
    child = children.find_busy_child(work, row)
    if child is None or failure.kind == SUPERSEDED:
        return
    children.halt_below(work, row)
    give_up_all(work, child, "aborted with the stack above", failure.kind)


def _fail_plan(work: UnitOfWork, row: ResourceRow, reason: str) -> None:
    stack = work.stack_of(row)
    progress.fail_stack(work, stack, reason)
    if row.verb in ("CHECK", "DELETE_SNAPSHOT"):
        progress.close(work, row, changed=False)
    else:
        progress.block(work, row)


def fail_unbegun(work: UnitOfWork, row: ResourceRow, op: str, failure: Failure) -> None:
    """An operation failed before it could begin (its definition, a restriction)."""
    end_unbegun(work, row, op, failure)
    _fail_plan(work, row, failure.reason)


def end_unbegun(work: UnitOfWork, row: ResourceRow, op: str, failure: Failure) -> None:
    """Fail an instance whose operation has not begun; its stack has failed already."""
    history.record_unbegun(work, row, op, failure)
    row.action, row.status, row.status_reason = op, FAILED, failure.reason
    row.updated_at = work.now
    work.resource_event(row, op, FAILED, failure.reason)


def refuse(work: UnitOfWork, row: ResourceRow, op: str, failure: Failure) -> None:
    """Refuse the update of an instance; the instance itself stays as it is."""
    history.record_unbegun(work, row, op, failure)
    if failure.kind == RESTRICTED:
        work.resource_event(row, op, FAILED, failure.reason.rpartition(": ")[2])
    progress.fail_stack(work, work.stack_of(row), failure.reason)
    progress.block(work, row)


def record_unchanged(work: UnitOfWork, row: ResourceRow, prepared: Prepared | None = None) -> None:
    """T0: nothing is to be done; a new definition is stored where one is given."""
    if prepared is not None and prepared.definition is not None:
        row.definition, row.properties = prepared.definition, prepared.properties
        row.hidden, row.resolved_hash = prepared.hidden, prepared.resolved_hash
        row.deletion_policy = prepared.deletion_policy
        if prepared.metadata is not None:
            row.meta = prepared.metadata
    row.have_hash = row.want_hash
    row.have_template_id = row.want_template_id
    adoption.clear_annotations(work, row)
    if row.action in UNHARMED and row.status == FAILED:
        # it could not be begun (its definition), or has changed nothing (a snapshot)
        row.action, row.status, row.status_reason = "UPDATE", COMPLETE, CHANGED
        row.updated_at = work.now
        work.resource_event(row, "UPDATE", COMPLETE, CHANGED)
    progress.close(work, row, changed=False)


def replace_running(work: UnitOfWork, handle: Lease, answer: Replace) -> None:
    """Replace the instance of a running update: its handler has asked for that, or it is ready."""
    row = find_leased(work, handle)
    if row is None:
        return
    reason = explain_no_replacement(work.stack_of(row), row)
    if reason:
        fail(work, handle, Failure(reason, KIND, CODE, "handle"))
        return
    if row.op_state == POLLING:
        row.resolved_hash = ""  # something was done to it: taken back, it is updated once more
        row_annotations.remove(row, row_annotations.MISSING)
    row.op_state = advance(row.op_state, "replaced")
    row.op = ""
    row.deletion_policy = _read_deletion_policy(work, row)
    row.op_definition = row.op_properties = row.token = None
    is_ready = row_annotations.has(row, row_annotations.REPLACING)
    row_annotations.remove(row, row_annotations.REPLACING)
    cause = row.cause if is_ready else causes.format_plugin_cause(row.cause)
    if not _is_in_running_plan(work, row):
        _recheck(work, row, False)
    elif not replace(work, row, cause, prepares=answer.prepares):
        work.look(row)


def replace(work: UnitOfWork, row: ResourceRow, cause: str, *, prepares: bool) -> bool:
    """Make a successor of ``row``; False where something is done to ``row`` itself before.

    What was never completed goes first: where both are the same thing outside, to remove it later
    would remove what was made in its place. ``prepares``: else it is made ready first.
    """
    if replacement.must_wait(work, row):
        return True
    is_removed = replacement.is_removed_first(row)
    if not is_removed and not (prepares and replacement.is_prepared_first(row)):
        replacement.insert_successor(work, row, cause)
        return True
    row.cause = cause
    if not is_removed:
        begin(work, row, "UPDATE", None)
        row_annotations.annotate(row, row_annotations.REPLACING)
        row_annotations.annotate(row, row_annotations.PREPARED)
        return False
    row_annotations.annotate(row, row_annotations.REMOVING)
    if (row.action, row.status) == ("DELETE", COMPLETE):
        replacement.succeed(work, row)
        return True
    if not breakpoints.stop_at(work, row, "pre-delete"):
        begin(work, row, "DELETE", None)
    return False


def _read_deletion_policy(work: UnitOfWork, row: ResourceRow) -> str:
    """The deletion policy of the present definition, not of the successor's."""
    known = work.sealer.load(row.definition) or {}
    return str(known.get("deletion_policy", row.deletion_policy))


def has_adopted_below(work: UnitOfWork, row: ResourceRow) -> bool:
    """Whether an instance has a nested stack that is being adopted: its members know themselves."""
    if not row_annotations.is_adopting(row) or row.deletion_policy == "Retain":
        return False
    return work.tx.child_of(row.id) is not None


def leave_alone(work: UnitOfWork, row: ResourceRow) -> None:
    """Delete only the row of an instance that stays outside (retained, external)."""
    if row.fence:
        children.detach(work, row)
    if row.action != "INIT":
        work.resource_event(row, "DELETE", COMPLETE, CHANGED)
    progress.close(work, row, changed=True)
    work.tx.remove_resource(row)
