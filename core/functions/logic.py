"""``if``, and the functions of conditions: equals, not, and, or."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from zonda.hooks.errors import HiddenIndex, Path
from zonda.hooks.function import (
    ABSENT,
    Function,
    ParseScope,
    ResolveScope,
    Source,
    resolve,
    resolve_value,
    sources,
)


class If(Function):
    """``if: [condition, value_if_true, value_if_false]``.

    The condition decides while the call is parsed; the other branch is not even parsed, so that
    its faults and references do not matter.
    """

    __slots__ = ("_condition",)

    #: The allowed numbers of arguments.
    counts: ClassVar[tuple[int, ...]] = (3,)

    def __init__(self, scope: ParseScope, name: str, args: Any, path: Path) -> None:
        self.name = name
        self.path = path
        if not isinstance(args, list) or len(args) not in self.counts:
            raise ValueError(
                f'Arguments to "{name}" must be of the form: '
                "[condition_name, value_if_true, value_if_false]"
            )
        self._condition = args[0] if isinstance(args[0], str) else None
        branch = HiddenIndex(1 if scope.condition(args[0], (*path, 0)) else 2)
        self.args = scope.parse(args[branch], (*path, branch)) if branch < len(args) else ABSENT

    def sources(self) -> Iterator[Source]:
        """The named condition, and what the branch taken reads."""
        if self._condition is not None:
            yield Source("condition", self._condition)
        yield from sources(self.args)

    def resolve(self, scope: ResolveScope) -> Any:
        """The value of the branch taken; ABSENT where there is none."""
        return resolve(self.args, scope)


class IfOptional(If):
    """``if`` from 2021-04-16 on: without a third argument the value may be absent."""

    __slots__ = ()
    counts = (2, 3)


class FixedList(Function):
    """Base of functions that take a list of ``length`` arguments; ``usage``: the error else."""

    __slots__ = ()
    length: ClassVar[int] = 2
    usage: ClassVar[str]

    def __init__(self, scope: ParseScope, name: str, args: Any, path: Path) -> None:
        super().__init__(scope, name, args, path)
        if not isinstance(self.args, list) or len(self.args) != self.length:
            raise ValueError(self.usage.format(name=name))


class Equals(FixedList):
    """``equals: [value_1, value_2]``, by Python's equality."""

    __slots__ = ()
    usage = 'Arguments to "{name}" must be of the form: [value_1, value_2]'

    def resolve(self, scope: ResolveScope) -> Any:
        """Whether both are equal."""
        one, other = (resolve_value(arg, scope) for arg in self.args)
        return bool(one == other)


class _Combined(Function):
    """Base of the functions whose operands are conditions."""

    __slots__ = ()

    def sources(self) -> Iterator[Source]:
        """The named conditions among the operands, and what the other operands read."""
        for operand in self.args if isinstance(self.args, list) else [self.args]:
            if isinstance(operand, str):
                yield Source("condition", operand)
        yield from sources(self.args)

    def _evaluate_operand(self, operand: Any, scope: ResolveScope) -> bool:
        """Evaluate an operand: a boolean, the name of a condition, or null, which is true."""
        value = resolve_value(operand, scope)
        if value is None or isinstance(value, bool):
            return value is not False
        if not isinstance(value, str):
            raise ValueError(f'Invalid condition "{value}"')
        return scope.condition(value)


class Not(_Combined):
    """``not: condition``."""

    __slots__ = ()

    def __init__(self, scope: ParseScope, name: str, args: Any, path: Path) -> None:
        super().__init__(scope, name, args, path)
        if self.args is None:
            raise ValueError(f'Argument to "{name}" must be a condition')

    def resolve(self, scope: ResolveScope) -> Any:
        """Whether the operand is false."""
        return not self._evaluate_operand(self.args, scope)


class NotOne(Not):
    """``Fn::Not: [condition]``."""

    __slots__ = ()

    def __init__(self, scope: ParseScope, name: str, args: Any, path: Path) -> None:
        if not isinstance(args, list) or len(args) != 1:
            raise ValueError(f'Arguments to "{name}" must be of the form: [condition]')
        super().__init__(scope, name, args[0], path)


class _Several(_Combined):
    """Base of ``and`` and ``or``: the first operand that decides ends it."""

    __slots__ = ()

    #: The value of an operand that settles the result.
    decisive: ClassVar[bool]

    def __init__(self, scope: ParseScope, name: str, args: Any, path: Path) -> None:
        super().__init__(scope, name, args, path)
        if not isinstance(self.args, list):
            raise ValueError(f'Arguments to "{name}" must be a list of conditions')
        if len(self.args) < 2:
            raise ValueError(f'The minimum number of condition arguments to "{name}" is 2.')

    def resolve(self, scope: ResolveScope) -> Any:
        """The operands combined.

        Every function among them is resolved; a name behind the one that decides is not looked up.
        """
        for operand in resolve(self.args, scope):
            if self._evaluate_operand(operand, scope) is self.decisive:
                return self.decisive
        return not self.decisive


class And(_Several):
    """``and: [condition, ...]``."""

    __slots__ = ()
    decisive = False


class Or(_Several):
    """``or: [condition, ...]``."""

    __slots__ = ()
    decisive = True
