"""Large values that were read a moment ago, for whoever reads them again.

Called by ``sealing``. The value of one output may be half a megabyte of text, sealed, and be read
by forty resources one after the other: deciphering and parsing it again for each was a tenth of all
work. What is kept is bytes, from which everybody gets a value of their own, so that nobody can
change what others read. Most values are read once: kept is what was asked for twice. Used by
several threads.
"""

from __future__ import annotations

import hashlib
import marshal
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Any

#: Characters from which on a text is worth keeping, and bytes that are kept at most.
LEAST, MOST = 16_384, 8_388_608
#: How many of those that were asked for once are remembered.
ONCE = 1024


class Reopening:
    """The values of the last large texts."""

    def __init__(self) -> None:
        self._kept: OrderedDict[bytes, bytes] = OrderedDict()
        self._once: OrderedDict[bytes, None] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def opened(self, text: str, how: Callable[[str], Any]) -> Any:
        """What ``how`` makes of ``text``; a new value each time."""
        if len(text) < LEAST:
            return how(text)
        mark = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        known = self._kept.get(mark)
        if known is not None:
            return marshal.loads(known)
        value = how(text)
        if self._is_asked_again(mark):
            with suppress(ValueError):  # a time, or too deep
                self._keep(mark, marshal.dumps(value))
        return value

    def _is_asked_again(self, mark: bytes) -> bool:
        with self._lock:
            if mark in self._once:
                del self._once[mark]
                return True
            self._once[mark] = None
            if len(self._once) > ONCE:
                self._once.popitem(last=False)
            return False

    def _keep(self, mark: bytes, content: bytes) -> None:
        with self._lock:
            if mark in self._kept or len(content) > MOST:
                return
            self._kept[mark] = content
            self._size += len(content)
            while self._size > MOST:
                _, gone = self._kept.popitem(last=False)
                self._size -= len(gone)
