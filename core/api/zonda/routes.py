"""The route table of zonda's own API."""

from __future__ import annotations

from ..http.routes import Route, RouteTable
from .events import watch_events

_P = "/zonda/v1/{project}"

TABLE = RouteTable(
    [
        Route("GET", f"{_P}/events", "events:watch", watch_events, "read"),
    ]
)
