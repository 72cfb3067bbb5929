"""A cache of values made of large values; nobody may change them.

Called by ``reopening``. Where thirty expressions look through the same half a megabyte, each would
copy it first, so that it cannot be changed. A few copies are kept, by the bytes they were made of.
Used by several threads.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

Made = TypeVar("Made")

#: Bytes at most of which copies are kept. A copy takes about four times as much.
MOST = 1_048_576
#: Bytes from which on one is worth keeping.
LEAST = 16_384


class Derived:
    """The values that were asked for last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, Hashable], tuple[bytes, Any]] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, source: bytes, what: Hashable, make: Callable[[], Made]) -> Made:
        """The value that ``make`` makes of ``source``; ``what`` is its kind."""
        key = id(source), what  # as long as something is kept of it, it is the only one of that id
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                found: Made = self._kept[key][1]
                return found
        made = make()
        self._keep(key, source, made)
        return made

    def _keep(self, key: tuple[int, Hashable], source: bytes, made: Any) -> None:
        with self._lock:
            if key in self._kept or len(source) > MOST:
                return
            self._kept[key] = source, made
            self._size += len(source)
            while self._size > MOST:
                _, (gone, _) = self._kept.popitem(last=False)
                self._size -= len(gone)
