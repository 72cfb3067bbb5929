"""The ``conditions`` section: parsed and checked at once, evaluated only when something asks.

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
    from_exception,
    suggestion,
    type_name,
    wrapped,
)

SECTION = "conditions"
_LABEL = "Condition validation error"

#: So many conditions may lead to one another: evaluating them is recursive.
_DEEPEST = 100


class Conditions:
    """Named conditions. A value is asked for at most once; circles are found on the way."""

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
                    f"Condition definitions must be a map. Found a {type_name(data)} instead",
                    label="Conditions validation error",
                    at=(SECTION,),
                    code=CONDITION,
                )
            )
            return
        for name, definition in data.items():
            if not isinstance(name, str):
                parser.errors.append(_name_fault(name))
                continue
            tree, faults = parser.condition_tree(definition, (SECTION, name))
            parser.errors.extend(faults)
            self._trees[name] = tree
        for name, tree in self._trees.items():
            faults = _static_faults(name, tree, scope)
            if isinstance(tree, dict) and len(tree) == 1:
                faults[0].hint = suggestion(next(iter(tree)), parser.condition_names)
            parser.errors.extend(faults)

    def enabled(self, value: Any, scope: ResolveScope) -> bool:
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
            raise _fault(
                name,
                f'Circular definition for condition "{name}"',
                code=CONDITION_CIRCULAR,
                hint=f"The circle is {' -> '.join(ring)}.",
            )
        if len(self._running) >= _DEEPEST:
            text = f'The definition of condition "{name}" lies {_DEEPEST} conditions deep'
            raise _fault(name, text)
        self._running.append(name)
        try:
            value = resolve(self._trees[name], scope)
        finally:
            self._running.pop()
        if not isinstance(value, bool):
            raise _invalid(name, value)
        return value

    def values(self, scope: ResolveScope) -> dict[str, bool | TemplateError]:
        """The truth of every name, or why there is none."""
        return {name: self._value(name, scope) for name in self._trees}

    def _value(self, name: str, scope: ResolveScope) -> bool | TemplateError:
        try:
            return self.enabled(name, scope)
        except FAULTS as error:
            return from_exception(error)


def truth(tree: Any, parser: Parser, path: Path) -> bool:
    """The truth of a resource's or an output's condition; a fault says that it stands at ``path``.

    ``tree`` is parsed. Raises TemplateError.
    """
    try:
        return parser.enabled(tree)
    except FAULTS as error:
        raise wrapped(error, path=path) from error


def _static_faults(name: str, tree: Any, scope: Scope) -> list[TemplateError]:
    if isinstance(tree, bool | Broken):
        return []
    if not isinstance(tree, Function):
        return [_invalid(name, tree)]
    faults = [from_exception(error) for error in validate(tree, scope)]
    for fault in faults:
        if fault.path[:2] == (SECTION, name):
            fault.path = fault.path[2:]
    return faults


def _invalid(name: str, value: Any) -> TemplateError:
    return _fault(name, f'The definition of condition "{name}" is invalid: {value}')


def _fault(name: str, message: str, code: str = CONDITION, hint: str = "") -> TemplateError:
    return TemplateError(message, label=_LABEL, at=(SECTION, name), code=code, hint=hint)


def _name_fault(name: Any) -> TemplateError:
    return TemplateError(
        f"The name of a condition must be text, not {name!r}.",
        label="Conditions validation error",
        at=(SECTION, name),
        code=CONDITION,
        heat_type="TypeError",
        hint="Put the name in quotes.",
    )
