"""Merge strategies: how one parameter given by two environment files becomes one value.

Called by ``environment``. Knows values and the parameter's type, nothing of files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from zonda.hooks.errors import TemplateError

from ..source.diagnostics import MERGE as MERGE_CODE
from ..source.diagnostics import format_type_name
from ..source.json_text import read_json
from .types import JSON, LIST, NUMBER, STRING

OVERWRITE = "overwrite"
MERGE = "merge"
DEEP_MERGE = "deep_merge"
KNOWN = (OVERWRITE, MERGE, DEEP_MERGE)
_DEFAULT = "default"

_NUMBERS = "Numbers and booleans cannot be merged."


class MergeConflict(Exception):
    """Raised for two values or two strategies that do not go together."""

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


def choose_strategy(name: str, strategies: Mapping[str, Any], known: Mapping[str, str]) -> str:
    """Choose the strategy of a file for ``name``: its own, the one used before, or its default."""
    fallback = strategies.get(_DEFAULT, OVERWRITE)
    fallback = fallback if fallback in KNOWN else OVERWRITE
    chosen = strategies.get(name, known.get(name, fallback))
    return chosen if chosen in KNOWN else fallback


def merge_value(values: Mapping[str, Any], name: str, new: Any, strategy: str, kind: str) -> Any:
    """Merge ``new`` into the value of ``name`` in ``values``, for a parameter of type ``kind``.

    Raises MergeConflict.
    """
    if strategy == OVERWRITE:
        return new
    new = _read_value(new, kind)
    old = values.get(name)
    if kind == JSON:
        return _merge_maps(old, new, deep=strategy == DEEP_MERGE)
    if kind == LIST:
        return _merge_lists(old, new)
    if kind == STRING:
        return _merge_texts(old if name in values else "", new)
    if kind == NUMBER and isinstance(old, str):
        return _merge_texts(old, new)
    if kind == NUMBER:
        raise MergeConflict("a number cannot be merged with a text", "TypeError", _NUMBERS)
    raise MergeConflict(
        f"Invalid merge strategy 'merge' for parameter '{name}'.",
        "InvalidMergeStrategyForParam",
        f"A {kind} can only be overwritten.",
    )


def _read_value(value: Any, kind: str) -> Any:
    """A JSON parameter's value as data; any other must be a text or a list."""
    if kind != JSON:
        if not isinstance(value, str | list):
            raise MergeConflict("Invalid parameter in environment .", hint=_NUMBERS)
        return value
    try:
        text = value if isinstance(value, str) else json.dumps(value)
        return read_json(text) if text else text
    except (ValueError, TypeError) as error:
        raise MergeConflict(f"Invalid parameter in environment {error}.") from error


def _merge_maps(old: Any, new: Any, *, deep: bool) -> Any:
    """Merge two maps: null leaves of ``new`` are skipped; a deep merge also concatenates text."""
    if not old:
        return new
    if not isinstance(new, dict):
        raise _make_conflict(old, new, "AttributeError")
    if not isinstance(old, dict):
        if all(value is None for value in new.values()):
            return old
        raise _make_conflict(old, new, "TypeError")
    made = dict(old)
    for key, value in new.items():
        if value is not None:
            made[key] = _merge_deep(made, key, value) if deep else value
    return made


def _merge_deep(made: Mapping[str, Any], key: str, new: Any) -> Any:
    old = made.get(key)
    if isinstance(new, dict):
        return _merge_maps(old, new, deep=True)
    if isinstance(new, list):
        return _merge_lists(old, new)
    if isinstance(new, str):
        return _merge_texts(old if key in made else "", new)
    return new


def _merge_lists(old: Any, new: Any) -> Any:
    if not old:
        return new
    if isinstance(old, list) and isinstance(new, list):
        return [*old, *new]
    if isinstance(old, str) and isinstance(new, str):
        return f"{old},{new}"
    raise _make_conflict(old, new, "AttributeError" if isinstance(new, list) else "TypeError")


def _merge_texts(old: Any, new: Any) -> str:
    if isinstance(old, str) and isinstance(new, str):
        return old + new
    raise _make_conflict(old, new, "TypeError")


def _make_conflict(old: Any, new: Any, heat_type: str) -> MergeConflict:
    return MergeConflict(
        f"a {format_type_name(old)} and a {format_type_name(new)} cannot be merged",
        heat_type,
        "Write both in the same way.",
    )
