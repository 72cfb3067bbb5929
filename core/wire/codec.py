"""Views and errors as JSON values and back.

A dataclass of the table is ``{"$": NAME, FIELD: VALUE, ...}``; a tuple, a set, an error and a map
with other keys than texts have marks of their own. All else is as JSON has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from zonda.core.engine.actions.wire import error_to_dict, parse_error
from zonda.hooks.errors import ZondaError

from .classes import find_name, find_shape

_MARK = "$"


class Unreadable(Exception):
    """A value that cannot be decoded: another version has written it."""


def encode(value: Any) -> Any:
    """The JSON value; raises TypeError for a class that does not travel."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, list):
        return [encode(each) for each in value]
    if isinstance(value, tuple):
        return {_MARK: "tuple", "items": [encode(each) for each in value]}
    if isinstance(value, (set, frozenset)):
        return {_MARK: "set", "items": sorted(encode(each) for each in value)}
    if isinstance(value, Mapping):
        return _encode_map(value)
    if isinstance(value, ZondaError):
        return {_MARK: "error", "error": error_to_dict(value)}
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    name = find_name(type(value))
    if name is None:
        raise TypeError(f"{type(value).__name__} does not travel")
    shown = {field: encode(getattr(value, field)) for field in find_shape(name).fields}
    return {_MARK: name, **shown}


def _encode_map(value: Mapping[Any, Any]) -> dict[str, Any]:
    if _MARK in value or not all(isinstance(key, str) for key in value):
        items = [[encode(key), encode(each)] for key, each in value.items()]
        return {_MARK: "map", "items": items}
    return {str(key): encode(each) for key, each in value.items()}


def decode(value: Any) -> Any:
    """The value that ``encode`` was given; raises Unreadable."""
    if isinstance(value, list):
        return [decode(each) for each in value]
    if not isinstance(value, dict):
        return value
    name = value.get(_MARK)
    if name is None:
        return {key: decode(each) for key, each in value.items()}
    try:
        return _decode_marked(name, value)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Unreadable(f"{name}: {error}") from error


def _decode_marked(name: str, value: dict[str, Any]) -> Any:
    if name == "tuple":
        return tuple(decode(each) for each in value["items"])
    if name == "set":
        return frozenset(decode(each) for each in value["items"])
    if name == "map":
        return {decode(key): decode(each) for key, each in value["items"]}
    if name == "error":
        return parse_error(value["error"])
    shape = find_shape(name)
    # a newer server may tell more than is known here
    return shape.cls(**{key: decode(value[key]) for key in shape.fields if key in value})
