"""The state of a snapshot during its creation or deletion: parts of transactions."""

from __future__ import annotations

from collections.abc import Sequence

from zonda.core.store.schema.rows import ResourceRow, SnapshotRow, StackRow

from ..model import documents
from ..model.states import COMPLETE, FAILED, IDLE, IN_PROGRESS, PRESENT
from ..model.unit_of_work import UnitOfWork

#: Actions of a stack that a snapshot follows.
ACTIONS = frozenset({"SNAPSHOT", "DELETE_SNAPSHOT"})


def begin(work: UnitOfWork, stack: StackRow, snapshot: SnapshotRow, action: str) -> None:
    """A plan that makes (``action`` SNAPSHOT) or deletes (DELETE) a snapshot has been made."""
    snapshot.action, snapshot.status, snapshot.status_reason = action, IN_PROGRESS, ""
    snapshot.generation = stack.generation
    work.tx.put_snapshot(snapshot)


def end(work: UnitOfWork, stack: StackRow, status: str, reason: str) -> None:
    """End the snapshot with the action of ``stack``."""
    if stack.action not in ACTIONS:
        return
    for snapshot in work.tx.snapshots(stack.id):
        if snapshot.status == IN_PROGRESS:
            _end_snapshot(work, stack, snapshot, status, reason)


def _end_snapshot(
    work: UnitOfWork, stack: StackRow, snapshot: SnapshotRow, status: str, reason: str
) -> None:
    if status == COMPLETE and snapshot.action == "DELETE":
        work.tx.drop_snapshot(snapshot.id)
        return
    if snapshot.action == "SNAPSHOT":
        rows = documents.select_snapshot_rows(work.tx.resources_of(stack.id))
        if status != COMPLETE:  # else all have worked, whatever was said of one since
            rows = [row for row in rows if is_done(row, stack)]
        snapshot.data = collect_data(work, stack, rows) if rows or status == COMPLETE else None
    snapshot.status, snapshot.status_reason = status, reason
    work.tx.put_snapshot(snapshot)


def end_overtaken(work: UnitOfWork, stack: StackRow, by: str) -> None:
    """End the unfinished snapshot of a stack whose running action is overtaken."""
    if stack.phase != IDLE:
        end(work, stack, FAILED, f"{stack.action} was overtaken by {by}")


def is_done(row: ResourceRow, stack: StackRow) -> bool:
    """Whether an instance is done with the snapshot that the running action makes."""
    done = (row.action, row.status) == ("SNAPSHOT", COMPLETE)
    return done and row.want == PRESENT and row.generation == stack.generation


def collect_data(work: UnitOfWork, stack: StackRow, rows: Sequence[ResourceRow]) -> str:
    """The sealed data of the resources; after a failure it is kept for their deletion."""
    return work.sealer.seal(
        {
            "action": stack.action,
            "status": stack.status,
            "resources": {
                row.name: documents.build_entry(row, work.tx.data(row.id), work.sealer)
                for row in rows
            },
        }
    )
