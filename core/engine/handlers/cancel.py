"""``CancelStack``: start nothing more of what runs; or go back, which is a plan of its own."""

from __future__ import annotations

from collections.abc import Callable

from zonda.core.store.schema.rows import StackRow
from zonda.hooks.errors import NotSupported

from ..actions import Accepted, CancelStack
from ..model.effects import Call, Step, Tx
from ..model.states import IDLE
from ..model.unit_of_work import UnitOfWork
from ..operations import timeouts
from ..plan.accept import Noted, accepted_as, noting, planned
from ..plan.from_template import check_root
from ..plan.registry import propose
from ..progress import history
from ..services import EngineServices


def cancel(services: EngineServices, action: CancelStack, note: Noted) -> Step:
    """Carry it out; raises NotSupported where nothing runs."""
    stack = yield Call(lambda: _to_cancel(services, action.stack))
    accepted = yield Tx(noting(_cancelling_signals(services, stack), note))
    if accepted is not None:
        return accepted
    if action.rollback:
        return (yield from planned(lambda: propose(services, action), note))

    def run(work: UnitOfWork) -> Accepted:
        found = work.tx.stack(stack.id)
        if found is None or found.phase == IDLE or found.action == "DELETE":
            raise NotSupported(f"Stack {stack.name} has no action in progress to cancel.")
        history.cancelled(work, found, services.settings.user)
        timeouts.cancel(work, found, services.settings.cancel_grace)
        return accepted_as(found)

    return (yield Tx(noting(run, note)))


def _cancelling_signals(
    services: EngineServices, stack: StackRow
) -> Callable[[UnitOfWork], Accepted | None]:
    """Cancel what signals have begun where no action runs; None where there is nothing of it."""

    def cancel(work: UnitOfWork) -> Accepted | None:
        found = work.tx.stack(stack.id)
        if found is None or not timeouts.cancel_signalled(
            work, found, services.settings.cancel_grace
        ):
            return None
        return accepted_as(found)

    return cancel


def _to_cancel(services: EngineServices, name: str) -> StackRow:
    stack = services.reader().stack_named(name, services.settings.project)
    check_root(services, stack)
    return stack
