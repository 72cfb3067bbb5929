"""Values of queries and bodies, and times, in Heat's forms."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ..http.calls import Call
from ..http.errors import BadRequest


def parse_bool(key: str, value: Any) -> bool:
    """A boolean; raises BadRequest for anything but true and false in any letter case."""
    if isinstance(value, bool):
        return value
    word = str(value).lower()
    if word not in ("true", "false"):
        raise BadRequest(
            f'Unrecognized value "{value}" for "{key}", acceptable values are: true, false',
            "ValueError",
        )
    return word == "true"


def parse_int(key: str, value: Any) -> int:
    """A number that is not negative; raises BadRequest."""
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise BadRequest(f"Only integer is acceptable by '{key}'.", "ValueError")
    try:
        number = int(value) if len(str(value)) < 19 else None
    except ValueError:
        number = None
    if number is None:
        raise BadRequest(f"Only integer is acceptable by '{key}'.", "ValueError")
    if number < 0:
        raise BadRequest(
            f"Value '{value}' is invalid for '{key}' which only accepts non-negative integer.",
            "ValueError",
        )
    return number


def get_bool(call: Call, key: str, default: bool = False) -> bool:
    """A boolean of the query."""
    value = call.get_first(key)
    return default if value is None else parse_bool(key, value)


def get_int(call: Call, key: str) -> int | None:
    """A number of the query; None where it is not given."""
    value = call.get_first(key)
    return None if value is None or value == "" else parse_int(key, value)


def get_all(call: Call, *keys: str) -> tuple[str, ...]:
    """All values of some keys of the query."""
    return tuple(value for key in keys for value in call.query.get(key, ()))


def get_words(call: Call, key: str) -> tuple[str, ...]:
    """The words of a text with commas in the query."""
    return tuple(word for text in call.query.get(key, ()) for word in text.split(",") if word)


def get_descending(call: Call, default: bool) -> bool:
    """The direction of sorting."""
    way = call.get_first("sort_dir")
    if way is None:
        return default
    if way not in ("asc", "desc"):
        raise BadRequest(f"Unexpected value for 'sort_dir': {way}", "ValueError")
    return way == "desc"


def require_object(body: Any) -> Mapping[str, Any]:
    """The body as an object; raises BadRequest for anything else."""
    if not isinstance(body, Mapping):
        raise BadRequest(
            "The server could not comply with the request since it is either malformed or "
            "otherwise incorrect."
        )
    return body


def read_map(body: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The map under a key of a body, empty where there is none; raises BadRequest."""
    value = body.get(key) or {}
    if not isinstance(value, Mapping):
        raise BadRequest(f"{key} must be a map")
    return dict(value)


def format_time(at: float | None) -> str | None:
    """A time in whole seconds, UTC; null for none."""
    if at is None:
        return None
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
