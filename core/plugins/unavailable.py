"""Placeholders for functions and constraints that cannot be used: each use gives the reason.

Without the stand-ins a function that two plug-ins bring would be plain data, and nobody would
notice.
"""

from __future__ import annotations

from typing import Any, NoReturn

from zonda.hooks.errors import Path, PluginError, TemplateError
from zonda.hooks.function import Function, ParseScope, ResolveScope
from zonda.hooks.schema.constraints import BaseCustomConstraint, Violation


def make_function(error: PluginError) -> type[Function]:
    """Make a function whose every call is an error with the reason of ``error``."""

    class Refused(Function):
        """Cannot be called."""

        __slots__ = ()

        def __init__(self, scope: ParseScope, name: str, args: Any, path: Path) -> None:
            raise TemplateError(error.message, hint=error.hint)

        def resolve(self, scope: ResolveScope) -> NoReturn:
            """Never comes to it."""
            raise TemplateError(error.message, hint=error.hint)

    return Refused


def make_constraint(error: PluginError) -> type[BaseCustomConstraint]:
    """Make a constraint that rejects every value, for the reason of ``error``."""

    class Refused(BaseCustomConstraint):
        """No value is good."""

        def validate(self, value: Any, context: Any) -> NoReturn:
            """Raise the reason, which holds no value: it may be told of hidden ones, too."""
            raise Violation(error.message, error.hint, discreet=error.message)

    return Refused
