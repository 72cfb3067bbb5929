"""Actions on single resources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.hooks.records import dataclass, field

from .base import Action


@dataclass(frozen=True, slots=True)
class SignalResource(Action):
    """Hand ``details`` to one resource."""

    stack: str
    resource: str
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClearHooks(Action):
    """Clear breakpoints of resources (names or patterns); without ``hooks``: all of them."""

    stack: str
    resources: tuple[str, ...]
    hooks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProtectStack(Action):
    """Protect resources (without any: the stack) against deletion, or end that (not ``on``)."""

    stack: str
    resources: tuple[str, ...] = ()
    on: bool = True


@dataclass(frozen=True, slots=True)
class MoveResource(Action):
    """Have the next update find a resource under the name ``to``; None: cancel the move."""

    stack: str
    resource: str
    to: str | None = None


@dataclass(frozen=True, slots=True)
class MarkResource(Action):
    """Mark a resource as unhealthy, or as ``healthy`` although a check of it has failed."""

    stack: str
    resource: str
    reason: str = ""
    healthy: bool = False
