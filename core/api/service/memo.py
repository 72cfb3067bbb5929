"""A memory of what was worked out, with a bound; used by many threads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Memo(Generic[K, V]):
    """The values of keys, each as long as its version stays the same."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[K, tuple[Hashable, V]] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, key: K, version: Hashable) -> V | None:
        """The value of a key in this version; None if it is not known."""
        with self._lock:
            known = self._values.get(key)
            if known is None or known[0] != version:
                return None
            self._values.move_to_end(key)
            return known[1]

    def put(self, key: K, version: Hashable, value: V) -> None:
        """Keep a value; the one that was used longest ago goes."""
        with self._lock:
            self._values[key] = (version, value)
            self._values.move_to_end(key)
            while len(self._values) > self._size:
                self._values.popitem(last=False)
