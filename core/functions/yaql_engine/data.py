"""Conversion of values into yaql and out of it, as yaql does it, but faster for plain data.

yaql asks an abstract base class for the kind of each value, which takes most of the time of many
expressions on large data. What is not plain is left to yaql.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from yaql.language import exceptions, utils

_SCALARS = frozenset({str, int, float, bool, type(None)})


class DataMap(utils.FrozenDict):  # type: ignore[misc]
    """A frozen map of the data; its values are frozen when somebody first looks into it.

    Many expressions read little of much data: of a list of maps those that are not null, say.
    """

    def __init__(self, data: dict[Any, Any]) -> None:
        self._data = data
        self._hash = None

    def __getattr__(self, name: str) -> Any:
        if name != "_d":  # all else of a frozen map is there from the beginning
            raise AttributeError(name)
        self._d = {
            key if type(key) is str else freeze(key): (
                item if type(item) in _SCALARS else freeze(item)
            )
            for key, item in self._data.items()
        }
        return self._d


#: The kinds of maps in an expression: those of its data, and those that yaql makes.
FROZEN_MAPS = frozenset((DataMap, utils.FrozenDict))


def freeze(value: Any) -> Any:
    """Freeze plain data for yaql: tuples for lists, frozen maps."""
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is dict:
        return DataMap(value)
    if kind is list:
        return tuple([item if type(item) in _SCALARS else freeze(item) for item in value])
    return utils.convert_input_data(value)


def thaw(value: Any, most: int, engine: Any) -> Any:
    """Thaw the result of an expression to plain data; at most ``most`` elements a collection.

    What is made is counted. Raises yaql's CollectionTooLargeException.
    """
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind in FROZEN_MAPS or kind is dict:
        _check_length(value, most, engine)
        return {thaw(key, most, engine): thaw(item, most, engine) for key, item in value.items()}
    if kind is tuple or kind is list:
        _check_length(value, most, engine)
        return [thaw(item, most, engine) for item in value]
    return utils.convert_output_data(
        value,
        lambda items: _count_items(utils.limit_iterable(items, most), engine),
        engine,
        lambda item, *_: thaw(item, most, engine),
    )


def _check_length(collection: Any, most: int, engine: Any) -> None:
    if 0 <= most < len(collection):
        raise exceptions.CollectionTooLargeException(most)
    engine.work.spend(len(collection))


def _count_items(items: Iterable[Any], engine: Any) -> Iterator[Any]:
    for item in items:
        engine.work.spend(1)
        yield item
