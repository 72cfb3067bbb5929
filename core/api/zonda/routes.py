"""The route table of zonda's own API: one line per operation.

``POST read/NAME`` takes the arguments of a read as a map and answers ``{"result": ...}``.
"""

from __future__ import annotations

from zonda.core.wire.codec import encode

from ..http.calls import Answer, Call
from ..http.routes import Handler, Route, RouteTable
from .actions import act
from .arguments import parse_arguments
from .events import watch_events
from .hello import greet
from .reads import READS, Read
from .reports import REPORTS
from .waiting import WAITING

PREFIX = "/zonda/v1/"
_P = f"{PREFIX}{{project}}"
#: All reads by their names.
ALL_READS = {**READS, **WAITING, **REPORTS}


def _make_handler(read: Read) -> Handler:
    def answer(call: Call) -> Answer:
        arguments = parse_arguments(read.function, call.project, call.body)
        return Answer(200, {"result": encode(read.function(call.project, **arguments))})

    return answer


def _make_read_route(name: str, read: Read) -> Route:
    path = f"{_P}/read/{name}"
    return Route("POST", path, f"reads:{name}", _make_handler(read), read.rule, read.is_heavy)


TABLE = RouteTable(
    [
        Route("GET", f"{PREFIX}hello", "hello", greet, "anybody"),
        Route("POST", f"{_P}/actions", "actions:submit", act, "write"),
        Route("GET", f"{_P}/events", "events:watch", watch_events, "read"),
        *(_make_read_route(name, read) for name, read in ALL_READS.items()),
    ]
)
