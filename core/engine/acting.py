"""Actions as steps. An action is a plan (``plans.PLANS``) unless it stands in ``STEPS``.

A new action: its dataclass in ``actions.py``, and one line in one of the two tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from zonda.core.store.rows import StackRow
from zonda.hooks.errors import NotSupported

from . import actions, endings, recording
from .abandoning import abandon
from .accepting import Noted, accepted_as, noting, planned, unnoted
from .actions import Accepted, Action
from .clearing import clear_hooks
from .drift import asking, repairing
from .effects import Call, Step, Tx
from .marking import mark
from .plans import propose
from .preview.applying import apply_plan
from .preview.guarding import guarded
from .proposals import check_root, rollback
from .protecting import protect
from .room import Room
from .signals import signal
from .states import IDLE
from .work import Work


def act(room: Room, action: Action, note: Noted = unnoted) -> Step:
    """Carry out one action; gives ``Accepted``, raises what the caller did wrong.

    ``note`` runs in the transaction that accepts it; what it raises undoes that.
    """
    return (yield from STEPS.get(type(action), _plan)(room, action, note))


def _plan(room: Room, action: Any, note: Noted) -> Step:
    return (yield from planned(lambda: propose(room, action), note))


def _guarded(room: Room, action: Any, note: Noted) -> Step:
    return (yield from planned(lambda: guarded(room, action), note))


def roll_back(room: Room, stack_id: str) -> Step:
    """Plan the rollback that a failure has asked for."""
    return (yield from planned(lambda: rollback(room, stack_id)))


def _cancel(room: Room, action: actions.CancelStack, note: Noted) -> Step:
    stack = yield Call(lambda: _to_cancel(room, action.stack))
    accepted = yield Tx(noting(_cancelling_signals(room, stack), note))
    if accepted is not None:
        return accepted
    if action.rollback:
        return (yield from _plan(room, action, note))

    def cancel(work: Work) -> Accepted:
        found = work.tx.stack(stack.id)
        if found is None or found.phase == IDLE or found.action == "DELETE":
            raise NotSupported(f"Stack {stack.name} has no action in progress to cancel.")
        recording.cancelled(work, found, room.settings.user)
        endings.cancel(work, found, room.settings.cancel_grace)
        return accepted_as(found)

    return (yield Tx(noting(cancel, note)))


def _cancelling_signals(room: Room, stack: StackRow) -> Callable[[Work], Accepted | None]:
    """Cancel what signals have begun where no action runs; None where there is nothing of it."""

    def cancel(work: Work) -> Accepted | None:
        found = work.tx.stack(stack.id)
        if found is None or not endings.cancel_signalled(work, found, room.settings.cancel_grace):
            return None
        return accepted_as(found)

    return cancel


def _to_cancel(room: Room, name: str) -> StackRow:
    stack = room.reader().stack_row(name, room.settings.project)
    check_root(room, stack)
    return stack


#: Plans of templates that a user asks for: nothing protected may go, however deep it lies.
_GUARDED = (
    actions.UpdateStack,
    actions.RollbackStack,
    actions.RetryStack,
    actions.RestoreSnapshot,
)

#: Actions that are more, or less, than a plan: (room, action, note) -> step that gives Accepted.
STEPS: Mapping[type[Any], Callable[[Room, Any, Noted], Step]] = {
    actions.ApplyPlan: apply_plan,
    actions.AbandonStack: abandon,
    actions.CancelStack: _cancel,
    actions.SignalResource: signal,
    actions.ClearHooks: clear_hooks,
    actions.ProtectStack: protect,
    actions.MarkResource: mark,
    actions.CheckDrift: asking.check,
    actions.RepairDrift: repairing.repair,
    actions.SetDrift: asking.set_drift,
    actions.IgnoreDrift: asking.ignore,
    actions.UnignoreDrift: asking.unignore,
    **dict.fromkeys(_GUARDED, _guarded),
}
