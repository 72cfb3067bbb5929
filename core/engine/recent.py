"""The definitions that were used last: few of whole stacks, many of nested ones.

A nested definition shares nearly all that it holds with the others of its tree, and each step of a
large tree needs a few of them again. Used by several threads.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

T = TypeVar("T")

ROOTS, NESTED = 64, 512


class Recent(Generic[T]):
    """Keeps what was put or asked for last, by key."""

    def __init__(self) -> None:
        self._roots: OrderedDict[str, T] = OrderedDict()
        self._nested: OrderedDict[str, T] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> T | None:
        """What is kept under ``key``; it is used again."""
        with self._lock:
            for kept in (self._roots, self._nested):
                if key in kept:
                    kept.move_to_end(key)
                    return kept[key]
        return None

    def peek(self, key: str) -> T | None:
        """What is kept under ``key``; takes no lock."""
        known = self._roots.get(key)
        return self._nested.get(key) if known is None else known

    def put(self, key: str, value: T, *, nested: bool) -> None:
        """Keep ``value``, and let go of what was not used for the longest time."""
        kept, most = (self._nested, NESTED) if nested else (self._roots, ROOTS)
        with self._lock:
            kept[key] = value
            kept.move_to_end(key)
            while len(kept) > most:
                kept.popitem(last=False)
