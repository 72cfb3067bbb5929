"""Actions as steps: proposed in the pool, accepted in one transaction, tried again if stale."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from zonda.core.store.rows import ResourceRow, StackRow
from zonda.hooks.errors import NotFound, NotSupported

from . import actions, endings, planning, release
from .actions import Accepted, Action
from .calls import Operation
from .effects import Call, Step, Tx
from .instances import Seen
from .outcome import Final
from .planning import Proposal
from .proposals import check_overtakes, exists, propose, rollback
from .room import Room
from .states import IDLE, PRESENT
from .work import Work

#: Stores what was accepted with whatever accepts it.
Noted = Callable[[Work, Accepted], None]


def _unnoted(work: Work, accepted: Accepted) -> None:
    """Nobody needs a note."""


def act(room: Room, action: Action, note: Noted = _unnoted) -> Step:
    """Carry out one action; gives ``Accepted``, raises what the caller did wrong.

    ``note`` runs in the transaction that accepts it; what it raises undoes that.
    """
    if isinstance(action, actions.SignalResource):
        return (yield from signal(room, action, note))
    if isinstance(action, actions.CancelStack) and not action.rollback:
        return (yield from _cancel(room, action, note))
    accepted = None
    while accepted is None:
        proposal, stack = yield Call(lambda: propose(room, action))
        accepted = yield Tx(_noting(_accepting(proposal, stack), note))
    return accepted


def _noting(
    run: Callable[[Work], Accepted | None], note: Noted
) -> Callable[[Work], Accepted | None]:
    def both(work: Work) -> Accepted | None:
        accepted = run(work)
        if accepted is not None:
            note(work, accepted)
        return accepted

    return both


def roll_back(room: Room, stack_id: str) -> Step:
    """Plan the rollback that a failure has asked for."""
    accepted = None
    while accepted is None:
        proposal, stack = yield Call(lambda: rollback(room, stack_id))
        accepted = yield Tx(_accepting(proposal, stack))


def _accepting(proposal: Proposal | None, stack: StackRow) -> Callable[[Work], Accepted | None]:
    if proposal is None:
        answer = Accepted(stack.id, stack.generation, stack.name)
        return lambda work: answer
    return lambda work: accept(work, stack, proposal)


def accept(work: Work, seen: StackRow, proposal: Proposal) -> Accepted | None:
    """Apply a proposal; None if the stack is not what it was worked out for."""
    if proposal.action == "CREATE":
        stack = _new_stack(work, seen)
    else:
        found = work.tx.stack(seen.id)
        if found is None or found.deleted_at is not None:
            raise NotFound("Stack", seen.name)
        stack = found
        if stack.generation != proposal.generation:
            return None
        if proposal.action == "ROLLBACK" and stack.phase == IDLE:
            return None
        if proposal.owed and stack.next_action != "ROLLBACK":
            return None
        if proposal.action != "ROLLBACK":
            check_overtakes(stack, proposal.action)
    planning.apply(work, stack, proposal)
    return Accepted(stack.id, stack.generation, stack.name)


def _new_stack(work: Work, seen: StackRow) -> StackRow:
    if work.tx.live_stack_named(seen.project, seen.name) is not None:
        raise exists(seen.name)
    stack = dataclasses.replace(seen, created_at=work.now)
    work.tx.add_stack(stack)
    return stack


def _cancel(room: Room, action: actions.CancelStack, note: Noted) -> Step:
    stack = yield Call(lambda: room.reader().stack_row(action.stack, room.settings.project))

    def cancel(work: Work) -> Accepted:
        found = work.tx.stack(stack.id)
        if found is None or found.phase == IDLE or found.action == "DELETE":
            raise NotSupported(f"Stack {stack.name} has no action in progress to cancel.")
        endings.cancel(work, found, room.settings.cancel_grace)
        return Accepted(found.id, found.generation, found.name)

    return (yield Tx(_noting(cancel, note)))


# -- signals ----------------------------------------------------------------------------------


def signal(room: Room, action: actions.SignalResource, note: Noted) -> Step:
    """Hand a signal to a resource; store what its attributes say then.

    They are asked once more if an operation has begun or ended meanwhile.
    """
    seen: Seen = yield Call(lambda: _signalled(room, action))
    final: Final = yield Call(lambda: _deliver(room, seen, action))
    accepted = yield Tx(_noting(_storing(seen, final), note))
    while accepted is None:
        seen = yield Call(lambda: _signalled(room, action))
        final = yield Call(Operation(room.instances, seen).state)
        accepted = yield Tx(_noting(_storing(seen, final), note))
    return accepted


def _storing(seen: Seen, final: Final) -> Callable[[Work], Accepted | None]:
    """Store what a signal has changed, unless an operation has come between."""
    accepted = Accepted(seen.stack.id, seen.stack.generation, seen.stack.name)

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
    if handler is None or row.action == "INIT":
        raise NotSupported(
            f"Cannot signal resource {row.name}: 'SIGNAL' not supported for {row.type}."
        )
    handler(dict(action.details))
    return operation.state()
