"""What an owner shows of its nested stack, asked anew: something below has changed by a signal.

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
from ..progress import progress
from ..services import EngineServices
from .operation import operation_of

log = logging.getLogger(__name__)


def refresh(services: EngineServices, key: str) -> Step:
    """Store what the owner ``key`` shows now, and have those above it asked, too.

    An operation that runs on it has that done when it ends.
    """
    is_done = False
    while not is_done:
        asked: tuple[WorkItem, Answer] | None = yield Call(lambda: _asked(services, key))
        if asked is None:
            return
        seen, answer = asked
        if not isinstance(answer, Final):
            log.warning("What resource %s shows is old: it could not be asked", seen.row.name)
            return
        is_done = yield Tx(_storing(seen, answer))


def _storing(seen: WorkItem, final: Final) -> Callable[[UnitOfWork], bool]:
    return lambda work: _store(work, seen, final)


def _asked(services: EngineServices, key: str) -> tuple[WorkItem, Answer] | None:
    reader = services.reader()
    with reader.snapshot():
        row = reader.resource_row(key)
        if row is None or row.below == row.below_seen or row.op or not row.outputs_hash:
            return None
        seen = WorkItem(row, reader.stack_row(row.stack_id), reader.sealed_data(key))
    operation = operation_of(services, seen)
    return seen, operation.guarded(operation.state)()


def _store(work: UnitOfWork, seen: WorkItem, final: Final) -> bool:
    """Store an answer; False where the owner must be asked once more."""
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
        progress.tell_owner(work, row)
    return True
