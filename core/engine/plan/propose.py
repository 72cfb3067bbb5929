"""The plan of an action. In the pool."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from zonda.core.store.schema.rows import StackRow
from zonda.hooks import records
from zonda.hooks.errors import NotSupported, TemplateWarning

from ..actions import Action
from ..actions.table import ACTIONS, PLAN, load_function
from ..model.plan import StackPlan
from ..model.states import PRESENT
from ..services import EngineServices
from . import from_template
from .scope import select

#: Makes the plan of an action; None where there is nothing to do.
Planner = Callable[[EngineServices, StackRow, Any], StackPlan | None]


def propose(
    services: EngineServices, action: Any, planner: Planner | None = None
) -> tuple[StackPlan | None, StackRow]:
    """The plan for an action, and the stack it is for; None where there is nothing to do.

    ``planner``: of an action that has more than a plan.
    """
    if planner is None:
        entry = ACTIONS[type(action).__name__]
        assert entry.shape == PLAN, f"{type(action).__name__} has no plan of its own"
        planner = load_function(entry.function)
    guard = _build_guard(services, action)
    if hasattr(action, "stack"):
        stack = from_template.find_stack(services, action.stack)
        if stack.owner_resource_id is not None and getattr(action, "nested", False):
            planner = load_function("nested.verbs:plan_own_deletion")
        else:
            from_template.check_root(services, stack)
        guard(stack)
    else:
        stack = from_template.build_stack(services, action)
    proposal = planner(services, stack, action)
    if proposal is not None:
        proposal = _select_part(services, proposal, action)
        known = services.settings
        given = records.replace(proposal.given, by=known.user, request=services.request)
        allowance = known.allowance
        most = {} if allowance is None else allowance.most
        warnings = _list_warnings(services, proposal) if known.wants_warnings else None
        proposal = records.replace(proposal, given=given, guard=guard, most=most, warnings=warnings)
    return proposal, stack


def _list_warnings(
    services: EngineServices, proposal: StackPlan
) -> tuple[TemplateWarning, ...] | None:
    """The warnings about the template of a plan; None where it has no new one."""
    if proposal.body is None or proposal.template_id is None:
        return None
    return tuple(services.definitions.get(proposal.template_id).warnings)


def _build_guard(services: EngineServices, action: Action) -> Callable[[StackRow], None]:
    """Raises ActionInProgress for a stack whose action is carried out, and may not be superseded.

    What nobody carries out was interrupted: there is nobody to be disturbed.
    """
    supersedes = action.ends_another or services.settings.supersedes

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
    given = records.replace(proposal.given, detail={**proposal.given.detail, **named})
    return records.replace(proposal, selection=found, given=given)
