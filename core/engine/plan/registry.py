"""The table of plans: the function of each action. In the pool.

A new action that is a plan of its own gets one line in ``PLANS``.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import Any

from zonda.core.store.schema.rows import StackRow
from zonda.hooks.errors import NotSupported

from ..actions import places
from ..model.plan import StackPlan
from ..model.states import PRESENT
from ..services import EngineServices
from . import from_template
from .selection import select


def propose(services: EngineServices, action: Any) -> tuple[StackPlan | None, StackRow]:
    """The plan for an action, and the stack it is for; None where there is nothing to do."""
    proposal: StackPlan | None
    kind = type(action).__name__
    guard = None
    if kind in NEW:
        proposal, stack = places.load_function(NEW[kind])(services, action)
    else:
        stack = from_template.find_stack(services, action.stack)
        from_template.check_root(services, stack)
        guard = _build_guard(services, kind)
        guard(stack)
        proposal = places.load_function(PLANS[kind])(services, stack, action)
    if proposal is not None:
        proposal = _sign(services, _select_part(services, proposal, action))
        proposal = dataclasses.replace(proposal, guard=guard)
    return proposal, stack


def _build_guard(services: EngineServices, kind: str) -> Callable[[StackRow], None]:
    """Raises ActionInProgress for a stack whose action is carried out, and may not be superseded.

    What nobody carries out was interrupted: there is nobody to be disturbed.
    """
    supersedes = kind in ENDING or services.settings.supersedes

    def check(stack: StackRow) -> None:
        if not supersedes and services.drives(stack.root):
            from_template.check_idle(stack)

    return check


def _select_part(services: EngineServices, proposal: StackPlan, action: Any) -> StackPlan:
    """The plan for the part of the template that the action names, if it names one."""
    targets, excludes = getattr(action, "targets", ()), getattr(action, "excludes", ())
    if proposal.wanted is None or not (targets or excludes):
        return proposal
    if proposal.moves:
        raise NotSupported(
            "What is moved is so by an update of the whole template.",
            hint="Leave out --target and --exclude.",
        )
    rows = services.reader().resource_rows(proposal.stack_id)
    found = select(
        {item.name: item.requires for item in proposal.wanted},
        {row.name: json.loads(row.requires) for row in rows if row.want == PRESENT},
        targets,
        excludes,
    )
    named = {"targets": list(targets), "excludes": list(excludes)}
    given = dataclasses.replace(proposal.given, detail={**proposal.given.detail, **named})
    return dataclasses.replace(proposal, selection=found, given=given)


def _sign(services: EngineServices, proposal: StackPlan) -> StackPlan:
    """The plan with the user who asks for it."""
    given = dataclasses.replace(proposal.given, by=services.settings.user)
    return dataclasses.replace(proposal, given=given)


#: Actions that are for what is being carried out: they need not be allowed to supersede it.
ENDING = frozenset({"CancelStack", "DeleteStack"})

#: Actions that make a stack: (room, action) -> proposal, the new stack.
NEW: Mapping[str, str] = {
    "CreateStack": "plan.from_template:plan_creation",
    "AdoptStack": "plan.adoption:plan_adoption",
}

#: Actions on a stack that exists: (room, stack, action) -> proposal; None: nothing to do.
PLANS: Mapping[str, str] = {
    "UpdateStack": "plan.from_template:plan_update",
    "DeleteStack": "plan.snapshots:delete_stack",
    "CancelStack": "plan.from_template:plan_cancellation",
    "RollbackStack": "plan.rollback:plan_rollback_to",
    "RetryStack": "plan.retry:plan_retry",
    "RepairDrift": "drift.dry_run:propose",
    "ImportResource": "plan.adoption:plan_import",
    "SnapshotStack": "plan.snapshots:create",
    "DeleteSnapshot": "plan.snapshots:delete",
    "RestoreSnapshot": "plan.snapshots:restore",
    "SuspendStack": "plan.from_template:plan_verb",
    "ResumeStack": "plan.from_template:plan_verb",
    "CheckStack": "plan.from_template:plan_verb",
}
