"""Actions as steps: one runner for each shape of an action (``actions.table``)."""

from __future__ import annotations

from typing import Any

from zonda.core.store.schema.rows import StackRow
from zonda.core.template.environment import policies

from ..actions import Action
from ..actions.table import ACTIONS, EDIT, FLOW, load_function
from ..model.effects import Step
from ..model.plan import StackPlan
from ..plan.accept import Noted, edit_stack, propose_and_accept, skip_note
from ..plan.from_template import plan_rollback
from ..plan.propose import propose
from ..services import EngineServices


def act(services: EngineServices, action: Action, note: Noted = skip_note) -> Step:
    """Carry out one action; returns ``Accepted``, raises errors of the caller.

    ``note`` runs in the transaction that accepts it; what it raises undoes that.
    """
    entry = ACTIONS[type(action).__name__]
    if entry.shape == FLOW:
        return (yield from load_function(entry.function)(services, action, note))
    if entry.shape == EDIT:
        return (yield from edit_stack(services, action, note))
    return (yield from propose_and_accept(lambda: _propose_guarded(services, action), note))


def roll_back(services: EngineServices, stack_id: str) -> Step:
    """Plan the rollback after a failure."""
    return propose_and_accept(lambda: plan_rollback(services, stack_id))


def _propose_guarded(services: EngineServices, action: Any) -> tuple[StackPlan | None, StackRow]:
    """The plan of an action; raises Conflict where it deletes what is protected, at any depth."""
    proposal, stack = propose(services, action)
    if (
        proposal is not None
        and proposal.wanted
        and _may_delete_protected(services, stack, proposal)
    ):
        from .protected_members import check  # with all that a plan which is shown needs

        check(services, stack, proposal)
    return proposal, stack


def _may_delete_protected(services: EngineServices, stack: StackRow, proposal: StackPlan) -> bool:
    if not proposal.generation:
        return False
    known = policies.parse_policies(str(proposal.changes.get("policies", stack.policies)))
    return known.protects_any or services.reader().has_protected(stack.id)
