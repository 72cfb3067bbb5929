"""The phases of a stack's action: up the graph, the barrier, clean-up down the graph, the end."""

from __future__ import annotations

import json
from collections.abc import Collection

from zonda.core.graph.digraph import count_waiting, find_reachable, group_targets
from zonda.core.store.schema.rows import ResourceRow, StackRow

from ..model import row_annotations
from ..model.states import (
    CANCELLED,
    COMPLETE,
    DOWN,
    FAILED,
    IDLE,
    PRESENT,
    SUPERSEDED,
    TIMED_OUT,
    UP,
    USER_CANCELLED,
)
from ..model.unit_of_work import UnitOfWork, read_failures
from . import adoption, history, partial, protection, snapshots

#: The text of a failure where a rollback was wanted too.
NO_ROLLBACK = "rollback impossible: "
#: The failure of an action of a nested stack where the stack above has a newer plan. Nobody is told
#: of it: what is wanted now is what counts.
NEWER_PLAN = "Superseded by a newer plan of the stack above"
#: Actions that end with the deletion of what the template no longer has.
CLEANING = frozenset({"CREATE", "ADOPT", "UPDATE", "ROLLBACK", "RESTORE", "DELETE"})


def advance_phase(work: UnitOfWork, stack: StackRow) -> None:
    """Begin the next phase if nothing of the running one is left."""
    if stack.remaining > 0 or stack.phase == IDLE or stack.next_action:
        return
    if read_failures(stack):
        _end(work, stack, FAILED, format_failure(stack))
    elif not (stack.phase == UP and stack.action in CLEANING and _open_cleanup(work, stack)):
        _complete(work, stack)


def _open_cleanup(work: UnitOfWork, stack: StackRow) -> bool:
    """Open the instances that are to be deleted, dependants first; False if there are none."""
    rows = {row.id: row for row in _list_deletions(work, stack)}
    edges = work.tx.edges(stack.id) if rows else []
    for key in _list_used(rows, edges):
        del rows[key]
    if not rows:
        return False
    waiting = count_waiting(rows, edges, up=False)
    stack.phase = DOWN
    stack.remaining = len(rows)
    for key, row in rows.items():
        row.open = 1
        row.verb = ""
        row.generation = stack.generation
        row.waiting = waiting[key]
        if not row.waiting:
            work.look(row)
    return True


def _list_used(rows: Collection[str], edges: Collection[tuple[str, str]]) -> set[str]:
    """The instances of ``rows`` with users that stay: those outside of an update's part."""
    requires = group_targets(edge for edge in edges if edge[1] in rows)
    return find_reachable(requires.keys() - rows, requires).intersection(rows)


def _list_deletions(work: UnitOfWork, stack: StackRow) -> list[ResourceRow]:
    """The instances to be deleted; those that never existed are deleted at once.

    What is promised to another stack is left to that, unless all of this one goes.
    """
    left = []
    for row in work.rows(work.tx.list_absent(stack.id)):
        if row_annotations.read_promise(row) and not _is_promise_void(stack):
            continue
        if row.fence == 0:
            work.tx.remove_resource(row)
        else:
            left.append(row)
    return left


def _is_promise_void(stack: StackRow) -> bool:
    """Whether no plan will take the promises: all is deleted, or all moves back are done."""
    is_back = stack.action in ("ROLLBACK", "RESTORE") and stack.owner_resource_id is None
    return stack.action == "DELETE" or is_back


def _complete(work: UnitOfWork, stack: StackRow) -> None:
    if stack.policies:  # what was protected before the plan is so during the plan
        protection.end_old_protection(work, stack)
    left = ""
    if stack.action in CLEANING:
        if stack.action != "CREATE" and (
            stack.good_template_id is None or partial.read_good_parts(stack)
        ):
            left = adoption.take_ownership(work, stack)
        partial.record_success(work, stack)
        stack.good_template_id = stack.template_id
    if stack.action == "DELETE":
        stack.deleted_at = work.now
        work.tx.drop_snapshots(stack.id)
    reason = f"Stack {stack.action} completed successfully{stack.note}{left}"
    _end(work, stack, COMPLETE, reason + _note_resumption(work, stack))


def _note_resumption(work: UnitOfWork, stack: StackRow) -> str:
    """Note whether a stack is still suspended; returns a message about suspended parts.

    An update may replace what could not be resumed.
    """
    if stack.action == "RESUME":
        stack.suspended = 0
    if not stack.suspended or stack.action not in CLEANING:
        return ""
    rows = work.tx.resources_of(stack.id)
    names = sorted(row.name for row in rows if row.suspended and row.want == PRESENT)
    stack.suspended = int(bool(names))
    return f"; still suspended: {', '.join(names)}" if names else ""


def _end(work: UnitOfWork, stack: StackRow, status: str, reason: str) -> None:
    stack.phase = IDLE
    stack.remaining = 0
    stack.halted = 0
    stack.deadline = None
    if is_superseded(stack):
        stack.status, stack.status_reason = status, reason
    else:
        work.stack_state(stack, status, reason)
    history.end(work, stack, _history_status(stack, status))
    snapshots.end(work, stack, status, reason)
    if stack.before:
        stack.action, stack.status, stack.status_reason = json.loads(stack.before)
        stack.before = ""
    work.after.idle[stack.id] = None
    if stack.owner_resource_id is not None:
        work.after.poke[stack.owner_resource_id] = None


def is_superseded(stack: StackRow) -> bool:
    """Whether the running action of a nested stack has ended for a newer plan above alone."""
    return read_failures(stack) == [NEWER_PLAN]


def format_timeout(action: str) -> str:
    """The reason of an action that is past its deadline."""
    return f"{action.title()} timed out"


def _history_status(stack: StackRow, status: str) -> str:
    """The status of the end in the history."""
    if status != FAILED:
        return status
    if is_superseded(stack):
        return SUPERSEDED
    reasons = read_failures(stack)
    if USER_CANCELLED in reasons:
        return CANCELLED
    return TIMED_OUT if reasons[:1] == [format_timeout(stack.action)] else FAILED


def format_failure(stack: StackRow) -> str:
    """The reason of a failed action, in Heat's words."""
    reasons = read_failures(stack)
    if stack.action == "CHECK":
        return f"Resource CHECK failed: {reasons}{stack.note}"
    first = "; ".join(reasons[:1] + [each for each in reasons[1:] if NO_ROLLBACK in each])
    if stack.action in ("UPDATE", "ROLLBACK") or first.endswith("timed out"):
        return first
    return f"Resource {stack.action} failed: {first}"
