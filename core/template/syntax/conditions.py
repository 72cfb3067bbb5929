"""The ``conditions`` section: parsed and checked at once, evaluated only on demand.

Called by ``stack.load``; resources, outputs and ``if`` ask for truth. A definition that nothing
uses may be circular or wrong without harm, as in Heat.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

from zonda.hooks.errors import Path, TemplateError
from zonda.hooks.function import Function, ResolveScope, resolve, validate

from ..evaluation.scope import Broken, Parser, Scope
from ..source.diagnostics import (
    CONDITION,
    CONDITION_CIRCULAR,
    CONDITION_UNKNOWN,
    FAULTS,
    format_type_name,
    from_exception,
    suggestion,
    wrap_error,
)

SECTION = "conditions"
_LABEL = "Condition validation error"

#: So many conditions may lead to one another: evaluating them is recursive.
_DEEPEST = 100


class Conditions:
    """Named conditions. Each is evaluated at most once; circles are found on the way."""

    def __init__(self) -> None:
        self._trees: dict[str, Any] = {}
        self._known: dict[str, bool] = {}
        self._faults: dict[str, TemplateError] = {}
        self._running: list[str] = []

    @property
    def names(self) -> list[str]:
        """The names, in template order."""
        return list(self._trees)

    def tree(self, name: str) -> Any:
        """The parsed definition; null for a name that is not there."""
        return self._trees.get(name)

    def load(self, data: Any, parser: Parser, scope: Scope) -> None:
        """Parse and check every definition; faults go to the parser's list."""
        if not isinstance(data, Mapping):
            parser.errors.append(
                TemplateError(
                    "Condition definitions must be a map. Found a "
                    f"{format_type_name(data)} instead",
                    label="Conditions validation error",
                    at=(SECTION,),
                    code=CONDITION,
                )
            )
            return
        for name, definition in data.items():
            if not isinstance(name, str):
                fault = TemplateError(
                    f"The name of a condition must be text, not {name!r}.",
                    label="Conditions validation error",
                    at=(SECTION, name),
                    code=CONDITION,
                    heat_type="TypeError",
                    hint="Put the name in quotes.",
                )
                parser.errors.append(fault)
                continue
            tree, faults = parser.parse_condition(definition, (SECTION, name))
            parser.errors.extend(faults)
            self._trees[name] = tree
        for name, tree in self._trees.items():
            faults = _find_static_faults(name, tree, scope)
            if isinstance(tree, dict) and len(tree) == 1:
                faults[0].hint = suggestion(next(iter(tree)), parser.condition_names)
            parser.errors.extend(faults)

    def evaluate_condition(self, value: Any, scope: ResolveScope) -> bool:
        """The truth of a name, a boolean, null (true) or a condition function.

        Raises TemplateError: with a label if it is a fault of a definition, else for the caller
        to say where.
        """
        if isinstance(value, Function):
            value = resolve(value, scope)
        if value is None or value is True:
            return True
        if value is False:
            return False
        if not isinstance(value, str) or value not in self._trees:
            raise TemplateError(
                f'Invalid condition "{value}"',
                code=CONDITION_UNKNOWN,
                heat_type="ValueError",
                hint=suggestion(value, self._trees),
            )
        if value in self._faults:
            # A copy, since whoever catches a fault may write down where it was felt.
            raise copy(self._faults[value])
        if value not in self._known:
            try:
                self._known[value] = self._evaluate(value, scope)
            except TemplateError as error:
                self._faults[value] = copy(error)
                raise
        return self._known[value]

    def _evaluate(self, name: str, scope: ResolveScope) -> bool:
        if name in self._running:
            ring = [*self._running[self._running.index(name) :], name]
            raise _make_fault(
                name,
                f'Circular definition for condition "{name}"',
                code=CONDITION_CIRCULAR,
                hint=f"The circle is {' -> '.join(ring)}.",
            )
        if len(self._running) >= _DEEPEST:
            text = f'The definition of condition "{name}" lies {_DEEPEST} conditions deep'
            raise _make_fault(name, text)
        self._running.append(name)
        try:
            value = resolve(self._trees[name], scope)
        finally:
            self._running.pop()
        if not isinstance(value, bool):
            raise _make_invalid_fault(name, value)
        return value

    def values(self, scope: ResolveScope) -> dict[str, bool | TemplateError]:
        """Evaluate every condition: its truth, or the fault why it has none."""
        return {name: self._evaluate_name(name, scope) for name in self._trees}

    def _evaluate_name(self, name: str, scope: ResolveScope) -> bool | TemplateError:
        try:
            return self.evaluate_condition(name, scope)
        except FAULTS as error:
            return from_exception(error)


def evaluate_condition(tree: Any, parser: Parser, path: Path) -> bool:
    """Evaluate the condition of a resource or an output; a fault gets the path ``path``.

    ``tree`` is parsed. Raises TemplateError.
    """
    try:
        return parser.evaluate_condition(tree)
    except FAULTS as error:
        raise wrap_error(error, path=path) from error


def _find_static_faults(name: str, tree: Any, scope: Scope) -> list[TemplateError]:
    if isinstance(tree, bool | Broken):
        return []
    if not isinstance(tree, Function):
        return [_make_invalid_fault(name, tree)]
    faults = [from_exception(error) for error in validate(tree, scope)]
    for fault in faults:
        if fault.path[:2] == (SECTION, name):
            fault.path = fault.path[2:]
    return faults


def _make_invalid_fault(name: str, value: Any) -> TemplateError:
    return _make_fault(name, f'The definition of condition "{name}" is invalid: {value}')


def _make_fault(name: str, message: str, code: str = CONDITION, hint: str = "") -> TemplateError:
    return TemplateError(message, label=_LABEL, at=(SECTION, name), code=code, hint=hint)
