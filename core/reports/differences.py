"""Differences between two generations: texts line by line, values by path. Pure functions."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from zonda.core.engine.diff.changes import compare_values
from zonda.core.template.redaction import RedactedBundle
from zonda.hooks.errors import Path, show_path
from zonda.hooks.records import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    """One difference of a value. ``kind``: added, removed or changed; ``before``/``after`` then."""

    path: str
    kind: str
    before: Any = None
    after: Any = None


@dataclass(frozen=True, slots=True)
class Differences:
    """All differences. Texts are unified diffs by file name ("" is the template's own entry)."""

    template: list[str]
    environments: Mapping[str, list[str]]
    files: Mapping[str, list[str]]
    parameters: list[Change]
    resources: list[Change]

    def __bool__(self) -> bool:
        texts = (self.template, self.environments, self.files)
        return any((*texts, self.parameters, self.resources))


def compare(old: RedactedBundle, new: RedactedBundle, names: tuple[str, str]) -> Differences:
    """Compare ``old`` with ``new``; ``names`` of both for the heads of texts."""
    return Differences(
        diff_text(old.template, new.template, "template", names),
        _diff_texts(old.environments, new.environments, names),
        _diff_texts(old.files, new.files, names),
        _list_changes(old.parameters, new.parameters),
        _list_changes(old.resources, new.resources, ("resources",)),
    )


def diff_text(old: str | None, new: str | None, file: str, names: tuple[str, str]) -> list[str]:
    """Return a unified diff as lines without their ends; empty where nothing differs."""
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


def _diff_texts(
    old: Mapping[str, str], new: Mapping[str, str], names: tuple[str, str]
) -> dict[str, list[str]]:
    found = {
        file: diff_text(old.get(file), new.get(file), file, names) for file in sorted({*old, *new})
    }
    return {file: lines for file, lines in found.items() if lines}


def _list_changes(old: Any, new: Any, path: Path = ()) -> list[Change]:
    return [
        Change(show_path(each.path), each.kind, each.before, each.after)
        for each in compare_values(old, new, path)
    ]
