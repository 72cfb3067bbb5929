"""Tokens of Heat's plug-ins, which need not be JSON, in a form that can be stored.

Lists, tuples, maps, sets, bytes, dates, spans of time and what ``heat.engine.clients.progress`` has
come back as they were. Anything else (a running task, a client's object) lives only as long as the
process, as it does in Heat.
"""

from __future__ import annotations

import base64
import datetime
from collections.abc import Callable
from typing import Any

from heat.engine.clients import progress

_KIND = "__heat__"


class CannotBeStored(TypeError):
    """A token that only lives in memory."""


def pack(value: Any) -> Any:
    """``value`` as JSON; raises CannotBeStored."""
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return value
    if kind is list:
        return [pack(each) for each in value]
    if kind is dict and _KIND not in value and all(type(key) is str for key in value):
        return {key: pack(each) for key, each in value.items()}
    if kind in _PACKERS:
        return {_KIND: kind.__name__, "value": _PACKERS[kind](value)}
    if kind is getattr(progress, kind.__name__, None):
        return {_KIND: "progress", "value": [kind.__name__, pack(vars(value))]}
    raise CannotBeStored(f"{kind.__name__} cannot be stored")


def unpack(stored: Any) -> Any:
    """The value that ``pack`` was given."""
    if isinstance(stored, list):
        return [unpack(each) for each in stored]
    if isinstance(stored, dict):
        if _KIND in stored:
            return _UNPACKERS[stored[_KIND]](stored["value"])
        return {key: unpack(each) for key, each in stored.items()}
    return stored


def _unpack_progress(stored: list[Any]) -> Any:
    name, values = stored
    kind = getattr(progress, name)
    made = kind.__new__(kind)
    vars(made).update(unpack(values))
    return made


def _packed(values: Any) -> list[Any]:
    return [pack(each) for each in values]


def _unpacked(stored: list[Any]) -> list[Any]:
    return [unpack(each) for each in stored]


_PACKERS: dict[type, Callable[[Any], Any]] = {
    tuple: _packed,
    set: lambda value: sorted(_packed(value), key=repr),
    frozenset: lambda value: sorted(_packed(value), key=repr),
    dict: lambda value: [[pack(key), pack(each)] for key, each in value.items()],
    bytes: lambda value: base64.b64encode(value).decode(),
    datetime.datetime: datetime.datetime.isoformat,
    datetime.date: datetime.date.isoformat,
    datetime.timedelta: datetime.timedelta.total_seconds,
}
_UNPACKERS: dict[str, Callable[[Any], Any]] = {
    "tuple": lambda stored: tuple(_unpacked(stored)),
    "set": lambda stored: set(_unpacked(stored)),
    "frozenset": lambda stored: frozenset(_unpacked(stored)),
    "dict": lambda stored: {unpack(key): unpack(each) for key, each in stored},
    "bytes": base64.b64decode,
    "datetime": datetime.datetime.fromisoformat,
    "date": datetime.date.fromisoformat,
    "progress": _unpack_progress,
    "timedelta": lambda stored: datetime.timedelta(seconds=stored),
}
