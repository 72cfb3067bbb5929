"""Compares what the engine gave with what a case expects: value by value, types included."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

PLACEHOLDER = re.compile(r"<ref:([^>]*)>|<stack_id>|<project_id>|<uuid>|-<id>")
ID = "[0-9a-zA-Z]+"
UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


class Names:
    """What the placeholders of one case stand for."""

    def __init__(
        self, stack_id: str = "", project: str = "", references: Mapping[str, Any] | None = None
    ) -> None:
        self.stack_id = stack_id
        self.project = project
        self.references = dict(references or {})

    def pattern(self, text: str) -> re.Pattern[str]:
        """A pattern that matches what ``text`` with placeholders may be."""
        parts, end = [], 0
        for match in PLACEHOLDER.finditer(text):
            parts.append(re.escape(text[end : match.start()]))
            parts.append(self._meaning(match))
            end = match.end()
        return re.compile("".join(parts) + re.escape(text[end:]), re.DOTALL)

    def _meaning(self, match: re.Match[str]) -> str:
        shown = match.group(0)
        if shown == "<stack_id>":
            return re.escape(self.stack_id)
        if shown == "<project_id>":
            return re.escape(self.project)
        if shown == "<uuid>":
            return UUID
        if shown == "-<id>":
            return "-" + ID
        return re.escape(str(self.references.get(match.group(1), f"no reference {shown}")))


def differences(expected: Any, given: Any, names: Names, path: str = "") -> Iterator[str]:
    """One line per place where ``given`` is not what was expected."""
    special = _special(expected)
    if special is not None:
        if not special(given):
            yield f"{path}: expected {expected!r}, got {given!r}"
    elif isinstance(expected, dict) and isinstance(given, Mapping):
        yield from _maps(expected, given, names, path)
    elif isinstance(expected, list) and isinstance(given, list):
        if len(expected) != len(given):
            yield f"{path}: expected {expected!r}, got {given!r}"
        for index, (one, other) in enumerate(zip(expected, given, strict=False)):
            yield from differences(one, other, names, f"{path}[{index}]")
    elif isinstance(expected, str) and isinstance(given, str):
        if expected != given and not names.pattern(expected).fullmatch(given):
            yield f"{path}: expected {expected!r}, got {given!r}"
    elif type(expected) is not type(given) or expected != given:
        yield f"{path}: expected {expected!r}, got {given!r}"


def _maps(
    expected: Mapping[Any, Any], given: Mapping[Any, Any], names: Names, path: str
) -> Iterator[str]:
    for key in sorted(expected.keys() - given.keys(), key=str):
        yield f"{path}.{key}: expected {expected[key]!r}, got nothing"
    for key in sorted(given.keys() - expected.keys(), key=str):
        yield f"{path}.{key}: expected nothing, got {given[key]!r}"
    for key in expected:
        if key in given:
            yield from differences(expected[key], given[key], names, f"{path}.{key}")


def _special(expected: Any) -> Any:
    """A test for values that YAML or JSON has no word for."""
    if not isinstance(expected, dict) or len(expected) != 1:
        return None
    if "__float__" in expected:
        name = expected["__float__"]
        if name == "nan":
            return lambda given: isinstance(given, float) and math.isnan(given)
        return lambda given: isinstance(given, float) and given == float(name)
    if "__set__" in expected:
        members = sorted(expected["__set__"], key=str)
        return lambda given: (
            isinstance(given, list | set | frozenset) and sorted(given, key=str) == members
        )
    return None
