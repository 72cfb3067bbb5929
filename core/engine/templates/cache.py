"""The definitions that were used last: few of whole stacks, many of nested ones.

A nested definition shares nearly all that it holds with the others of its tree, and each step of a
large tree needs a few of them again. Those that build on a definition go with it: else they would
hold the whole tree. Versions of a stack share what is the same in them, so that it is weighed once;
an old one is asked for wherever something nested was not planned since. Used by several threads.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Generic, TypeVar

T = TypeVar("T")

ROOTS, NESTED = 64, 512
#: The limit of those of whole stacks, in characters of text: each takes about ten bytes. The last
#: two are kept in any case: an update needs both.
WEIGHT, LEAST = 12_000_000, 2
#: Templates of which only is known what they build on.
KNOWN = 4096


class DefinitionCache(Generic[T]):
    """Keeps the entries that were used last, by key."""

    def __init__(self) -> None:
        self._roots: OrderedDict[str, T] = OrderedDict()
        self._nested: OrderedDict[str, T] = OrderedDict()
        #: Of those at the top: what each weighs, by the ids of its parts.
        self._weights: dict[str, Mapping[int, int]] = {}
        #: The base of each; those at the top are their own.
        self._bases: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> T | None:
        """The entry of ``key``; it counts as used, with its base."""
        with self._lock:
            if key in self._roots:
                self._roots.move_to_end(key)
                return self._roots[key]
            if key not in self._nested:
                return None
            self._nested.move_to_end(key)
            base = self._bases.get(key, "")
            if base in self._roots:
                self._roots.move_to_end(base)
            return self._nested[key]

    def peek(self, key: str) -> T | None:
        """The entry of ``key``; takes no lock."""
        known = self._roots.get(key)
        return self._nested.get(key) if known is None else known

    def find_base(self, key: str) -> str | None:
        """Find the base of ``key``, itself at the top; None where that is not known any more."""
        with self._lock:
            return self._bases.get(key)

    def put(self, key: str, value: T, weights: Mapping[int, int]) -> None:
        """Keep the definition of a whole stack; the oldest entries are dropped.

        ``weights``: of its parts, by their ids; others may have the same ones.
        """
        with self._lock:
            self._set_base(key, key)
            self._weights[key] = weights
            self._roots[key] = value
            self._roots.move_to_end(key)
            while len(self._roots) > (LEAST if self._compute_weight() > WEIGHT else ROOTS):
                self._drop(next(iter(self._roots)))

    def _compute_weight(self) -> int:
        parts: dict[int, int] = {}
        for weights in self._weights.values():
            parts.update(weights)
        return sum(parts.values())

    def put_nested(self, key: str, value: T, base: str) -> None:
        """Keep a nested definition that builds on ``base``."""
        with self._lock:
            self._set_base(key, base)
            self._nested[key] = value
            self._nested.move_to_end(key)
            while len(self._nested) > NESTED:
                self._nested.popitem(last=False)

    def set_base(self, key: str, base: str) -> None:
        """Remember the base of ``key``."""
        with self._lock:
            self._set_base(key, base)

    def _set_base(self, key: str, base: str) -> None:
        self._bases[key] = base
        self._bases.move_to_end(key)
        if len(self._bases) > KNOWN:
            self._bases.popitem(last=False)

    def _drop(self, root: str) -> None:
        del self._roots[root], self._weights[root]
        for key in [each for each in self._nested if self._bases.get(each) == root]:
            del self._nested[key]
