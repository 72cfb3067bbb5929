"""What differs between two generations: texts line by line, values by path. Pure functions."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zonda.core.engine.diff.changes import changes
from zonda.core.template.redaction import Shown
from zonda.hooks.errors import Path, show_path


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
        _changes(old.parameters, new.parameters),
        _changes(old.resources, new.resources, ("resources",)),
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


def _changes(old: Any, new: Any, path: Path = ()) -> list[Change]:
    return [
        Change(show_path(each.path), each.kind, each.before, each.after)
        for each in changes(old, new, path)
    ]
