"""Snapshots of nested stacks: each one is a part of the snapshot of the stack above.

A part bears the id of the whole as its name; by that it is found when the whole is deleted or gone
back to. So nothing has to be kept with the owner, and an older snapshot is never taken for it.
"""

from __future__ import annotations

import dataclasses

from zonda.core.store.schema.rows import StackRow
from zonda.hooks.errors import ResourceFailure

from .. import actions
from ..model.plan import StackPlan
from ..model.states import COMPLETE, FAILED, IN_PROGRESS
from ..model.unit_of_work import UnitOfWork
from ..plan import retry, snapshots
from ..progress import snapshots as snapshotting
from ..services import EngineServices


def create(services: EngineServices, stack: StackRow, child: StackRow) -> StackPlan | None:
    """The plan that makes the part of the running snapshot of ``stack``; None if it exists."""
    whole = _find_running(services, stack)
    known = snapshots.find_part(services, child, whole)
    if known is None:
        return snapshots.create(services, child, actions.SnapshotStack(child.id, whole))
    if known.status == COMPLETE:
        return None
    if (child.action, child.status) == ("SNAPSHOT", FAILED):
        return retry.plan_retry(services, child, actions.RetryStack(child.id))
    made, again = snapshots.create(services, child, actions.SnapshotStack(child.id)), known

    def begin_snapshot(work: UnitOfWork, planned: StackRow) -> None:
        snapshotting.begin(work, planned, again, "SNAPSHOT")

    return dataclasses.replace(made, also=begin_snapshot)


def delete(services: EngineServices, stack: StackRow, child: StackRow) -> StackPlan | None:
    """The plan that deletes the part of the snapshot that ``stack`` is deleting."""
    known = snapshots.find_part(services, child, _find_running(services, stack))
    if known is None:
        return None
    return snapshots.delete(services, child, actions.DeleteSnapshot(child.id, known.id))


def _find_running(services: EngineServices, stack: StackRow) -> str:
    """The id of the snapshot that is being created or deleted."""
    for row in services.reader().snapshots(stack.id):
        if row.status == IN_PROGRESS:
            return row.id
    raise ResourceFailure("The snapshot of the stack above was given up")
