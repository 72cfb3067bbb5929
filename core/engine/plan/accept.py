"""From an action to its acceptance: looked at in the pool, written in one transaction.

A plan is worked out again if it is stale by then. Called by ``handlers``, ``preview``, ``drift``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from zonda.core.store.schema.rows import StackRow
from zonda.hooks import records
from zonda.hooks.errors import NotFound

from ..actions import Accepted
from ..actions.table import ACTIONS, load_function
from ..model.effects import Call, Step, Tx
from ..model.plan import StackPlan
from ..model.states import IDLE
from ..model.unit_of_work import UnitOfWork
from ..progress import moves, protection
from ..services import EngineServices
from . import quotas, write
from .from_template import build_name_taken, check_overtakes, find_stack

#: Stores what was accepted with whatever accepts it.
Noted = Callable[[UnitOfWork, Accepted], None]
#: Works a proposal out; None where there is nothing to do.
Proposing = Callable[[], tuple[StackPlan | None, StackRow]]
#: Changes a stack in a transaction.
Change = Callable[[UnitOfWork, StackRow], None]


def skip_note(work: UnitOfWork, accepted: Accepted) -> None:
    """Note nothing."""


def propose_and_accept(propose: Proposing, note: Noted = skip_note) -> Step:
    """Propose until the plan still fits at its acceptance; returns ``Accepted``."""
    accepted = None
    while accepted is None:
        proposal, stack = yield Call(propose)
        accepted = yield Tx(with_note(partial(accept, seen=stack, proposal=proposal), note))
    return accepted


def edit_stack(services: EngineServices, action: Any, note: Noted) -> Step:
    """Carry out an action that changes a stack without a plan; returns ``Accepted``."""
    stack, change = yield Call(lambda: _prepare_edit(services, action))

    def edit(work: UnitOfWork) -> Accepted:
        found = reload_stack(work, stack)
        change(work, found)
        return build_answer(found)

    return (yield Tx(with_note(edit, note)))


def _prepare_edit(services: EngineServices, action: Any) -> tuple[StackRow, Change]:
    stack = find_stack(services, action.stack)
    prepare = load_function(ACTIONS[type(action).__name__].function)
    return stack, prepare(services, stack, action)


def reload_stack(work: UnitOfWork, seen: StackRow) -> StackRow:
    """The stack as it is now; raises NotFound for one that has been deleted."""
    stack = work.tx.stack(seen.id)
    if stack is None or stack.deleted_at is not None:
        raise NotFound("Stack", seen.name)
    return stack


def with_note(
    run: Callable[[UnitOfWork], Accepted | None], note: Noted
) -> Callable[[UnitOfWork], Accepted | None]:
    """``run`` and, where it accepts, ``note`` in the same transaction."""

    def both(work: UnitOfWork) -> Accepted | None:
        accepted = run(work)
        if accepted is not None:
            note(work, accepted)
        return accepted

    return both


def build_answer(stack: StackRow) -> Accepted:
    """The answer that names a stack and its running plan."""
    return Accepted(stack.id, stack.generation, stack.name)


def accept(work: UnitOfWork, seen: StackRow, proposal: StackPlan | None) -> Accepted | None:
    """Apply a plan, if there is one; None if the stack has changed since it was worked out."""
    if proposal is None:
        return build_answer(seen)
    quotas.lock(work, seen, proposal)
    if proposal.generation == 0:
        if not all(moves.is_valid(work, seen.id, move) for move in proposal.moves):
            return None
        quotas.check_new(work, seen, proposal)
        stack = _insert_stack(work, seen)
    else:
        stack = reload_stack(work, seen)
        if not _fits_stack(work, stack, seen, proposal):
            return None
        if proposal.demanded or proposal.action != "ROLLBACK":
            check_overtakes(stack, proposal.action)
        if proposal.guard is not None:
            proposal.guard(stack)
    protection.check_plan(work, stack, proposal)
    before = quotas.count(work, stack, proposal)
    write.apply(work, stack, proposal)
    quotas.check(work, stack, proposal, before)
    return records.replace(build_answer(stack), warnings=proposal.warnings)


def _fits_stack(work: UnitOfWork, stack: StackRow, seen: StackRow, proposal: StackPlan) -> bool:
    if stack.generation != proposal.generation:
        return False
    if not all(moves.is_valid(work, stack.id, move) for move in proposal.moves):
        return False
    if not all(moves.is_untaken(work, key) for key in proposal.untaken):
        return False
    if proposal.facts is not None and proposal.facts != work.tx.tree_facts(stack.id):
        return False
    if proposal.action == "ROLLBACK":
        if stack.phase == IDLE and not proposal.demanded:
            return False
        # what ran has worked meanwhile: to go back is something else now
        if _get_good_template(stack) != _get_good_template(seen):
            return False
    return not proposal.owed or stack.next_action == "ROLLBACK"


def _get_good_template(stack: StackRow) -> tuple[str | None, str]:
    return stack.good_template_id, stack.good_parts


def _insert_stack(work: UnitOfWork, seen: StackRow) -> StackRow:
    if work.tx.live_stack_named(seen.project, seen.name) is not None:
        raise build_name_taken(seen.name)
    root_id = _find_root(work, seen)
    stack = records.replace(seen, created_at=work.now, root_id=root_id)
    work.tx.add_stack(stack)
    return stack


def _find_root(work: UnitOfWork, stack: StackRow) -> str:
    """The root of the tree of a new stack: its owner may have become a stack of its own."""
    owner_id = stack.owner_resource_id
    owner = None if owner_id is None else work.tx.resource(owner_id)
    return stack.root_id if owner is None else work.stack_of(owner).root
