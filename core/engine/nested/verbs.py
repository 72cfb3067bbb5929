"""The plans of nested stacks for the actions of the stack above that have no template.

In the pool, for ``nested_calls``: each function gives the plan, or None where there is nothing to
do. A nested stack has no say of its own: limits, protection and breakpoints are those that the
stack at the top has by now, also where no template of the nested one was planned since.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from zonda.core.store.schema.rows import StackRow
from zonda.core.template.environment import policies
from zonda.core.template.environment.policies import Policies

from .. import actions
from ..model.plan import StackPlan
from ..model.states import FAILED
from ..plan import from_template, retry, snapshots
from ..services import EngineServices
from . import plan
from . import snapshots as nested_snapshots

Verb = Callable[[EngineServices, StackRow, StackRow], StackPlan | None]


def build_plan(
    services: EngineServices, verb: str, stack: StackRow, child: StackRow
) -> StackPlan | None:
    """The plan of ``verb`` for the nested stack ``child`` of a resource of ``stack``."""
    proposal = _VERBS[verb](services, stack, child)
    if proposal is None:
        return None
    known = plan.read_current_policies(services, child) or policies.parse_policies(child.policies)
    known = known.after(Policies())
    if plan.is_undone(services, child):
        known = known.to_undo_policies()
    changes = {
        **proposal.changes,
        "policies": known.to_text(),
        "timeout_mins": plan.read_timeout(services, child),
    }
    return dataclasses.replace(proposal, changes=changes)


def _plan_deletion(services: EngineServices, stack: StackRow, child: StackRow) -> StackPlan | None:
    return snapshots.delete_stack(services, child, actions.DeleteStack(child.id))


def _plan_suspension(
    services: EngineServices, stack: StackRow, child: StackRow
) -> StackPlan | None:
    """The plan without instances that an earlier attempt has suspended."""
    if (child.action, child.status) == ("SUSPEND", FAILED):
        return retry.plan_retry(services, child, actions.RetryStack(child.id))
    return from_template.plan_verb(services, child, actions.SuspendStack(child.id))


def _plan_resumption(
    services: EngineServices, stack: StackRow, child: StackRow
) -> StackPlan | None:
    """The plan of the suspended instances only: a suspension may be incomplete."""
    proposal = from_template.plan_verb(services, child, actions.ResumeStack(child.id))
    if proposal is None:
        return None
    return dataclasses.replace(proposal, which=from_template.is_suspended)


def _plan_check(services: EngineServices, stack: StackRow, child: StackRow) -> StackPlan | None:
    return from_template.plan_verb(services, child, actions.CheckStack(child.id))


_VERBS: Mapping[str, Verb] = {
    "DELETE": _plan_deletion,
    "SUSPEND": _plan_suspension,
    "RESUME": _plan_resumption,
    "CHECK": _plan_check,
    "SNAPSHOT": nested_snapshots.create,
    "DELETE_SNAPSHOT": nested_snapshots.delete,
}
