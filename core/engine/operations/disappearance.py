"""Deletes instances that were found missing without a call: nothing is left outside.

Called by ``steps``. What has its outside name by now may be its successor.
"""

from __future__ import annotations

from zonda.core.store.schema.rows import ResourceRow

from ..model import row_annotations
from ..model.states import COMPLETE
from ..model.unit_of_work import UnitOfWork
from . import transitions

_REASON = "nothing to delete: it was found missing"


def drop_missing(work: UnitOfWork, row: ResourceRow) -> bool:
    """Drop the row of an instance that is to be deleted and is missing; returns whether it was."""
    gone = row_annotations.has(row, row_annotations.GONE)
    kept = row_annotations.has(row, row_annotations.FORGET)  # for snapshots
    if not gone or kept or work.tx.child_of(row.id) is not None:
        return False
    work.resource_event(row, "DELETE", COMPLETE, _REASON)
    transitions.remove(work, row)
    return True
