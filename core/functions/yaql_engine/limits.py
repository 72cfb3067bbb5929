"""The cost of one evaluation of an expression: the steps it takes and the values it makes.

Used by ``context``, which tells of every call, and by ``data``. A value may hold another
one twice, and that one a third one twice: written out it is larger than any memory after sixty
steps. So every value that a call makes is measured as if it were written out, from the measures of
the values in it, and what is too large is refused before anybody compares, prints or returns it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

from yaql.language import exceptions

from zonda.core.template.source.yaml_parser import MAX_DEPTH
from zonda.hooks.function import TEXT_PER_VALUE

from .data import FROZEN_MAPS

#: A step costs so many times as much as a plain value that is walked through.
PER_STEP = 50
#: The values of a collection that one comparison or printing reads at the cost of one.
_PER_VALUE = 16
#: No whole number may have more bits while an expression computes.
LARGEST_BITS = 80_000

_COLLECTIONS = FROZEN_MAPS | {tuple, list, dict, set, frozenset}

Spend = Callable[[int], None]


def check_bits(bits: int) -> None:
    """Raise where a whole number would have too many bits."""
    if bits > LARGEST_BITS:
        raise exceptions.MemoryQuotaExceededException


class Work:
    """Counts the cost of one evaluation; ``spend`` raises where it is too much."""

    __slots__ = ("_measured", "spend")

    def __init__(self, spend: Spend) -> None:
        self.spend = spend
        #: By identity: the collection (so that no other gets its identity), its size, its depth.
        self._measured: dict[int, tuple[Any, int, int]] = {}

    def step(self) -> None:
        """Count a call."""
        self.spend(PER_STEP)

    def count(self, value: Any) -> None:
        """Count the result of a call."""
        kind = type(value)
        if kind is str:
            self.spend(len(value) // TEXT_PER_VALUE)
        elif kind is int:
            check_bits(value.bit_length())
        elif self.look_through(value) > MAX_DEPTH:
            raise ValueError(f"a value is nested deeper than {MAX_DEPTH} levels")

    def compare(self, left: Any, right: Any) -> None:
        """Count a comparison; what is no collection differs from one at the first look."""
        if type(left) in _COLLECTIONS and type(right) in _COLLECTIONS:
            self.look_through(left)
            self.look_through(right)

    def look_through(self, value: Any) -> int:
        """Count a walk through all of ``value``; return its depth."""
        if type(value) not in _COLLECTIONS:
            return 0
        size, depth = self._measure(value)
        self.spend(size)  # raises where there are too many
        self.spend(size // _PER_VALUE - size)
        return depth

    def count_values(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap ``call`` so that its values are counted."""

        def counting(*args: Any, **kwargs: Any) -> Any:
            self.step()
            value = call(*args, **kwargs)
            self.count(value)
            return value

        return counting

    def _measure(self, value: Any) -> tuple[int, int]:
        """Measure a collection as if it were written out: its size and its depth."""
        known = self._measured.get(id(value))
        if known is not None:
            return known[1:]
        self.spend(len(value))
        size = depth = 1
        items = value._d if type(value) in FROZEN_MAPS else value
        if type(items) is dict:
            items = chain(items, items.values())
        for item in items:
            kind = type(item)
            if kind in _COLLECTIONS:
                inside, levels = self._measure(item)
                size += inside
                depth = max(depth, levels + 1)
            else:
                size += 1 + len(item) // TEXT_PER_VALUE if kind is str else 1
        self._measured[id(value)] = value, size, depth
        return size, depth
