"""JSON of 2013."""

from __future__ import annotations

import datetime
import json
from typing import Any


def to_primitive(value: Any, *options: Any, **named: Any) -> Any:
    """``value`` in what JSON has."""
    if isinstance(value, datetime.datetime | datetime.date):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(key): to_primitive(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_primitive(each) for each in value]
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    return str(value)


def dumps(value: Any, default: Any = to_primitive, **named: Any) -> str:
    return json.dumps(value, default=default, **named)


def loads(text: str | bytes, encoding: str = "utf-8", **named: Any) -> Any:
    return json.loads(text, **named)


def load(file: Any, **named: Any) -> Any:
    return json.load(file, **named)
