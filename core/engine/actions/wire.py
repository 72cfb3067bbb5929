"""Actions as JSON texts and back: ``to_json`` and ``from_json`` are each other's inverse."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import Any

from zonda.core.template.source.bundle import Bundle

from .base import Action, Caller
from .table import find_action_class


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
