"""Functions on lists: list_concat, list_concat_unique, filter, contains."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable
from typing import Any

from zonda.hooks.errors import Path
from zonda.hooks.function import Function, ParseScope, ResolveScope, resolve_value

from .size_limits import to_hashable


class ListConcat(Function):
    """``list_concat: [list, ...]``: one list; null lists are skipped, null items stay."""

    __slots__ = ()

    def resolve(self, scope: ResolveScope) -> Any:
        """The list; raises TypeError for what is no list."""
        lists = resolve_value(self.args, scope)
        if not isinstance(lists, list):
            raise TypeError(
                f'Incorrect arguments to "{self.name}" should be: '
                f'"{self.name}" : [ [ <value 1>, <value 2> ], [ <value 3>, <value 4> ] ]'
            )
        for item in lists:
            if item is not None and not isinstance(item, list):
                raise TypeError(
                    "Incorrect arguments: Items to concat must be lists. "
                    f"{_format_value(lists)} contains an item that is not a "
                    f"list: {_format_value(item)}"
                )
        return self._combine(item for some in lists for item in some or ())

    def _combine(self, items: Iterable[Any]) -> list[Any]:
        return list(items)


class ListConcatUnique(ListConcat):
    """``list_concat_unique``: as list_concat, each item once (1, 1.0 and true are one)."""

    __slots__ = ()

    def _combine(self, items: Iterable[Any]) -> list[Any]:
        return drop_duplicates(items)


def drop_duplicates(items: Iterable[Any]) -> list[Any]:
    """Keep the first of each group of equal items, in order."""
    kept: list[Any] = []
    seen: set[Hashable] = set()
    for item in items:
        key = to_hashable(item)
        if key not in seen:
            seen.add(key)
            kept.append(item)
    return kept


def _format_value(value: Any) -> str:
    try:
        return json.dumps(value)
    except (TypeError, ValueError):
        return repr(value)


class Filter(Function):
    """``filter: [values, list]``: the list without the values."""

    __slots__ = ()

    def __init__(self, scope: ParseScope, name: str, args: Any, path: Path) -> None:
        super().__init__(scope, name, args, path)
        if not isinstance(self.args, list):
            raise TypeError(f'Argument to "{name}" must be a list')
        if len(self.args) != 2:
            raise ValueError(
                f'"{name}" expected 2 arguments of the form [values, sequence] '
                f"but got {len(self.args)} arguments instead"
            )

    def resolve(self, scope: ResolveScope) -> Any:
        """The list; as it is where either argument is empty."""
        items = resolve_value(self.args[1], scope)
        if not items:
            return items
        if not isinstance(items, list):
            raise TypeError(f'"{self.name}" only works with lists')
        values = resolve_value(self.args[0], scope)
        if not values:
            return items
        if not isinstance(values, list):
            raise TypeError(f'"{self.name}" filters a list of values')
        unwanted = set(map(to_hashable, values))
        return [item for item in items if to_hashable(item) not in unwanted]


class Contains(Function):
    """``contains: [value, sequence]``: whether a list has an item, or a text a part."""

    __slots__ = ()

    def __init__(self, scope: ParseScope, name: str, args: Any, path: Path) -> None:
        super().__init__(scope, name, args, path)
        if not self.args or not isinstance(self.args, list):
            raise TypeError(
                f'Incorrect arguments to "{name}" should be: '
                f'"{name}" : [ "value1", [ "value1", "value2"]]'
            )
        if len(self.args) != 2:
            raise ValueError(
                f'Arguments to "{name}" must be of the form: [value1, [value1, value2]]'
            )

    def resolve(self, scope: ResolveScope) -> Any:
        """True or false; raises TypeError where the second argument is no sequence."""
        value, items = (resolve_value(arg, scope) for arg in self.args)
        if not isinstance(items, list | str):
            raise TypeError(f'Second argument to "{self.name}" should be a sequence.')
        if isinstance(items, str) and not isinstance(value, str):
            raise TypeError(f'"{self.name}" can only look for text in a text')
        return value in items
