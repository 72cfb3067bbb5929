"""Refreshes the attributes of an owner after a signal has changed its nested stack.

Level-triggered: an owner counts what it was told of (``below``, in the transaction that changed
it) and how much of that what it shows has in it (``below_seen``). As long as these differ it is
asked: at once, when its operation ends, at the start of an engine and in each sweep. An answer is
stored only if nothing was told of since it was asked for, so an old one never hides a newer one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from ..model.effects import Call, Step, Tx
from ..model.outcomes import Answer, Final
from ..model.unit_of_work import UnitOfWork
from ..model.work_item import WorkItem
from ..progress import children, progress
from ..services import EngineServices
from .operation_kinds import make_operation

log = logging.getLogger(__name__)


def refresh(services: EngineServices, key: str) -> Step:
    """Store the present attributes of the owner ``key``, and refresh the owners above it.

    An operation that runs on it has that done when it ends.
    """
    is_done = False
    while not is_done:
        asked: tuple[WorkItem, Answer] | None = yield Call(lambda: _read_state(services, key))
        if asked is None:
            return
        seen, answer = asked
        if not isinstance(answer, Final):
            log.warning("What resource %s shows is old: it could not be asked", seen.row.name)
            return
        is_done = yield Tx(_build_store_unit(seen, answer))


def _build_store_unit(seen: WorkItem, final: Final) -> Callable[[UnitOfWork], bool]:
    return lambda work: _store(work, seen, final)


def _read_state(services: EngineServices, key: str) -> tuple[WorkItem, Answer] | None:
    seen = WorkItem.read(services.reader(), key)
    if seen is None:
        return None
    row = seen.row
    if row.below == row.below_seen or row.op or not row.outputs_hash:
        return None
    operation = make_operation(services, seen)
    return seen, operation.guard(operation.state)()


def _store(work: UnitOfWork, seen: WorkItem, final: Final) -> bool:
    """Store an answer; False where the owner must be read once more."""
    row = work.tx.resource(seen.row.id)
    if row is None or row.op or row.fence != seen.row.fence:
        return True
    if row.below != seen.row.below:
        return False
    row.below_seen = row.below
    if row.outputs_hash != final.outputs_hash:
        row.reference, row.outputs = final.reference, final.outputs
        row.outputs_hash = final.outputs_hash
        progress.mark_dependants(work, row)
        children.refresh_owner(work, row)
    return True
