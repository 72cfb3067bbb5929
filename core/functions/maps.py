"""Functions on maps: map_merge and map_replace."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from zonda.hooks.function import Function, ResolveScope, resolve_value

_SHOWN = 200


class MapMerge(Function):
    """``map_merge: [map, ...]``: one map; later keys win, nothing is merged below the top."""

    __slots__ = ()

    def resolve(self, scope: ResolveScope) -> Any:
        """The map; raises TypeError for what is no map."""
        maps = resolve_value(self.args, scope)
        if not isinstance(maps, list | str):
            raise TypeError(
                f'Incorrect arguments to "{self.name}" should be: '
                f'"{self.name}" : [ {{ "key1": "val1" }}, {{ "key2": "val2" }} ]'
            )
        merged: dict[Any, Any] = {}
        for item in maps:
            merged.update(_to_mergeable(item))
        return merged


def _to_mergeable(item: Any) -> dict[Any, Any]:
    if item is None:
        return {}
    if isinstance(item, dict):
        return item
    raise TypeError(
        "Incorrect arguments: Items to merge must be maps. "
        f"{repr(item)[:_SHOWN]} is type {type(item)} instead of a dict"
    )


class MapReplace(Function):
    """``map_replace: [map, {keys: map, values: map}]``: other keys, other values."""

    __slots__ = ()

    def resolve(self, scope: ResolveScope) -> Any:
        """The map; raises ValueError where two keys would become one."""
        args = resolve_value(self.args, scope)
        if not isinstance(args, list):
            raise TypeError(self._format_usage())
        pair = [self._to_map(arg) for arg in args[:2]]
        if len(args) != 2:
            raise TypeError(self._format_usage())
        source, replacements = pair
        if replacements.keys() - {"keys", "values"}:
            raise ValueError(self._format_usage())
        keys = self._to_map(replacements.get("keys"))
        values = self._to_map(replacements.get("values"))
        made: dict[Any, Any] = {}
        for key, value in source.items():
            new = values.get(value, value) if isinstance(value, Hashable) else value
            made[self._replace_key(key, keys, source, made)] = new
        return made

    def _replace_key(
        self, key: Any, keys: dict[Any, Any], source: dict[Any, Any], made: dict[Any, Any]
    ) -> Any:
        new = keys.get(key)
        if new is None:
            return key
        if isinstance(new, dict | list):
            raise TypeError(f'a key made by "{self.name}" cannot be a {type(new).__name__}')
        for other, which in ((source, "input"), (made, "output")):
            if new != key and new in other:
                raise ValueError(f"key replacement {new} collides with a key in the {which} map")
        return new

    def _to_map(self, value: Any) -> dict[Any, Any]:
        if value is None:
            return {}
        if isinstance(value, dict):
            return value
        raise TypeError(
            f'Incorrect arguments: to "{self.name}", arguments must be a list of maps. '
            f"Example:  {self._format_example()}"
        )

    def _format_usage(self) -> str:
        return f'Incorrect arguments to "{self.name}" should be: {self._format_example()}'

    def _format_example(self) -> str:
        return (
            f'"{self.name}" : [ {{ "key1": "val1" }}, '
            '{"keys": {"key1": "key2"}, "values": {"val1": "val2"}}]'
        )
