"""Actions as steps. An action is a plan (``plans.PLANS``) unless it stands in ``STEPS``.

A new action: its dataclass in a module of ``actions``, and one line in one of the two tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..actions import Action, places
from ..model.effects import Step
from ..plan.accept import Noted, planned, unnoted
from ..plan.from_template import rollback
from ..plan.registry import propose
from ..services import EngineServices


def act(services: EngineServices, action: Action, note: Noted = unnoted) -> Step:
    """Carry out one action; gives ``Accepted``, raises what the caller did wrong.

    ``note`` runs in the transaction that accepts it; what it raises undoes that.
    """
    return (yield from _step_of(action)(services, action, note))


def _step_of(action: Action) -> Callable[[EngineServices, Any, Noted], Step]:
    place = STEPS.get(type(action).__name__)
    found: Callable[[EngineServices, Any, Noted], Step] = (
        _plan if place is None else places.at(place)
    )
    return found


def _plan(services: EngineServices, action: Any, note: Noted) -> Step:
    return (yield from planned(lambda: propose(services, action), note))


def roll_back(services: EngineServices, stack_id: str) -> Step:
    """Plan the rollback that a failure has asked for."""
    return (yield from planned(lambda: rollback(services, stack_id)))


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
    "CheckDrift": "drift.actions:check",
    "RepairDrift": "drift.repair:repair",
    "SetDrift": "drift.actions:set_drift",
    "IgnoreDrift": "drift.actions:ignore",
    "UnignoreDrift": "drift.actions:unignore",
    **dict.fromkeys(_GUARDED, "handlers.guard:plan"),
}
