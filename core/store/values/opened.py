"""Sealed entries of a resource's data, opened when read: most handlers read none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping

from .sealing import Sealer


class Opened(MutableMapping[str, str]):
    """The data of one instance by name. ``entries``: (name, sealed value, redact)."""

    def __init__(self, entries: Iterable[tuple[str, str, int]], sealer: Sealer) -> None:
        self._sealed = {name: value for name, value, _ in entries}
        self._open: dict[str, str] = {}
        self._sealer = sealer

    def __getitem__(self, key: str) -> str:
        if key not in self._open:
            self._open[key] = self._sealer.open(self._sealed[key])
        return self._open[key]

    def __setitem__(self, key: str, value: str) -> None:
        self._sealed[key] = ""
        self._open[key] = value

    def __delitem__(self, key: str) -> None:
        del self._sealed[key]
        self._open.pop(key, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._sealed)

    def __len__(self) -> int:
        return len(self._sealed)

    def __contains__(self, key: object) -> bool:
        return key in self._sealed

    def __repr__(self) -> str:
        # Names only: values are secrets.
        return f"Opened({', '.join(self)})"
