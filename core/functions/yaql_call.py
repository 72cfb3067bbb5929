"""``yaql``: an expression on data. The yaql library is imported when the first call is parsed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from zonda.core.template.evaluation.scope import Yaql as Evaluate
from zonda.core.template.source.bundle import Limits
from zonda.hooks.errors import Path
from zonda.hooks.function import (
    ABSENT,
    Function,
    ParseScope,
    ResolveScope,
    resolve,
    resolve_value,
)

from .access import GetAttr


class Yaql(Function):
    """``yaql: {expression: text, data: anything}``; the expression sees ``$.data``."""

    __slots__ = ("_data", "_expression")

    def __init__(self, scope: ParseScope, name: str, args: Any, path: Path) -> None:
        super().__init__(scope, name, args, path)
        if not isinstance(self.args, dict):
            raise TypeError(f'Arguments to "{name}" must be a map.')
        if "expression" not in self.args or self.args.keys() - {"expression", "data"}:
            raise KeyError(
                f'"{name}" syntax should be {name}:\n'
                "              expression: $.data.var1.sum()\n"
                "              data:\n"
                "                var1: [3, 2, 1]"
            )
        self._expression = self.args["expression"]
        self._data = self.args.get("data", {})

    def validate(self, scope: ResolveScope) -> Iterator[Exception]:
        """An expression that is no text or cannot be read."""
        yield from super().validate(scope)
        if isinstance(self._expression, Function):
            return
        try:
            self._check_expression(self._expression)
        except (TypeError, ValueError) as error:
            yield error

    def _check_expression(self, expression: Any) -> str:
        if not isinstance(expression, str):
            raise TypeError(f'The "expression" argument to {self.name} must contain a string.')
        from .yaql_engine.engine import (
            parse_expression,  # 90 ms that a template without yaql need not spend
        )

        parse_expression(expression)
        return expression

    def resolve(self, scope: ResolveScope) -> Any:
        """The expression's value; raises TemplateError with the class name that Heat shows."""
        expression = self._check_expression(resolve_value(self._expression, scope))
        return scope.yaql(expression, self._resolve_data(scope))

    def _resolve_data(self, scope: ResolveScope) -> Any:
        """Resolve the data; large attributes are frozen, since many expressions share them."""
        data = self._data
        if type(data) is not dict:
            return _resolve_value(data, scope)
        scope.spend(len(data))
        pairs = ((key, _resolve_value(value, scope, ABSENT)) for key, value in data.items())
        return {key: value for key, value in pairs if value is not ABSENT}


def _resolve_value(tree: Any, scope: ResolveScope, absent: Any = None) -> Any:
    if isinstance(tree, GetAttr):
        from .yaql_engine.data import freeze_with_size  # as above

        try:
            found = tree.derive(scope, "frozen for yaql", freeze_with_size)
        except RecursionError:
            found = None  # too deep: whoever evaluates the expression says so
        if found is not None:
            scope.spend(found.size)
            return found
    value = resolve(tree, scope)
    return absent if value is ABSENT else value


def make_evaluator(limits: Limits) -> Evaluate:
    """Make the function ``yaql`` of a scope: it evaluates an expression within ``limits``."""

    def evaluate(expression: str, data: Any, spend: Callable[[int], None]) -> Any:
        from .yaql_engine.engine import Evaluator  # as above

        cost = limits.yaql_iterators, limits.yaql_memory, limits.yaql_seconds
        return Evaluator(*cost).evaluate(expression, data, spend)

    return evaluate
