"""``yaql``: an expression on data. The yaql library is imported when the first call is parsed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from zonda.core.template.evaluation.scope import Yaql as Evaluate
from zonda.core.template.source.bundle import Limits
from zonda.hooks.errors import Path
from zonda.hooks.function import (
    Function,
    ParseScope,
    ResolveScope,
    resolve_value,
)


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
        return scope.yaql(expression, resolve_value(self._data, scope))


def make_evaluator(limits: Limits) -> Evaluate:
    """Make the function ``yaql`` of a scope: it evaluates an expression within ``limits``."""

    def evaluate(expression: str, data: Any, spend: Callable[[int], None]) -> Any:
        from .yaql_engine.engine import Evaluator  # as above

        cost = limits.yaql_iterators, limits.yaql_memory, limits.yaql_seconds
        return Evaluator(*cost).evaluate(expression, data, spend)

    return evaluate
