"""A request as it was read, and what its query and its body say.

Raises BadRequest for what cannot be read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from zonda.core.template.source.json_text import read_json
from zonda.hooks.records import dataclass, field

from .calls import Query
from .errors import BadRequest

_MOST_KEYS = 100


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it was read. ``headers``: names in lower case."""

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    base: str = ""
    id: str = ""


def parse_query(text: str) -> Query:
    """The keys of a query with all their values; raises BadRequest for too many."""
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_KEYS)
    except ValueError as error:
        raise BadRequest(f"The query has more than {_MOST_KEYS} keys") from error
    found: dict[str, tuple[str, ...]] = {}
    for key, value in pairs:
        found[key] = (*found.get(key, ()), value)
    return found


def parse_json(request: Request) -> Any:
    """The JSON value of a body; None without one. Raises BadRequest."""
    if request.method in ("GET", "HEAD", "OPTIONS"):
        return None
    check_encoding(request.headers)
    return parse_json_body(request.body)


def parse_json_body(body: bytes) -> Any:
    """The JSON value of bytes; None for nothing. Raises BadRequest."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadRequest("The body is not UTF-8") from error
    if not text.strip():
        return None
    try:
        found = read_json(text)
        text.encode("utf-8")
    except ValueError as error:
        raise BadRequest(str(error)) from error
    return _check_encodable(found)


def _check_encodable(value: Any) -> Any:
    """The value; raises BadRequest for halves of surrogate pairs, which no database takes."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadRequest("The body has half of a surrogate pair in a text") from error
    return value


def check_encoding(headers: Mapping[str, str]) -> None:
    """Raise BadRequest for a body that is compressed."""
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        raise BadRequest("A body with a Content-Encoding cannot be read")
