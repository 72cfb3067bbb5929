"""JSON text that keeps the types of values: keys that are no text, tuples, bytes, times.

What JSON has no word for stands as a map with one key that begins with ``$``; maps with such keys
of their own are written as ``$map``. A set becomes a list, as in Heat (yaql gives sets). Anything
else raises TypeError.
"""

from __future__ import annotations

import base64
import datetime
import json
from collections.abc import Callable
from typing import Any

from zonda.hooks.text.json_encoder import make_encoder


def dumps(value: Any) -> str:
    """``value`` as text."""
    if not _is_plain(value):
        value = _add_tags(value)
    return _encode(value)


_encode = make_encoder()


def loads(text: str | bytes) -> Any:
    """The value of a text that ``dumps`` wrote."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "surrogatepass")
    if '{"$' in text:
        return json.loads(text, object_hook=_remove_tags)
    value, end = _DECODER.raw_decode(text)
    return value if end == len(text) else json.loads(text)  # which says what is wrong


#: The part of ``json.loads`` that reads: the rest of it takes longer than most texts of a row.
_DECODER = json.JSONDecoder()
_SCALARS = frozenset((str, int, float, bool, type(None)))


def _is_plain(value: Any) -> bool:
    kind = type(value)
    if kind is dict:
        for key, item in value.items():
            if type(key) is not str or key[:1] == "$":
                return False
            if type(item) not in _SCALARS and not _is_plain(item):
                return False
        return True
    if kind is list:
        return all(type(item) in _SCALARS or _is_plain(item) for item in value)
    return kind in _SCALARS


def _add_tags(value: Any) -> Any:
    if isinstance(value, dict):
        if all(type(key) is str and key[:1] != "$" for key in value):
            return {key: _add_tags(item) for key, item in value.items()}
        return {"$map": [[_add_tags(key), _add_tags(item)] for key, item in value.items()]}
    if isinstance(value, list):
        return [_add_tags(item) for item in value]
    if isinstance(value, tuple):
        return {"$tuple": [_add_tags(item) for item in value]}
    if isinstance(value, bytes):
        return {"$bytes": base64.b64encode(value).decode()}
    if isinstance(value, datetime.datetime):
        return {"$time": value.isoformat()}
    if isinstance(value, datetime.date):
        return {"$date": value.isoformat()}
    if isinstance(value, set | frozenset):
        return [_add_tags(item) for item in sorted(value, key=repr)]
    return value


_READERS: dict[str, Callable[[Any], Any]] = {
    "$map": dict,
    "$tuple": tuple,
    "$bytes": base64.b64decode,
    "$time": datetime.datetime.fromisoformat,
    "$date": datetime.date.fromisoformat,
}


def _remove_tags(found: dict[str, Any]) -> Any:
    if len(found) == 1:
        ((key, item),) = found.items()
        reader = _READERS.get(key)
        if reader is not None:
            return reader(item)
    return found
