"""Actions as JSON texts and back: ``to_json`` and ``from_json`` are each other's inverse."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from importlib import import_module
from typing import Any

from zonda.core.template.source.bundle import Bundle

from .base import Action, Caller

#: Where which kinds stand: a process asks for one of them, or for few.
PLACES = {
    "templates": ("CreateStack", "UpdateStack", "ApplyPlan"),
    "stacks": (
        "DeleteStack",
        "SuspendStack",
        "ResumeStack",
        "CheckStack",
        "CancelStack",
        "RollbackStack",
        "RetryStack",
    ),
    "ownership": ("AdoptStack", "AbandonStack", "ImportResource"),
    "snapshots": ("SnapshotStack", "DeleteSnapshot", "RestoreSnapshot"),
    "resources": ("SignalResource", "ClearHooks", "ProtectStack", "MarkResource", "MoveResource"),
    "drift": ("CheckDrift", "RepairDrift", "SetDrift", "IgnoreDrift", "UnignoreDrift"),
}
_MODULE_OF = {name: module for module, names in PLACES.items() for name in names}


def find_action_class(name: str) -> type[Any]:
    """The class of an action; raises KeyError where there is none of this name."""
    module = import_module(f".{_MODULE_OF[name]}", __package__)
    found: type[Any] = getattr(module, name)
    return found


def to_json(action: Any, caller: Caller | None = None) -> str:
    """The action as JSON text, with the ``caller`` who asks for it."""
    values = {item.name: getattr(action, item.name) for item in fields(action)}
    if isinstance(values.get("bundle"), Bundle):
        values["bundle"] = values["bundle"].to_json()
    return json.dumps(
        {"action": type(action).__name__, "asked by": asdict(caller or Caller()), **values}
    )


def from_json(text: str) -> Action:
    """The action that ``to_json`` wrote."""
    values = json.loads(text)
    values.pop("asked by", None)
    kind = find_action_class(values.pop("action"))
    if values.get("bundle") is not None:
        values["bundle"] = Bundle.from_json(values["bundle"])
    for item in fields(kind):
        if isinstance(values.get(item.name), list) and "tuple" in str(item.type):
            values[item.name] = tuple(values[item.name])
    made: Action = kind(**values)
    return made


def parse_caller(text: str) -> Caller:
    """The caller that ``to_json`` was given; raises KeyError or TypeError where it has none."""
    return Caller(**json.loads(text)["asked by"])
