"""The plans of nested stacks for the actions of the stack above that have no template.

In the pool. A part of the snapshot of the stack above bears the id of the whole as its name; by
that it is found when the whole is deleted or gone back to. So nothing has to be kept with the
owner, and an older snapshot is never taken for it.
"""

from __future__ import annotations

from functools import partial

from zonda.core.store.schema.rows import StackRow
from zonda.core.template.environment import policies
from zonda.core.template.environment.policies import Policies
from zonda.hooks import records
from zonda.hooks.errors import ResourceFailure

from .. import actions
from ..model.plan import StackPlan
from ..model.states import COMPLETE, FAILED, IN_PROGRESS
from ..plan import from_template, snapshots
from ..plan.retry import plan_retry
from ..progress import snapshots as snapshotting
from ..services import EngineServices
from .plan import Above


def build_plan(
    services: EngineServices, verb: str, stack: StackRow, child: StackRow
) -> StackPlan | None:
    """The plan of ``verb`` for the nested stack ``child`` of a resource of ``stack``.

    None where there is nothing to do.
    """
    proposal = _plan_verb(services, verb, stack, child)
    if proposal is None:
        return None
    above = Above(services, services.reader().stack_row(child.root), child)
    known = above.find_policies() or policies.parse_policies(child.policies)
    changes = {**proposal.changes, **above.list_changes(known.continue_from(Policies()))}
    return records.replace(proposal, changes=changes)


def plan_own_deletion(
    services: EngineServices, child: StackRow, action: actions.DeleteStack
) -> StackPlan | None:
    """The plan of the deletion of a nested stack for its own sake; None if that is running.

    Raises ActionInProgress while anything above it runs, which may be about to plan it.
    """
    reader = services.reader()
    if child.action != "DELETE":
        from_template.check_idle(reader.stack_row(child.root))
    proposal = build_plan(services, "DELETE", reader.stack_row(child.root), child)
    return None if proposal is None else records.replace(proposal, demanded=True)


def _plan_verb(
    services: EngineServices, verb: str, stack: StackRow, child: StackRow
) -> StackPlan | None:
    if verb in ("SNAPSHOT", "DELETE_SNAPSHOT"):
        return _plan_snapshot(services, verb, stack, child)
    if verb == "DELETE":
        return snapshots.delete_stack(services, child, actions.DeleteStack(child.id))
    if verb == "CHECK":
        return from_template.plan_verb(services, child, actions.CheckStack(child.id))
    if verb == "SUSPEND":
        if _has_failed(child, verb):  # what it has suspended is left out
            return plan_retry(services, child, actions.RetryStack(child.id))
        return from_template.plan_verb(services, child, actions.SuspendStack(child.id))
    proposal = from_template.plan_verb(services, child, actions.ResumeStack(child.id))
    if proposal is None:
        return None
    # the suspension may be incomplete
    return records.replace(proposal, which=from_template.is_suspended)


def _plan_snapshot(
    services: EngineServices, verb: str, stack: StackRow, child: StackRow
) -> StackPlan | None:
    """The plan of the part of the snapshot that ``stack`` is making or deleting."""
    whole = _find_running(services, stack)
    known = snapshots.find_part(services, child, whole)
    if verb == "DELETE_SNAPSHOT":
        if known is None:
            return None
        return snapshots.delete(services, child, actions.DeleteSnapshot(child.id, known.id))
    if known is None:
        return snapshots.create(services, child, actions.SnapshotStack(child.id, whole))
    if known.status == COMPLETE:
        return None
    if _has_failed(child, verb):
        return plan_retry(services, child, actions.RetryStack(child.id))
    made = snapshots.create(services, child, actions.SnapshotStack(child.id))
    again = partial(snapshotting.begin, snapshot=known, action="SNAPSHOT")
    return records.replace(made, also=again)


def _has_failed(child: StackRow, verb: str) -> bool:
    return (child.action, child.status) == (verb, FAILED)


def _find_running(services: EngineServices, stack: StackRow) -> str:
    """The id of the snapshot that is being created or deleted."""
    for row in services.reader().snapshots(stack.id):
        if row.status == IN_PROGRESS:
            return row.id
    raise ResourceFailure("The snapshot of the stack above was given up")
