"""Signals: handed to one resource; what its attributes say then is stored."""

from __future__ import annotations

from collections.abc import Callable

from zonda.core.store.rows import ResourceRow
from zonda.hooks.errors import NotFound, NotSupported

from . import actions, release
from .accepting import Noted, accepted_as, noting
from .actions import Accepted
from .calls import Operation
from .clearing import UNSET, clear_by_signal
from .effects import Call, Step, Tx
from .instances import Seen
from .outcome import Final
from .room import Room
from .states import PRESENT
from .work import Work


def signal(room: Room, action: actions.SignalResource, note: Noted) -> Step:
    """Hand a signal to a resource; store what its attributes say then.

    They are asked once more if an operation has begun or ended meanwhile. A signal that clears a
    breakpoint does not reach the resource.
    """
    if UNSET in action.details:
        return (yield from clear_by_signal(room, action, note))
    seen: Seen = yield Call(lambda: _signalled(room, action))
    final: Final = yield Call(lambda: _deliver(room, seen, action))
    accepted = yield Tx(noting(_storing(seen, final), note))
    while accepted is None:
        seen = yield Call(lambda: _signalled(room, action))
        final = yield Call(Operation(room.instances, seen).state)
        accepted = yield Tx(noting(_storing(seen, final), note))
    return accepted


def _storing(seen: Seen, final: Final) -> Callable[[Work], Accepted | None]:
    """Store what a signal has changed, unless an operation has come between."""
    accepted = accepted_as(seen.stack)

    def store(work: Work) -> Accepted | None:
        row, was = work.tx.resource(seen.row.id), seen.row
        if row is None:
            return accepted
        if (row.fence, row.op, row.outputs_hash) != (was.fence, was.op, was.outputs_hash):
            return None
        row.reference, row.outputs = final.reference, final.outputs
        if row.outputs_hash != final.outputs_hash:
            row.outputs_hash = final.outputs_hash
            release.mark_dependants(work, row)
        work.resource_event(row, "SIGNAL", "COMPLETE", "signal received")
        work.after.poke[row.id] = None
        return accepted

    return store


def _signalled(room: Room, action: actions.SignalResource) -> Seen:
    reader = room.reader()
    with reader.snapshot():
        stack = reader.stack_row(action.stack, room.settings.project)
        rows = [row for row in reader.resource_rows(stack.id) if row.name == action.resource]
        row = _present(rows, action.resource)
        data = reader.sealed_data(row.id)
    return Seen(row, stack, data)


def _present(rows: list[ResourceRow], name: str) -> ResourceRow:
    for row in rows:
        if row.want == PRESENT:
            return row
    raise NotFound("Resource", name)


def _deliver(room: Room, seen: Seen, action: actions.SignalResource) -> Final:
    row = seen.row
    operation = Operation(room.instances, seen)
    handler = getattr(operation.instance, "handle_signal", None)
    if handler is None or (row.action == "INIT" and not row.op):
        raise NotSupported(
            f"Cannot signal resource {row.name}: 'SIGNAL' not supported for {row.type}."
        )
    handler(dict(action.details))
    return operation.state()
