"""Plans of templates with a check that nothing protected is deleted, at any depth.

Where nothing is protected, which is cheap to know, nothing is looked for. What there is to look for
it in (``preview.held``) works as for a plan that is only shown.
"""

from __future__ import annotations

from typing import Any

from zonda.core.store.schema.rows import StackRow
from zonda.core.template.environment import policies

from ..model.effects import Step
from ..model.plan import StackPlan
from ..plan.accept import Noted, propose_and_accept
from ..plan.registry import propose
from ..services import EngineServices


def plan(services: EngineServices, action: Any, note: Noted) -> Step:
    """Carry out an action that is such a plan; raises Conflict where it may not."""
    return (yield from propose_and_accept(lambda: _propose_guarded(services, action), note))


def _propose_guarded(services: EngineServices, action: Any) -> tuple[StackPlan | None, StackRow]:
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
