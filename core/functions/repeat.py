"""``repeat``: one copy of a template for each item of a list, or for each combination of items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

from zonda.hooks.errors import Path
from zonda.hooks.function import (
    TEXT_PER_VALUE,
    Function,
    ParseScope,
    ResolveScope,
    resolve_value,
)


class Repeat(Function):
    """``repeat: {for_each: {placeholder: list}, template: ...}`` before 2016-10-14.

    The template is resolved before its placeholders are replaced, and a later placeholder sees
    what an earlier one put in; both as in Heat.
    """

    __slots__ = ("_for_each", "_template")

    def __init__(self, scope: ParseScope, name: str, args: Any, path: Path) -> None:
        super().__init__(scope, name, args, path)
        if not isinstance(self.args, dict):
            raise TypeError(f'Arguments to "{name}" must be a map')
        if "for_each" not in self.args or "template" not in self.args:
            raise KeyError(
                f'"{name}" syntax should be repeat:\n'
                "              template: This is %var%\n"
                "              for_each:\n"
                "                %var%: ['a', 'b', 'c']"
            )
        self._for_each = self.args["for_each"]
        self._template = self.args["template"]

    def validate(self, scope: ResolveScope) -> Iterator[Exception]:
        """A ``for_each`` that can be no map."""
        yield from super().validate(scope)
        if not isinstance(self._for_each, dict | Function):
            yield TypeError(f'The "for_each" argument to "{self.name}" must contain a map')

    def resolve(self, scope: ResolveScope) -> Any:
        """The list of copies; the first placeholder varies slowest."""
        for_each = resolve_value(self._for_each, scope)
        if not isinstance(for_each, dict) or not for_each:
            raise TypeError(f'The "for_each" argument to "{self.name}" must contain a map')
        lists = [self._list_items(value) for value in for_each.values()]
        template = resolve_value(self._template, scope)
        placeholders = list(for_each)
        # Each copy is gone through once more for each placeholder.
        scope.spend(self._count_rows(lists) * _measure_size(template) * len(placeholders))
        return [
            _fill_template(template, placeholders, items, scope)
            for items in self._combine_rows(lists)
        ]

    def _list_items(self, value: Any) -> Sequence[Any]:
        if value is None:
            return ()
        if isinstance(value, list):
            return value
        raise TypeError(f'The values of the "for_each" argument to "{self.name}" must be lists')

    def _combine_rows(self, lists: list[Sequence[Any]]) -> Iterable[Sequence[Any]]:
        return product(*lists)

    def _count_rows(self, lists: list[Sequence[Any]]) -> int:
        """Count the rows that there will be, at most."""
        return prod(map(len, lists))


class RepeatMaps(Repeat):
    """``repeat`` from 2016-10-14 on: a map stands for its keys."""

    __slots__ = ()

    def _list_items(self, value: Any) -> Sequence[Any]:
        if value is None or isinstance(value, dict | list):
            return list(value or ())
        raise TypeError(
            f'The values of the "for_each" argument to "{self.name}" must be lists or maps'
        )


class RepeatPermutations(RepeatMaps):
    """``repeat`` from 2017-09-01 on: ``permutations: false`` takes the lists side by side."""

    __slots__ = ("_permutations",)

    def __init__(self, scope: ParseScope, name: str, args: Any, path: Path) -> None:
        super().__init__(scope, name, args, path)
        self._permutations = self.args.get("permutations", True)
        if not isinstance(self._permutations, bool):
            raise TypeError(f'"permutations" should be boolean type for {name} function.')

    def _list_items(self, value: Any) -> Sequence[Any]:
        return super()._list_items(value) if self._permutations else Repeat._list_items(self, value)

    def _combine_rows(self, lists: list[Sequence[Any]]) -> Iterable[Sequence[Any]]:
        if self._permutations:
            return super()._combine_rows(lists)
        # An empty tuple stands for null, which has no length: what is left must still agree.
        if len({len(items) for items in lists if items != ()}) > 1:
            raise ValueError(
                f"For {self.name}, the length of for_each values should be equal if no nested loop."
            )
        return zip(*lists, strict=False)

    def _count_rows(self, lists: list[Sequence[Any]]) -> int:
        return super()._count_rows(lists if self._permutations else lists[:1])


def _fill_template(
    template: Any, placeholders: Sequence[Any], items: Sequence[Any], scope: ResolveScope
) -> Any:
    if isinstance(template, str):
        for placeholder, item in zip(placeholders, items, strict=True):
            old, new = _check_text(placeholder), _check_text(item)
            found = template.count(old)
            if found * len(new) > TEXT_PER_VALUE:
                scope.spend(found * len(new) // TEXT_PER_VALUE)
            template = template.replace(old, new) if found else template
        return template
    if isinstance(template, list):
        return [_fill_template(value, placeholders, items, scope) for value in template]
    if isinstance(template, dict):
        return {
            _fill_template(key, placeholders, items, scope): _fill_template(
                value, placeholders, items, scope
            )
            for key, value in template.items()
        }
    return template


def _check_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(
            "the placeholders of repeat and what replaces them must be text, "
            f"not {type(value).__name__}"
        )
    return value


def _measure_size(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(_measure_size, value.values()))
    if isinstance(value, list):
        return 1 + sum(map(_measure_size, value))
    return 1 + len(value) // 1000 if isinstance(value, str) else 1
