"""Merge strategies: how one parameter given by two environment files becomes one value.

Called by ``environment``. Knows values and the parameter's type, nothing of files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from zonda.hooks.errors import TemplateError

from .faults import MERGE as MERGE_CODE
from .parameter_types import JSON, LIST

OVERWRITE = "overwrite"
MERGE = "merge"
DEEP_MERGE = "deep_merge"
_KNOWN = (OVERWRITE, MERGE, DEEP_MERGE)
_DEFAULT = "default"


class MergeConflict(Exception):
    """Two values or two strategies that do not go together."""

    def __init__(self, message: str, heat_type: str = "ValueError", hint: str = "") -> None:
        super().__init__(message)
        self.message, self.heat_type, self.hint = message, heat_type, hint

    def fault(self, name: str) -> TemplateError:
        """The conflict as a fault of parameter ``name``."""
        return TemplateError(
            self.message,
            at=("parameters", name),
            heat_type=self.heat_type,
            code=MERGE_CODE,
            hint=self.hint,
        )


def strategy_for(name: str, strategies: Mapping[str, Any], known: Mapping[str, str]) -> str:
    """The strategy of a file for ``name``: its own, the one used before, or its default."""
    fallback = strategies.get(_DEFAULT, OVERWRITE)
    fallback = fallback if fallback in _KNOWN else OVERWRITE
    chosen = strategies.get(name, known.get(name, fallback))
    return chosen if chosen in _KNOWN else fallback


def merged_value(old: Any, new: Any, strategy: str, kind: str) -> Any:
    """``new`` merged into ``old`` for a parameter of type ``kind``; raises MergeConflict."""
    if strategy == OVERWRITE:
        return new
    if kind == JSON:
        old, new = _parsed(old), _parsed(new)
    if isinstance(old, dict) and isinstance(new, dict):
        return _maps(old, new, deep=strategy == DEEP_MERGE)
    if isinstance(old, list) and isinstance(new, list):
        return [*old, *new]
    if isinstance(old, str) and isinstance(new, str):
        return f"{old},{new}" if kind == LIST else old + new
    if isinstance(old, bool | int | float) or isinstance(new, bool | int | float):
        raise MergeConflict(
            "Invalid parameter in environment .", hint="Numbers and booleans cannot be merged."
        )
    raise MergeConflict(
        "a text and a list cannot be merged", "AttributeError", "Write both as lists."
    )


def _parsed(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError as error:
        raise MergeConflict(f"Value must be valid JSON: {error}") from error


def _maps(old: dict[str, Any], new: dict[str, Any], *, deep: bool) -> dict[str, Any]:
    """Null leaves of ``new`` are skipped; below maps, a deep merge also concatenates text."""
    made = dict(old)
    for key, value in new.items():
        if value is None:
            continue
        made[key] = _deep(made[key], value) if deep and key in made else value
    return made


def _deep(old: Any, new: Any) -> Any:
    if isinstance(old, dict) and isinstance(new, dict):
        return _maps(old, new, deep=True)
    if isinstance(old, list) and isinstance(new, list):
        return [*old, *new]
    if isinstance(old, str) and isinstance(new, str):
        return old + new
    return new
