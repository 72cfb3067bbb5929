"""Constraints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .context import ResourceContext


class Constraint:
    """Base."""

    def __init__(self, description: str | None = None) -> None:
        self.description = description

    def validate(
        self, value: Any, schema: Any = None, context: ResourceContext | None = None
    ) -> None:
        """Raise ValueError."""


class Range(Constraint):
    """Range."""

    def __init__(self, min: Any = None, max: Any = None, description: str | None = None) -> None:
        super().__init__(description)
        self.min = min
        self.max = max


class Length(Range):
    """Length."""


class Modulo(Constraint):
    """Modulo."""

    def __init__(
        self, step: Any = None, offset: Any = None, description: str | None = None
    ) -> None:
        super().__init__(description)
        self.step = step
        self.offset = offset


class AllowedValues(Constraint):
    """AllowedValues."""

    def __init__(self, allowed: Sequence[Any], description: str | None = None) -> None:
        super().__init__(description)
        self.allowed = tuple(allowed)


class AllowedPattern(Constraint):
    """AllowedPattern."""

    def __init__(self, pattern: str, description: str | None = None) -> None:
        super().__init__(description)
        self.pattern = pattern


class CustomConstraint(Constraint):
    """CustomConstraint."""

    def __init__(self, name: str, description: str | None = None, environment: Any = None) -> None:
        super().__init__(description)
        self.name = name
        self.environment = environment


class BaseCustomConstraint:
    """Base of custom constraints."""

    def validate(self, value: Any, context: ResourceContext | None) -> bool:
        """Whether it is good."""
        return True

    def error(self, value: Any) -> str:
        """Message."""
        return ""
