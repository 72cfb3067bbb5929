"""A cache of large values that were read a moment ago.

Called by ``sealing``. The value of one output may be half a megabyte of text, sealed, and be read
by forty resources one after the other: deciphering and parsing it again for each was a tenth of all
work. What is kept is bytes, from which everybody gets a value of their own, so that nobody can
change what others read; of a map only what is asked for. Most values are read once: kept is what
was asked for twice. Used by several threads.
"""

from __future__ import annotations

import marshal
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from zonda.hooks.hashes import blake2b

#: Characters from which on a text is worth keeping, and bytes that are kept at most.
LEAST, MOST = 16_384, 8_388_608
#: The number of definitions kept that were asked for once.
ONCE = 1024


class Parts(Mapping[str, Any]):
    """A map whose values are made when they are asked for, and then stay the same."""

    __slots__ = ("_kept", "_made")

    def __init__(self, kept: Mapping[str, bytes]) -> None:
        self._kept = kept
        self._made: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:
        if key not in self._made:
            self._made[key] = marshal.loads(self._kept[key])
        return self._made[key]

    def __contains__(self, key: object) -> bool:
        return key in self._kept

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)


class _Cut(NamedTuple):
    """A value as bytes: those of each value of a map, else all of it under one key."""

    parts: Mapping[str, bytes]
    is_map: bool

    @classmethod
    def of(cls, value: Any) -> _Cut:
        """Raises ValueError where ``marshal`` cannot write it: a time, or too deep."""
        is_map = type(value) is dict and all(type(key) is str for key in value)
        parts = value if is_map else {"": value}
        return cls({key: marshal.dumps(item) for key, item in parts.items()}, is_map)

    @property
    def size(self) -> int:
        return sum(map(len, self.parts.values()))

    def value(self) -> Any:
        """All of it, made anew."""
        made = {key: marshal.loads(part) for key, part in self.parts.items()}
        return made if self.is_map else made[""]


class Reopening:
    """The values of the last large texts."""

    def __init__(self) -> None:
        self._kept: OrderedDict[bytes, _Cut] = OrderedDict()
        self._once: OrderedDict[bytes, None] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def open_text(self, text: str, how: Callable[[str], Any]) -> Any:
        """The result of ``how`` for ``text``; a new value each time."""
        found = self._open(text, how)
        return found.value() if isinstance(found, _Cut) else found

    def parts(self, text: str, how: Callable[[str], Mapping[str, Any]]) -> Mapping[str, Any]:
        """Like ``open_text``, of a map: each value is made when asked for."""
        found = self._open(text, how)
        return Parts(found.parts) if isinstance(found, _Cut) else found

    def _open(self, text: str, how: Callable[[str], Any]) -> Any:
        """The kept value of a text, else a new one."""
        if len(text) < LEAST:
            return how(text)
        mark = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        known = self._kept.get(mark)
        if known is not None:
            return known
        value = how(text)
        if self._is_asked_again(mark):
            with suppress(ValueError):
                self._keep(mark, _Cut.of(value))
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

    def _keep(self, mark: bytes, cut: _Cut) -> None:
        size = cut.size
        with self._lock:
            if mark in self._kept or size > MOST:
                return
            self._kept[mark] = cut
            self._size += size
            while self._size > MOST:
                _, gone = self._kept.popitem(last=False)
                self._size -= gone.size
