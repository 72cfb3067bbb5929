"""A call (a request that has been read) and its answer: what handlers take and give.

A handler is ``def handler(call: Call) -> Answer``; it runs in a thread, and needs no server.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from zonda.hooks.records import dataclass, field, replace
from zonda.hooks.text.json_encoder import make_encoder

from ..identity.callers import Caller
from ..live.stream import EventStream
from ..service.project import Project

#: The values of each key of a query, in their order.
Query = Mapping[str, tuple[str, ...]]


#: The body of an answer without a body.
EMPTY = ""
_encode = make_encoder(default=str, strict=True)
#: Items from which on a list is encoded one by one.
_LONG = 100


@dataclass(frozen=True, slots=True)
class Call:
    """One request. ``path``: the parts of the path by their names in the route.

    ``headers``: names in lower case. ``body``: the value of the body, None without one.
    ``base``: the URL of the server as the client knows it. ``project``: what the caller may see
    and do.
    """

    caller: Caller
    project: Project
    method: str
    path: Mapping[str, str]
    query: Query = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    base: str = ""
    request_id: str = ""

    def get_first(self, key: str) -> str | None:
        """The first value of a key of the query."""
        found = self.query.get(key)
        return found[0] if found else None

    def build_url(self, *parts: str, query: Mapping[str, Any] | None = None) -> str:
        """The URL of something of this project."""
        path = "/".join(quote(part, safe="") for part in (self.project.id, *parts))
        shown = f"?{urlencode(query, doseq=True)}" if query else ""
        return f"{self.base}/v1/{path}{shown}"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: its status, and a JSON value, a text or bytes of ``media_type``.

    ``stream``: what follows the headers instead of a body, for as long as the client listens.
    ``caller``: the user who signs in or out by it, whom nobody knew by the request, for the log.
    """

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    media_type: str = "application/json"
    stream: EventStream | None = None
    caller: Caller | None = None

    def format_body(self) -> bytes:
        """The body as bytes."""
        if isinstance(self.body, bytes):
            return self.body
        if self.media_type == "application/json" and self.body is not EMPTY:
            return encode_json(self.body).encode()
        return str(self.body).encode()

    def finish(self) -> Answer:
        """The answer with its JSON as bytes, which takes a while for a long list."""
        if self.media_type != "application/json" or self.body is EMPTY:
            return self
        return replace(self, body=self.format_body())


def encode_json(value: Any) -> str:
    """The JSON text of a value; of one with a long list in pieces.

    One call for a list of 4,000 preview entries would hold the interpreter for 40 ms.
    """
    if not _has_long_list(value):
        return _encode(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_encode, value))}]"
    pairs = (
        _encode({name: None}).removeprefix("{").removesuffix("null}") + encode_json(each)
        for name, each in value.items()
    )
    return f"{{{', '.join(pairs)}}}"


def _has_long_list(value: Any, depth: int = 2) -> bool:
    """Whether a value is a long list, or has one as a value of its maps."""
    if isinstance(value, list):
        return len(value) > _LONG
    if depth == 0 or not isinstance(value, dict):
        return False
    return any(_has_long_list(each, depth - 1) for each in value.values())


def make_text(status: int, text: str, media_type: str = "text/html") -> Answer:
    """An answer with a text."""
    return Answer(status, text, media_type=media_type)
