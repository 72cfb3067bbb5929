"""Actions: the requests to the engine, as data that travels through table ``request``.

Called by the faces, ``plan`` and ``handlers``; imports nothing of the engine. A new action is a
dataclass in a module of this folder, named in ``wire.PLACES`` and below; its work stands in
``handlers.registry`` or ``plan.registry``. ``stack`` is a name or an id. A command makes one
action, so a kind is imported when somebody names it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .answers import Accepted, parse_answer
from .base import Action, Caller
from .wire import find_action_class, from_json, parse_caller, to_json

if TYPE_CHECKING:  # what __getattr__ gives
    from .drift import CheckDrift, IgnoreDrift, RepairDrift, SetDrift, UnignoreDrift
    from .ownership import AbandonStack, AdoptStack, ImportResource
    from .resources import ClearHooks, MarkResource, MoveResource, ProtectStack, SignalResource
    from .snapshots import DeleteSnapshot, RestoreSnapshot, SnapshotStack
    from .stacks import (
        CancelStack,
        CheckStack,
        DeleteStack,
        ResumeStack,
        RetryStack,
        RollbackStack,
        SuspendStack,
    )
    from .templates import ApplyPlan, CreateStack, UpdateStack

__all__ = [
    "AbandonStack",
    "Accepted",
    "Action",
    "AdoptStack",
    "ApplyPlan",
    "Caller",
    "CancelStack",
    "CheckDrift",
    "CheckStack",
    "ClearHooks",
    "CreateStack",
    "DeleteSnapshot",
    "DeleteStack",
    "IgnoreDrift",
    "ImportResource",
    "MarkResource",
    "MoveResource",
    "ProtectStack",
    "RepairDrift",
    "RestoreSnapshot",
    "ResumeStack",
    "RetryStack",
    "RollbackStack",
    "SetDrift",
    "SignalResource",
    "SnapshotStack",
    "SuspendStack",
    "UnignoreDrift",
    "UpdateStack",
    "from_json",
    "parse_answer",
    "parse_caller",
    "to_json",
]


def __getattr__(name: str) -> Any:
    """A kind of action by its name."""
    try:
        found = globals()[name] = find_action_class(name)
    except KeyError:
        raise AttributeError(f"There is no action {name}.") from None
    return found
