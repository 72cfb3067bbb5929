"""Actions as steps. An action is a plan (``plans.PLANS``) unless it stands in ``STEPS``.

A new action: its dataclass in a module of ``actions``, and one line in one of the two tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from . import places
from .accepting import Noted, planned, unnoted
from .actions import Action
from .effects import Step
from .plans import propose
from .proposals import rollback
from .room import Room


def act(room: Room, action: Action, note: Noted = unnoted) -> Step:
    """Carry out one action; gives ``Accepted``, raises what the caller did wrong.

    ``note`` runs in the transaction that accepts it; what it raises undoes that.
    """
    return (yield from _step_of(action)(room, action, note))


def _step_of(action: Action) -> Callable[[Room, Any, Noted], Step]:
    place = STEPS.get(type(action).__name__)
    found: Callable[[Room, Any, Noted], Step] = _plan if place is None else places.at(place)
    return found


def _plan(room: Room, action: Any, note: Noted) -> Step:
    return (yield from planned(lambda: propose(room, action), note))


def roll_back(room: Room, stack_id: str) -> Step:
    """Plan the rollback that a failure has asked for."""
    return (yield from planned(lambda: rollback(room, stack_id)))


#: Plans of templates that a user asks for: nothing protected may go, however deep it lies.
_GUARDED = ("UpdateStack", "RollbackStack", "RetryStack", "RestoreSnapshot")

#: Actions that are more, or less, than a plan: (room, action, note) -> step that gives Accepted.
STEPS: Mapping[str, str] = {
    "ApplyPlan": "preview.applying:apply_plan",
    "AbandonStack": "abandoning:abandon",
    "CancelStack": "cancelling:cancel",
    "SignalResource": "signals:signal",
    "ClearHooks": "clearing:clear_hooks",
    "ProtectStack": "protecting:protect",
    "MarkResource": "marking:mark",
    "MoveResource": "renaming:move",
    "CheckDrift": "drift.asking:check",
    "RepairDrift": "drift.repairing:repair",
    "SetDrift": "drift.asking:set_drift",
    "IgnoreDrift": "drift.asking:ignore",
    "UnignoreDrift": "drift.asking:unignore",
    **dict.fromkeys(_GUARDED, "guarding:plan"),
}
