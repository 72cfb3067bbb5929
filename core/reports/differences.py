"""What differs between two generations: texts line by line, values by path. Pure functions."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from zonda.core.template.redaction import Shown
from zonda.hooks.errors import Path, show_path

_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Change:
    """One value that differs. ``kind``: added, removed or changed; ``before``/``after`` then."""

    path: str
    kind: str
    before: Any = None
    after: Any = None


@dataclass(frozen=True, slots=True)
class Differences:
    """What differs. Texts are unified diffs by file name ("" is the template's own entry)."""

    template: list[str]
    environments: Mapping[str, list[str]]
    files: Mapping[str, list[str]]
    parameters: list[Change]
    resources: list[Change]

    def __bool__(self) -> bool:
        texts = (self.template, self.environments, self.files)
        return any((*texts, self.parameters, self.resources))


def differences(old: Shown, new: Shown, names: tuple[str, str]) -> Differences:
    """From ``old`` to ``new``; ``names`` of both for the heads of texts."""
    return Differences(
        text(old.template, new.template, "template", names),
        _texts(old.environments, new.environments, names),
        _texts(old.files, new.files, names),
        list(changes(old.parameters, new.parameters)),
        list(changes(old.resources, new.resources, ("resources",))),
    )


def text(old: str | None, new: str | None, file: str, names: tuple[str, str]) -> list[str]:
    """A unified diff as lines without their ends; empty where nothing differs."""
    if old == new:
        return []
    first, second = (
        "(none)" if each is None else f"{file} ({name})"
        for each, name in zip((old, new), names, strict=True)
    )
    before, after = (old or "").splitlines(), (new or "").splitlines()
    found = [*difflib.unified_diff(before, after, first, second, lineterm="")]
    # nothing is left of a difference in the ends of lines alone
    return found or [f"--- {first}", f"+++ {second}", " (only the ends of lines differ)"]


def _texts(
    old: Mapping[str, str], new: Mapping[str, str], names: tuple[str, str]
) -> dict[str, list[str]]:
    found = {file: text(old.get(file), new.get(file), file, names) for file in sorted({*old, *new})}
    return {file: lines for file, lines in found.items() if lines}


def changes(old: Any, new: Any, path: Path = ()) -> Iterator[Change]:
    """Every value that differs, the paths in the order of the newer side."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys((*new, *old)):
            yield from changes(old.get(key, _ABSENT), new.get(key, _ABSENT), (*path, key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from changes(before, after, (*path, index))
    elif old is _ABSENT:
        yield Change(show_path(path), "added", None, new)
    elif new is _ABSENT:
        yield Change(show_path(path), "removed", old, None)
    elif old != new or type(old) is not type(new):
        yield Change(show_path(path), "changed", old, new)
