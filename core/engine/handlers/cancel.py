"""``CancelStack``: start nothing more of the running action; or roll it back, by a plan."""

from __future__ import annotations

from zonda.core.store.schema.rows import StackRow
from zonda.hooks.errors import NotSupported

from ..actions import Accepted, CancelStack
from ..model.effects import Call, Step, Tx
from ..model.states import IDLE
from ..model.unit_of_work import UnitOfWork
from ..operations import timeouts
from ..plan.accept import Noted, build_answer, propose_and_accept, with_note
from ..plan.from_template import check_root, plan_cancellation
from ..plan.propose import propose
from ..progress import history
from ..services import EngineServices


def cancel(services: EngineServices, action: CancelStack, note: Noted) -> Step:
    """Carry it out; raises NotSupported where nothing runs.

    Operations that signals have begun are cancelled, too.
    """
    settings = services.settings
    stack = yield Call(lambda: _find_stack(services, action.stack))

    def stop(work: UnitOfWork) -> Accepted | None:
        found = work.tx.stack(stack.id)
        grace, is_busy = settings.cancel_grace, found is not None and found.phase != IDLE
        if found is None or is_busy or not timeouts.cancel_signalled(work, found, grace):
            if action.rollback:
                return None
            if found is None or not is_busy or found.action == "DELETE":
                raise NotSupported(f"Stack {stack.name} has no action in progress to cancel.")
            history.record_cancellation(work, found, settings.user)
            timeouts.cancel(work, found, grace)
        return build_answer(found)

    accepted = yield Tx(with_note(stop, note))
    if accepted is not None:
        return accepted
    return (
        yield from propose_and_accept(lambda: propose(services, action, plan_cancellation), note)
    )


def _find_stack(services: EngineServices, name: str) -> StackRow:
    stack = services.reader().stack_named(name, services.settings.project)
    check_root(services, stack)
    return stack
