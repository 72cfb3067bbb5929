"""``CancelStack``: start nothing more of what runs; or go back, which is a plan of its own."""

from __future__ import annotations

from collections.abc import Callable

from zonda.core.store.schema.rows import StackRow
from zonda.hooks.errors import NotSupported

from ..actions import Accepted, CancelStack
from ..model.effects import Call, Step, Tx
from ..model.states import IDLE
from ..model.unit_of_work import Work
from ..operations import timeouts
from ..plan.accept import Noted, accepted_as, noting, planned
from ..plan.from_template import check_root
from ..plan.registry import propose
from ..progress import history
from ..services import Room


def cancel(room: Room, action: CancelStack, note: Noted) -> Step:
    """Carry it out; raises NotSupported where nothing runs."""
    stack = yield Call(lambda: _to_cancel(room, action.stack))
    accepted = yield Tx(noting(_cancelling_signals(room, stack), note))
    if accepted is not None:
        return accepted
    if action.rollback:
        return (yield from planned(lambda: propose(room, action), note))

    def run(work: Work) -> Accepted:
        found = work.tx.stack(stack.id)
        if found is None or found.phase == IDLE or found.action == "DELETE":
            raise NotSupported(f"Stack {stack.name} has no action in progress to cancel.")
        history.cancelled(work, found, room.settings.user)
        timeouts.cancel(work, found, room.settings.cancel_grace)
        return accepted_as(found)

    return (yield Tx(noting(run, note)))


def _cancelling_signals(room: Room, stack: StackRow) -> Callable[[Work], Accepted | None]:
    """Cancel what signals have begun where no action runs; None where there is nothing of it."""

    def cancel(work: Work) -> Accepted | None:
        found = work.tx.stack(stack.id)
        if found is None or not timeouts.cancel_signalled(work, found, room.settings.cancel_grace):
            return None
        return accepted_as(found)

    return cancel


def _to_cancel(room: Room, name: str) -> StackRow:
    stack = room.reader().stack_named(name, room.settings.project)
    check_root(room, stack)
    return stack
