"""What an owner shows of its nested stack, asked anew: something below has changed by a signal."""

from __future__ import annotations

from typing import Any

from . import release
from .effects import Call, Step, Tx
from .instances import Seen
from .nested_calls import operation_of
from .outcome import Final
from .room import Room
from .work import Work


def refresh(room: Room, key: str) -> Step:
    """Store what the owner ``key`` shows now, and have those above it do so, too.

    An operation that runs stores it anyway, when it ends.
    """
    asked: tuple[Seen, Any] | None = yield Call(lambda: _asked(room, key))
    if asked is None:
        return
    seen, answer = asked
    if isinstance(answer, Final):
        yield Tx(lambda work: _store(work, seen, answer))


def _asked(room: Room, key: str) -> tuple[Seen, Any] | None:
    reader = room.reader()
    row = reader.resource_row(key)
    if row is None or row.op or not row.outputs_hash:
        return None
    seen = Seen(row, reader.stack_row(row.stack_id), reader.sealed_data(key))
    operation = operation_of(room, seen)
    return seen, operation.guarded(operation.state)()


def _store(work: Work, seen: Seen, final: Final) -> None:
    row = work.tx.resource(seen.row.id)
    if row is None or row.op or row.fence != seen.row.fence:
        return
    if row.outputs_hash != final.outputs_hash:
        row.reference, row.outputs = final.reference, final.outputs
        row.outputs_hash = final.outputs_hash
        release.mark_dependants(work, row)
        owner = work.stack_of(row).owner_resource_id
        if owner is not None:
            work.after.refresh[owner] = None
