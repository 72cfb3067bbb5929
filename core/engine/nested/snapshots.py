"""Snapshots of nested stacks: each is a part of the one that is taken of the stack above.

A part bears the id of the whole as its name; by that it is found when the whole is deleted or gone
back to. So nothing has to be kept with the owner, and an older snapshot is never taken for it.
"""

from __future__ import annotations

import dataclasses

from zonda.core.store.schema.rows import StackRow
from zonda.hooks.errors import ResourceFailure

from .. import actions
from ..model.plan import Proposal
from ..model.states import COMPLETE, FAILED, IN_PROGRESS
from ..model.unit_of_work import Work
from ..plan import retry, snapshots
from ..progress import snapshots as snapshotting
from ..services import Room


def create(room: Room, stack: StackRow, child: StackRow) -> Proposal | None:
    """The plan of the part of the snapshot that ``stack`` is taking; None if it is there."""
    whole = _running(room, stack)
    known = snapshots.part(room, child, whole)
    if known is None:
        return snapshots.create(room, child, actions.SnapshotStack(child.id, whole))
    if known.status == COMPLETE:
        return None
    if (child.action, child.status) == ("SNAPSHOT", FAILED):
        return retry.retry(room, child, actions.RetryStack(child.id))
    made, again = snapshots.create(room, child, actions.SnapshotStack(child.id)), known

    def also(work: Work, planned: StackRow) -> None:
        snapshotting.begin(work, planned, again, "SNAPSHOT")

    return dataclasses.replace(made, also=also)


def delete(room: Room, stack: StackRow, child: StackRow) -> Proposal | None:
    """The plan that deletes the part of the snapshot that ``stack`` is deleting."""
    known = snapshots.part(room, child, _running(room, stack))
    if known is None:
        return None
    return snapshots.delete(room, child, actions.DeleteSnapshot(child.id, known.id))


def _running(room: Room, stack: StackRow) -> str:
    """The id of the snapshot that is being taken or deleted."""
    for row in room.reader().snapshots(stack.id):
        if row.status == IN_PROGRESS:
            return row.id
    raise ResourceFailure("The snapshot of the stack above was given up")
