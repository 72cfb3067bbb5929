"""Intrinsic functions, for plug-ins that resolve what they are given.

What a plug-in is given here is resolved already, so that resolving it again changes nothing; the
base class is there for functions that a plug-in makes itself.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from heat.common import exception


class Function(abc.ABC):
    """A call of a function with its arguments."""

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        self.stack = stack
        self.fn_name = fn_name
        self.args = args

    def validate(self) -> None:
        """Look for faults in the arguments."""
        validate(self.args)

    @abc.abstractmethod
    def result(self) -> Any:
        """The value."""

    def dependencies(self, path: str) -> Iterator[Any]:
        return dependencies(self.args, path)

    def dep_attrs(self, resource_name: str) -> Iterator[Any]:
        return iter(())

    def all_dep_attrs(self) -> Iterator[Any]:
        return iter(())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Function):
            return bool(self.result() == other.result())
        return bool(self.result() == other)

    __hash__ = None  # type: ignore[assignment]


class Macro(Function):
    """A function whose arguments are another call."""

    def __init__(
        self, stack: Any, fn_name: str, raw_args: Any, parse_func: Any, template: Any
    ) -> None:
        super().__init__(stack, fn_name, raw_args)
        self.template = template
        self.parsed = self.parse_args(parse_func)

    @abc.abstractmethod
    def parse_args(self, parse_func: Any) -> Any:
        """The call that stands for this one."""

    def result(self) -> Any:
        """The value."""
        return resolve(self.parsed)


class Invalid(Function):
    """A function that the template version does not have."""

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        raise exception.InvalidTemplateVersion(explanation=f"{fn_name} is not in this version")

    def result(self) -> Any:
        """Never asked for."""
        return None


def resolve(snippet: Any, nullable: bool = False) -> Any:
    """``snippet`` with the value of every call in it."""
    while isinstance(snippet, Function):
        snippet = snippet.result()
    if isinstance(snippet, Mapping):
        return {key: resolve(value) for key, value in snippet.items()}
    if isinstance(snippet, Sequence) and not isinstance(snippet, str | bytes):
        return [resolve(value) for value in snippet]
    return snippet


def validate(snippet: Any, path: Any = None) -> None:
    """Validate every call in ``snippet``."""
    if isinstance(snippet, Function):
        snippet.validate()
    elif isinstance(snippet, Mapping):
        for value in snippet.values():
            validate(value, path)
    elif isinstance(snippet, Sequence) and not isinstance(snippet, str | bytes):
        for value in snippet:
            validate(value, path)


def dependencies(snippet: Any, path: str = "") -> Iterator[Any]:
    """What the calls in ``snippet`` depend on."""
    if isinstance(snippet, Function):
        yield from snippet.dependencies(path)
    elif isinstance(snippet, Mapping):
        for key, value in snippet.items():
            yield from dependencies(value, f"{path}.{key}" if path else str(key))
    elif isinstance(snippet, Sequence) and not isinstance(snippet, str | bytes):
        for index, value in enumerate(snippet):
            yield from dependencies(value, f"{path}[{index}]")


def dep_attrs(snippet: Any, resource_name: str) -> Iterator[Any]:
    return iter(())


def all_dep_attrs(snippet: Any) -> Iterator[Any]:
    return iter(())
