"""The tie between an owner and its nested stack, which is the scope of a cancellation.

A plan above that is halted, or that wants something else by now, ends what runs below; an owner
that is about to plan its nested stack is between two such runs, and must find that out by itself.
The other way an owner learns of what has changed below.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from zonda.core.store.read.reader import Reader
from zonda.core.store.read.tree_paths import walk_down
from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks.errors import ResourceFailure

from ..model.states import DIRTY, IDLE, MAKING, MARKED, PRESENT
from ..model.unit_of_work import UnitOfWork, read_failures
from . import breakpoints, phases

#: The failure of an action of a nested stack whose stack above starts nothing more.
HALTED = "Stopped with the stack above"
#: Actions that change nothing of an owner.
_LOOKING = frozenset({"CHECK", "SNAPSHOT", "DELETE_SNAPSHOT"})


class Superseded(ResourceFailure):
    """A newer plan wants something else."""


def is_superseded_by_plan(stack: StackRow, row: ResourceRow) -> bool:
    """Whether a newer plan wants another state than the operation on ``row``.

    What is being deleted is never wanted again: another instance takes its place.
    """
    if row.op_gen == stack.generation or row.op == "DELETE":
        return False
    if row.want != PRESENT:
        return True
    if row.op != "SIGNAL":
        return row.op not in MAKING or row.op_hash != row.want_hash
    # a plan that changes nothing about the owner waits for the end of a signal
    return row.verb not in _LOOKING if row.verb else row.want_hash != row.have_hash


def may_go_on(work: UnitOfWork, row: ResourceRow) -> bool:
    """Whether the operation on ``row`` may begin something more below."""
    is_wanted = not is_superseded_by_plan(work.stack_of(row), row)
    return is_wanted and find_halted(work, row) is None


def find_halted(work: UnitOfWork, row: ResourceRow) -> StackRow | None:
    """Find the stack of an instance, or one above it, that starts nothing more.

    What a signal has begun runs in stacks that are idle themselves.
    """
    stacks = (work.stack_of(each) for each in (row, *work.owners(row)))
    return next((stack for stack in stacks if stack.halted), None)


def check_may_go_on(reader: Reader, key: str) -> None:
    """Raise ResourceFailure unless the operation on the instance ``key`` may go on."""
    stack = check_wanted(reader, key)
    while stack is not None:
        if stack.halted:
            raise ResourceFailure(HALTED)
        owner = reader.resource_row(stack.owner_resource_id or "")
        stack = None if owner is None else reader.stack_row(owner.stack_id)


def check_wanted(reader: Reader, key: str) -> StackRow | None:
    """The stack of the instance ``key``; raises Superseded if a newer plan wants something else."""
    with reader.snapshot():
        row = reader.resource_row(key)
        if row is None:
            return None
        stack = reader.stack_row(row.stack_id)
    if phases.is_superseded(stack) or is_superseded_by_plan(stack, row):
        raise Superseded(phases.NEWER_PLAN)
    return stack


def detach(work: UnitOfWork, owner: ResourceRow) -> None:
    """Make the nested stack of an instance, if it has one, a stack at the top (policy Retain).

    Nothing in it is touched; what it has nested itself stays nested in it.
    """
    child = work.tx.child_of(owner.id)
    if child is None:
        return
    above = work.stack_of(owner).name
    work.after.detached[child.id] = child.root
    if child.phase == IDLE:  # it is a tree now, and nothing else tells of its rest
        work.after.idle[child.id] = None
    stacks = work.tx.tree(child.root)
    child.owner_resource_id = None
    for each, _ in walk_down(child, stacks, work.tx.resources_of):
        each.root_id = child.id
    work.stack_event(
        child, child.action, child.status, f"Left alone by resource {owner.name} of {above}"
    )


def halt(work: UnitOfWork, stack: StackRow, why: str = HALTED) -> None:
    """Start nothing more, of what signals have begun below either.

    ``why``: the failure of a nested stack.
    """
    stack.halted = 1
    breakpoints.end_all(work, stack)
    give_up_drafts(work, stack, work.tx.close_idle(stack.id))
    running = list(work.rows(work.tx.running(stack.id)))
    stack.remaining = sum(1 for row in running if row.open)
    wake_retries(work, stack)
    for row in running:
        halt_below(work, row, why)
    for row in list_signalled(work, stack):
        halt_below(work, row, why)


def give_up_drafts(work: UnitOfWork, stack: StackRow, planned: list[str]) -> None:
    """Give up what is prepared for instances that were ``planned`` and have no operation.

    It is for nothing now, and may never come to an end.
    """
    if planned:
        drafts = set(planned).difference(work.tx.running(stack.id))
        work.after.stop.update(dict.fromkeys(sorted(drafts), stack.root_id))


def list_signalled(work: UnitOfWork, stack: StackRow) -> Iterator[ResourceRow]:
    """The instances below a stack with an operation that a signal has begun."""
    for row in work.tx.list_of_tree("signalled", stack.root):
        if row.op == "SIGNAL" and any(each.stack_id == stack.id for each in work.owners(row)):
            yield row


def halt_below(work: UnitOfWork, row: ResourceRow, why: str = HALTED) -> None:
    """Start nothing more in the nested stack of an instance; it fails when its operations end."""
    child = find_busy_child(work, row)
    if child is None:
        work.after.poke[row.id] = None  # it may be waiting to plan something there
    elif not child.halted:
        child.failures = json.dumps([*read_failures(child), why])
        halt(work, child, why)
        phases.advance_phase(work, child)


def end_superseded(work: UnitOfWork, stack: StackRow) -> None:
    """End nested actions at once that no plan wants any more.

    The operation of their owner ends, too; its next one overtakes what still runs there.
    """
    for row in work.rows(work.tx.running(stack.id)):
        if is_superseded_by_plan(stack, row):
            halt_below(work, row, phases.NEWER_PLAN)
            work.after.poke[row.id] = None
            note_unwanted(work, row)


def note_unwanted(work: UnitOfWork, row: ResourceRow) -> None:
    """Have the operation on ``row`` end once no call of it is out, if a deletion waits for it."""
    if is_unwanted(work, row):
        work.after.unwanted[row.id] = None


def is_unwanted(work: UnitOfWork, row: ResourceRow) -> bool:
    """Whether a deletion of the stack waits for the end of the operation on ``row``."""
    stack = work.stack_of(row)
    return stack.action == "DELETE" and row.op != "DELETE" and row.op_gen < stack.generation


def find_busy_child(work: UnitOfWork, row: ResourceRow) -> StackRow | None:
    """The nested stack of an instance, if something is planned or running in it."""
    if row.physical_id is None:
        return None
    child = work.tx.child_of(row.id)
    return None if child is None or child.phase == IDLE else child


def wake_retries(work: UnitOfWork, stack: StackRow) -> None:
    """Have operations between two attempts check whether another one is still wanted."""
    for row in work.rows(work.tx.running(stack.id)) if stack.policies else ():
        if row.retry_at is not None:
            work.after.poke[row.id] = None


def mark_owners(work: UnitOfWork, row: ResourceRow) -> None:
    """Mark the owners of a nested stack that has changed outside any plan."""
    for owner in work.owners(row):
        owner.dirty = MARKED if owner.open else DIRTY


def refresh_owner(work: UnitOfWork, row: ResourceRow) -> None:
    """Refresh the owner of the stack of ``row``: its attributes may have changed."""
    owner = next(work.owners(row), None)
    if owner is not None:
        request_refresh(work, owner)


def request_refresh(work: UnitOfWork, owner: ResourceRow) -> None:
    """Refresh an owner: its attributes are out of date until then (``nested.refresh``)."""
    owner.below += 1
    work.after.refresh[owner.id] = None
