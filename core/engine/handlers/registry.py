"""Actions as steps. An action is a plan (``plans.PLANS``) unless it stands in ``STEPS``.

A new action: its dataclass in a module of ``actions``, and one line in one of the two tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..actions import Action, places
from ..model.effects import Step
from ..plan.accept import Noted, propose_and_accept, skip_note
from ..plan.from_template import plan_rollback
from ..plan.registry import propose
from ..services import EngineServices


def act(services: EngineServices, action: Action, note: Noted = skip_note) -> Step:
    """Carry out one action; returns ``Accepted``, raises errors of the caller.

    ``note`` runs in the transaction that accepts it; what it raises undoes that.
    """
    return (yield from _find_step(action)(services, action, note))


def _find_step(action: Action) -> Callable[[EngineServices, Any, Noted], Step]:
    place = STEPS.get(type(action).__name__)
    found: Callable[[EngineServices, Any, Noted], Step] = (
        _plan_action if place is None else places.load_function(place)
    )
    return found


def _plan_action(services: EngineServices, action: Any, note: Noted) -> Step:
    return (yield from propose_and_accept(lambda: propose(services, action), note))


def roll_back(services: EngineServices, stack_id: str) -> Step:
    """Plan the rollback after a failure."""
    return (yield from propose_and_accept(lambda: plan_rollback(services, stack_id)))


#: Plans of templates that a user asks for: nothing protected may go, however deep it lies.
_GUARDED = ("UpdateStack", "RollbackStack", "RetryStack", "RestoreSnapshot")

#: Actions that are more, or less, than a plan: (room, action, note) -> step that gives Accepted.
STEPS: Mapping[str, str] = {
    "ApplyPlan": "preview.apply:apply_plan",
    "AbandonStack": "handlers.abandon:abandon",
    "CancelStack": "handlers.cancel:cancel",
    "SignalResource": "handlers.signal:signal",
    "ClearHooks": "handlers.breakpoints:clear_hooks",
    "ProtectStack": "handlers.protect:protect",
    "MarkResource": "handlers.health:mark",
    "MoveResource": "handlers.move:move",
    "CheckDrift": "drift.actions:begin_check",
    "RepairDrift": "drift.repair:repair",
    "SetDrift": "drift.actions:set_drift",
    "IgnoreDrift": "drift.actions:ignore",
    "UnignoreDrift": "drift.actions:unignore",
    **dict.fromkeys(_GUARDED, "handlers.guard:plan"),
}
