"""The faults of one manifest, gathered with their places. Used by the modules that read it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import inf
from typing import Any

from zonda.hooks import (
    BaseCustomConstraint,
    Path,
    TemplateError,
    TypeDocument,
    full_match,
    suggestion,
)

#: The code of every fault of a manifest.
CODE = "ZON154"
#: Thirty years in seconds: more than anybody waits or repeats.
_LARGEST = 1_000_000_000
_KINDS = {dict: "a map", list: "a list", str: "text", bool: "a boolean", type(None): "nothing"}

#: Seconds that one pattern may take.
_SECONDS = 0.2


class Faults:
    """The faults of a document, in the order in which they were found."""

    def __init__(self, document: TypeDocument) -> None:
        self.document = document
        self.errors: list[TemplateError] = []
        #: The context that constraints are checked with.
        self.judging: Any = LoadTimeContext()

    def add(self, message: str, at: Path, hint: str = "", *, key: bool = False) -> None:
        """Add a fault; ``key``: the key at ``at`` is wrong, not its value."""
        place = self.document.place(at, key=key)
        self.errors.append(TemplateError(message, path=at, place=place, code=CODE, hint=hint))

    def list_errors(self) -> list[TemplateError]:
        """The faults in the order of the text; an alias (``*name``) has its faults once."""
        found: dict[Any, TemplateError] = {}
        for error in sorted(self.errors, key=_get_position):
            found.setdefault((*_get_position(error), error.message), error)
        return list(found.values())

    def check_duplicates(self) -> None:
        """Add a fault for every key that stands twice in one map: the last one would win."""
        for path, first, second in self.document.duplicates:
            said = f"{path[-1]} stands here twice, first in line {first.line}."
            self.errors.append(TemplateError(said, path=path, place=second, code=CODE))

    def check_keys(self, data: Mapping[Any, Any], keys: Collection[str], at: Path) -> None:
        """Add a fault for every key that is not one of ``keys``."""
        for key in data:
            if key not in keys:
                hint = suggestion(key, keys) or f"There are {', '.join(keys)}."
                self.add(f"{key} is not known here.", (*at, key), hint, key=True)

    def read_map(self, value: Any, what: str, at: Path) -> dict[str, Any]:
        """``value`` if it is a map with texts as keys; adds a fault for anything else."""
        if not isinstance(value, Mapping):
            self.add(f"{what} must be a map, not {describe_kind(value)}.", at)
            return {}
        for key in value:
            if not isinstance(key, str) or not key:
                self.add(f"The name {key!r} is no text.", (*at, key), "Quote it.", key=True)
        return {key: item for key, item in value.items() if isinstance(key, str) and key}

    def text(self, data: Mapping[str, Any], key: str, at: Path, *, required: bool = False) -> str:
        """The text under a key; empty where there is none."""
        value = data.get(key)
        if value is None and not (required or key in data):
            return ""
        if not isinstance(value, str) or not value.strip():
            if key in data:
                self.add(f"{key} must be text, not {describe_kind(value)}.", (*at, key))
            else:
                self.add(f"{key} is missing.", at, f"Add a line {key}: ...", key=True)
            return ""
        return value

    def flag(self, data: Mapping[str, Any], key: str, at: Path) -> bool:
        """The boolean under a key; False where there is none."""
        value = data.get(key, False)
        if not isinstance(value, bool):
            self.add(f"{key} must be true or false, not {describe_kind(value)}.", (*at, key))
            return False
        return value

    def number(
        self, data: Mapping[str, Any], key: str, at: Path, default: Any, least: float
    ) -> Any:
        """The number under a key, whole where the default is; ``default`` where there is none."""
        value = data.get(key, default)
        if value is default:
            return default
        wanted: Any = int if isinstance(default, int) else int | float
        if isinstance(value, bool) or not isinstance(value, wanted) or not least <= value < inf:
            whole = "a whole number" if isinstance(default, int) else "a number"
            self.add(f"{key} must be {whole} from {least:g}, not {value!r}.", (*at, key))
            return default
        if value > _LARGEST:
            self.add(f"{key} must be at most {_LARGEST:,}.", (*at, key))
            return default
        return value


def _get_position(error: TemplateError) -> tuple[int, int]:
    place = error.place
    return (0, 0) if place is None else (place.line, place.column)


def describe_kind(value: Any) -> str:
    """The kind of a value, for people."""
    return _KINDS.get(type(value), f"the number {value}")


class LoadTimeContext:
    """The context of constraints while a manifest is read, for its own defaults and examples.

    A manifest may come from anybody, and is read by every command: its patterns get little time,
    and none after one that takes longer. Constraints of plug-ins are left to the use of the type.
    """

    def __init__(self) -> None:
        self._too_slow = ""

    def full_match(self, pattern: str, text: str) -> bool:
        """Whether ``pattern`` matches all of ``text``; raises ValueError where it is too slow."""
        if self._too_slow:
            raise ValueError(self._too_slow)
        try:
            return full_match(pattern, text, _SECONDS)
        except ValueError as error:
            self._too_slow = str(error)
            raise

    def constraint(self, name: str) -> type[BaseCustomConstraint]:
        """A constraint that accepts every value."""
        return _Unknown


class _Unknown(BaseCustomConstraint):
    def validate(self, value: Any, context: Any) -> bool:
        """Accept every value: the constraint is not known yet."""
        return True
