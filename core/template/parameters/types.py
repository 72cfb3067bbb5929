"""The five types of parameters: the conversion of a given value to that of ``get_param``.

Called by ``parameters`` and ``merge``. Each conversion raises ValueError with the
text Heat's users know; nothing here knows of names, sections or constraints.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ..source.diagnostics import TooLarge
from ..source.json_text import read_json

STRING = "string"
NUMBER = "number"
LIST = "comma_delimited_list"
JSON = "json"
BOOLEAN = "boolean"
TYPES = (STRING, NUMBER, LIST, JSON, BOOLEAN)

_SCALARS = frozenset((str, int, float, bool, type(None)))
#: The levels of maps and lists that are copied by recursion: what is deeper is read as JSON.
_SHALLOW = 16
_TRUE = ("1", "t", "true", "on", "y", "yes")
_FALSE = ("0", "f", "false", "off", "n", "no")


class _NotPlain(Exception):
    """A value that JSON changes or cannot carry, or a deep one."""


def to_string(value: Any) -> str:
    """Any value as Python's text."""
    return str(value)


def to_number(value: Any) -> int | float:
    """A number as it is (booleans too), a text as whole number or else as float."""
    if isinstance(value, int | float):
        return value
    try:
        return int(value)
    except ValueError:
        return float(value)
    except TypeError as error:
        raise ValueError(str(error)) from error


def to_boolean(value: Any) -> bool:
    """A boolean, or a word for one in any case."""
    if isinstance(value, bool):
        return value
    text = str(value)
    word = text.strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    words = ", ".join(f"'{item}'" for item in sorted((*_TRUE, *_FALSE)))
    raise ValueError(f"Unrecognized value '{text}', acceptable values are: {words}")


def to_list(value: Any) -> list[str]:
    """A list with its items as text, or a text split at commas with nothing trimmed."""
    if isinstance(value, list):
        return [str(item) for item in value]
    if not isinstance(value, str):
        raise ValueError(
            "Value must be a comma-delimited list string: "
            f"'{type(value).__name__}' object has no attribute 'split'"
        )
    return value.split(",") if value else []


def to_json(value: Any) -> Any:
    """A text parsed as JSON (the empty text stays), any other value as JSON would carry it."""
    try:
        return _copy_plain(value, _SHALLOW)
    except _NotPlain:
        pass
    try:
        text = value if isinstance(value, str) else json.dumps(value)
        return read_json(text) if text else value
    except TooLarge:
        raise
    except (ValueError, TypeError) as error:
        raise ValueError(f"Value must be valid JSON: {error}") from error


def _copy_plain(value: Any, depth: int) -> Any:
    """A copy of maps and lists as JSON has them; raises _NotPlain for others, and deeper ones.

    In large trees the maps of parameters are handed down again and again.
    """
    kind = type(value)
    if depth and kind is dict and all(type(key) is str for key in value):
        return {key: _copy_plain_item(item, depth - 1) for key, item in value.items()}
    if depth and kind is list:
        return [_copy_plain_item(item, depth - 1) for item in value]
    raise _NotPlain


def _copy_plain_item(item: Any, depth: int) -> Any:
    return item if type(item) in _SCALARS else _copy_plain(item, depth)


CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    STRING: to_string,
    NUMBER: to_number,
    LIST: to_list,
    JSON: to_json,
    BOOLEAN: to_boolean,
}


def to_constrained_form(kind: str, given: Any, converted: Any) -> Any:
    """The form that constraints check: text and numbers as given, lists and JSON converted."""
    return converted if kind in (LIST, JSON) else given


def to_default_form(kind: str, value: Any) -> Any:
    """The form of a default that constraints check: only lists are converted.

    Raises ValueError for a default that is no list.
    """
    if kind != LIST:
        return value
    if isinstance(value, str):
        return value.split(",")  # the empty text is one empty item here, and only here
    try:
        return to_list(value)
    except ValueError as error:
        raise ValueError(str(error).replace("Value must", "Default must")) from error
