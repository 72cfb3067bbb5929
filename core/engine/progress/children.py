"""The tie between an owner and its nested stack: when it goes on, and when it ends.

A plan above that is halted, or that wants something else by now, ends what runs below; an owner
that is about to plan its nested stack is between two such runs, and must find that out by itself.
"""

from __future__ import annotations

from zonda.core.store.read.reader import Reader
from zonda.core.store.read.tree_paths import walk_down
from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks.errors import ResourceFailure

from ..model.states import MAKING, PRESENT
from ..model.unit_of_work import UnitOfWork, read_failures

#: The failure of an action of a nested stack whose stack above starts nothing more.
HALTED = "Stopped with the stack above"
#: The same where the stack above has a newer plan. It is no failure that anybody is told of: what
#: is wanted now is what counts.
SUPERSEDED = "Superseded by a newer plan of the stack above"
#: What changes nothing about an owner.
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


def may_go_on(stack: StackRow, row: ResourceRow) -> bool:
    """Whether the operation on ``row`` may begin something more below."""
    return not stack.halted and not is_superseded_by_plan(stack, row)


def is_superseded(stack: StackRow) -> bool:
    """Whether the running action of a nested stack has ended for a newer plan above alone."""
    return read_failures(stack) == [SUPERSEDED]


def check_may_go_on(reader: Reader, key: str) -> None:
    """Raise ResourceFailure unless the operation on the instance ``key`` may go on."""
    with reader.snapshot():
        row = reader.resource_row(key)
        if row is None:
            return
        stack = reader.stack_row(row.stack_id)
    if is_superseded(stack) or is_superseded_by_plan(stack, row):
        raise Superseded(SUPERSEDED)
    if stack.halted:
        raise ResourceFailure(HALTED)


def detach(work: UnitOfWork, owner: ResourceRow) -> None:
    """Make the nested stack of an instance, if it has one, a stack at the top (policy Retain).

    Nothing in it is touched; what it has nested itself stays nested in it.
    """
    child = work.tx.child_of(owner.id)
    if child is None:
        return
    above = work.stack_of(owner).name
    work.after.detached[child.id] = child.root
    stacks = work.tx.tree(child.root)
    child.owner_resource_id = None
    for each, _ in walk_down(child, stacks, work.tx.resources_of):
        each.root_id = child.id
    work.stack_event(
        child, child.action, child.status, f"Left alone by resource {owner.name} of {above}"
    )
