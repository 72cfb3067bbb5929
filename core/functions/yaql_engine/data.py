"""Values on their way into yaql and out of it, as yaql does it, but faster for plain data.

yaql asks an abstract base class for the kind of each value, which takes most of the time of many
expressions on large data. What is not plain is left to yaql.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from yaql.language import exceptions, utils

from zonda.hooks.function import count


class Kept(NamedTuple):
    """A value that is frozen already, and how many values it counts as."""

    value: Any
    size: int


class _Counter:
    """Counts without a limit: whoever reads the value spends it."""

    total = 0

    def spend(self, values: int) -> None:
        """Add."""
        self.total += values


_SCALARS = frozenset({str, int, float, bool, type(None)})


def frozen(value: Any) -> Any:
    """Plain data as yaql takes it: tuples for lists, frozen maps."""
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is Kept:
        return value.value
    if kind is dict:
        made = utils.FrozenDict()
        made._d = {
            key if type(key) is str else frozen(key): (
                item if type(item) in _SCALARS else frozen(item)
            )
            for key, item in value.items()
        }
        return made
    if kind is list:
        return tuple([item if type(item) in _SCALARS else frozen(item) for item in value])
    return utils.convert_input_data(value)


def kept(value: Any) -> Kept:
    """``value`` frozen, for many expressions."""
    counter = _Counter()
    count(value, counter)
    return Kept(frozen(value), counter.total)


def thawed(value: Any, most: int, engine: Any) -> Any:
    """What an expression gives, as plain data; ``most`` elements in each collection.

    What is made is counted. Raises yaql's CollectionTooLargeException.
    """
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is utils.FrozenDict or kind is dict:
        _check(value, most, engine)
        return {
            thawed(key, most, engine): thawed(item, most, engine) for key, item in value.items()
        }
    if kind is tuple or kind is list:
        _check(value, most, engine)
        return [thawed(item, most, engine) for item in value]
    return utils.convert_output_data(
        value,
        lambda items: _counted(utils.limit_iterable(items, most), engine),
        engine,
        lambda item, *_: thawed(item, most, engine),
    )


def _check(collection: Any, most: int, engine: Any) -> None:
    if 0 <= most < len(collection):
        raise exceptions.CollectionTooLargeException(most)
    engine.work.spend(len(collection))


def _counted(items: Iterable[Any], engine: Any) -> Iterator[Any]:
    for item in items:
        engine.work.spend(1)
        yield item
