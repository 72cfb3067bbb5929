"""Of single resources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .base import Action


@dataclass(frozen=True, slots=True)
class SignalResource(Action):
    """Hand ``details`` to one resource."""

    stack: str
    resource: str
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClearHooks(Action):
    """Let resources go on that wait at a breakpoint: names or patterns; no hooks: at any."""

    stack: str
    resources: tuple[str, ...]
    hooks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProtectStack(Action):
    """Protect resources (without any: the stack) against deletion; not ``on``: no more."""

    stack: str
    resources: tuple[str, ...] = ()
    on: bool = True


@dataclass(frozen=True, slots=True)
class MoveResource(Action):
    """Have the next update find a resource under the name ``to``; None: under its own."""

    stack: str
    resource: str
    to: str | None = None


@dataclass(frozen=True, slots=True)
class MarkResource(Action):
    """Say that a resource is unhealthy, or ``healthy`` although a check of it has failed."""

    stack: str
    resource: str
    reason: str = ""
    healthy: bool = False
