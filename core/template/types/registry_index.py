"""An index of the registry's entries by name, since there may be hundreds of them."""

from __future__ import annotations

from collections.abc import Collection

from .registry_rules import Entry


class Index:
    """Entries by name, since every type is looked up among hundreds of them."""

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

    def drop_names(self, names: Collection[str], entries: list[Entry]) -> Index | None:
        """Build the index of ``entries``, which lack ``names``; None: build it anew."""
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
        both = sorted([*found, *fitting], key=_get_position) if fitting else found
        return [entry for _, entry in both]


def _get_position(each: tuple[int, Entry]) -> int:
    return each[0]
