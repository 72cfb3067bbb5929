"""Constant folding: the value of an argument before any resource exists, or ``UNKNOWN``.

``get_resource: {get_param: name}`` makes a dependency, so the name must be known when the call is
parsed. Used by ``access`` and ``cfn``. A value that needs a resource, a file or a fault of its own
is simply not known here: the fault shows when the tree is validated or resolved.
"""

from __future__ import annotations

from typing import Any

from zonda.core.template.evaluation.unknown_values import UNKNOWN
from zonda.hooks.errors import Path, TemplateError
from zonda.hooks.function import Function, ParseScope, resolve_value


class _ParametersOnly:
    """A ResolveScope that knows parameters and conditions, and refuses everything else."""

    def __init__(self, scope: ParseScope, path: Path) -> None:
        self._scope = scope
        self._path = path

    def spend(self, values: int) -> None:
        self._scope.spend(values)

    def parameter(self, name: str) -> Any:
        return self._scope.parameter(name)

    def condition(self, name: str) -> bool:
        return self._scope.condition(name, self._path)

    def file(self, key: str) -> str:
        raise _make_unknown_error()

    def reference(self, resource: str, path: Path) -> Any:
        raise _make_unknown_error()

    def attribute(self, resource: str, attribute: str | None, rest: tuple[Any, ...]) -> Any:
        raise _make_unknown_error()

    def facade(self, kind: str) -> Any:
        raise _make_unknown_error()

    def yaql(self, expression: str, data: Any) -> Any:
        raise _make_unknown_error()


def _make_unknown_error() -> TemplateError:
    return TemplateError("is not known before resources exist")


def fold_constant(scope: ParseScope, tree: Any, path: Path) -> Any:
    """The value of a parsed ``tree`` that reads only parameters, else ``UNKNOWN``."""
    if not isinstance(tree, Function | dict | list):
        return tree
    try:
        return resolve_value(tree, _ParametersOnly(scope, path))
    except (TemplateError, TypeError, ValueError, KeyError):
        return UNKNOWN
