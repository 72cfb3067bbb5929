"""What is planned for a nested stack when something other than a template is carried out above it.

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


def planned(
    services: EngineServices, verb: str, stack: StackRow, child: StackRow
) -> StackPlan | None:
    """The plan of ``verb`` for the nested stack ``child`` of a resource of ``stack``."""
    proposal = _VERBS[verb](services, stack, child)
    if proposal is None:
        return None
    known = plan.policies_now(services, child) or policies.read(child.policies)
    known = known.after(Policies())
    if plan.is_undone(services, child):
        known = known.for_undoing()
    changes = {
        **proposal.changes,
        "policies": known.to_text(),
        "timeout_mins": plan.minutes(services, child),
    }
    return dataclasses.replace(proposal, changes=changes)


def _delete(services: EngineServices, stack: StackRow, child: StackRow) -> StackPlan | None:
    return snapshots.delete_stack(services, child, actions.DeleteStack(child.id))


def _suspend(services: EngineServices, stack: StackRow, child: StackRow) -> StackPlan | None:
    """What an attempt before has suspended is not suspended again."""
    if (child.action, child.status) == ("SUSPEND", FAILED):
        return retry.retry(services, child, actions.RetryStack(child.id))
    return from_template.verb(services, child, actions.SuspendStack(child.id))


def _resume(services: EngineServices, stack: StackRow, child: StackRow) -> StackPlan | None:
    """Nothing but what is suspended: its suspension may never have come so far."""
    proposal = from_template.verb(services, child, actions.ResumeStack(child.id))
    if proposal is None:
        return None
    return dataclasses.replace(proposal, which=from_template.is_suspended)


def _check(services: EngineServices, stack: StackRow, child: StackRow) -> StackPlan | None:
    return from_template.verb(services, child, actions.CheckStack(child.id))


_VERBS: Mapping[str, Verb] = {
    "DELETE": _delete,
    "SUSPEND": _suspend,
    "RESUME": _resume,
    "CHECK": _check,
    "SNAPSHOT": nested_snapshots.create,
    "DELETE_SNAPSHOT": nested_snapshots.delete,
}
