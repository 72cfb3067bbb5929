"""The lines of the registry by name, since there may be hundreds of them. Made by ``registry``."""

from __future__ import annotations

from collections.abc import Collection

from .registry_rules import Entry


class Index:
    """Entries by name, since there may be hundreds and every type is looked for among them."""

    def __init__(
        self,
        entries: list[Entry],
        named: dict[str, list[tuple[int, Entry]]],
        patterns: list[tuple[int, Entry]],
        has_own: bool,
    ) -> None:
        self.entries = entries
        self._named = named
        self._patterns = patterns
        #: Whether any entry is for a single resource.
        self.has_own = has_own

    @classmethod
    def of(cls, entries: list[Entry]) -> Index:
        """The index of some entries."""
        named: dict[str, list[tuple[int, Entry]]] = {}
        patterns: list[tuple[int, Entry]] = []
        for place, entry in enumerate(entries):
            if entry.name.endswith("*"):
                patterns.append((place, entry))
            else:
                named.setdefault(entry.name, []).append((place, entry))
        return cls(entries, named, patterns, any(entry.resource for entry in entries))

    def less(self, names: Collection[str], entries: list[Entry]) -> Index | None:
        """The index of ``entries``: those that have none of ``names``. None: make it anew."""
        if self.has_own:  # these are left out, too
            return None
        named = {**self._named}
        for name in names:
            named.pop(name, None)
        patterns = [each for each in self._patterns if each[1].name not in names]
        return Index(entries, named, patterns, has_own=False)

    def near(self, type_: str) -> list[Entry]:
        """The entries that may be for a type, in their order."""
        found = self._named.get(type_, [])
        fitting = [each for each in self._patterns if type_.startswith(each[1].name[:-1])]
        both = sorted([*found, *fitting], key=_place) if fitting else found
        return [entry for _, entry in both]


def _place(each: tuple[int, Entry]) -> int:
    return each[0]
