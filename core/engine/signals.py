"""Signals: handed to one resource; what its attributes say then is stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from zonda.core.store.rows import ResourceRow
from zonda.hooks.errors import NotFound, NotSupported, ResourceFailure
from zonda.hooks.near import near

from . import actions, release
from .accepting import Noted, accepted_as, noting
from .actions import Accepted
from .calls import Operation
from .clearing import UNSET, clear_by_signal
from .context import Write
from .effects import Call, Step, Tx
from .instances import Seen
from .outcome import Answer, Failure, Final
from .recording import signed
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
    user = room.settings.user
    delivered: _Delivered | None = None
    accepted = None
    while accepted is None:
        seen: Seen = yield Call(lambda: found(room, action.stack, action.resource))
        if delivered is None or delivered.writes:
            delivered = yield Call(lambda: _deliver(room, seen, action))
            if not isinstance(delivered.answer, Final):
                reason = _failure(seen, delivered.answer)
                yield Tx(_failing(seen, signed(reason, user)))
                raise ResourceFailure(reason)
        else:
            final = yield Call(Operation(room.instances, seen).state)
            delivered = _Delivered(final, [])
        accepted = yield Tx(noting(_storing(seen, delivered, user), note))
    return accepted


@dataclass(frozen=True, slots=True)
class _Delivered:
    """What a handler has answered; of a type that does nothing outside, with what it stores.

    That is stored together with the answer, or not at all, so it may be handed over once more.
    """

    answer: Answer
    writes: list[Write]


def _failure(seen: Seen, answer: Answer) -> str:
    if isinstance(answer, Failure):
        return answer.reason
    return f"resources.{seen.row.name}: a signal cannot lead to a replacement"


def _failing(seen: Seen, reason: str) -> Callable[[Work], None]:
    """Record that a handler has raised; nothing else has changed, as far as anybody knows."""

    def store(work: Work) -> None:
        row = work.tx.resource(seen.row.id)
        if row is not None:
            work.resource_event(row, "SIGNAL", "FAILED", reason)

    return store


def _storing(seen: Seen, delivered: _Delivered, by: str) -> Callable[[Work], Accepted | None]:
    """Store what a signal has changed, unless an operation has come between."""
    accepted, final = accepted_as(seen.stack), delivered.answer
    assert isinstance(final, Final)

    def store(work: Work) -> Accepted | None:
        row, was = work.tx.resource(seen.row.id), seen.row
        if row is None:
            return accepted
        if (row.fence, row.op, row.outputs_hash) != (was.fence, was.op, was.outputs_hash):
            return None
        for write in delivered.writes:
            write(work)
        if row.op != "DELETE":  # of which nobody reads anything any more
            row.reference, row.outputs = final.reference, final.outputs
            if row.outputs_hash != final.outputs_hash:
                row.outputs_hash = final.outputs_hash
                release.mark_dependants(work, row)
        work.resource_event(row, "SIGNAL", "COMPLETE", signed("signal received", by))
        _poke(work, row)
        return accepted

    return store


def _poke(work: Work, row: ResourceRow) -> None:
    """Have the operation of ``row`` polled now, and those of whoever requires it: they may wait."""
    for key in (row.id, *work.tx.dependants(row)):
        work.after.poke[key] = None


def found(room: Room, stack_name: str, name: str) -> Seen:
    """The present instance of a resource as it is stored now; raises NotFound."""
    reader = room.reader()
    with reader.snapshot():
        stack = reader.stack_row(stack_name, room.settings.project)
        row = _present(reader.resource_rows(stack.id), name)
        data = reader.sealed_data(row.id)
    return Seen(row, stack, data)


def _present(rows: list[ResourceRow], name: str) -> ResourceRow:
    there = {row.name: row for row in rows if row.want == PRESENT}
    for row in there.values():
        if name == row.id:
            return row
    if name not in there:
        raise NotFound("Resource", name, hint=near(name, there))
    return there[name]


def _deliver(room: Room, seen: Seen, action: actions.SignalResource) -> _Delivered:
    row, writes = seen.row, list[Write]()
    operation = Operation(room.instances, seen, writes)
    handler = getattr(operation.instance, "handle_signal", None)
    if handler is None or (row.action == "INIT" and not row.op):
        raise NotSupported(
            f"Cannot signal resource {row.name}: 'SIGNAL' not supported for {row.type}."
        )

    def call() -> Final:
        handler(dict(action.details))
        return operation.state()

    return _Delivered(operation.guarded(call)(), writes)
