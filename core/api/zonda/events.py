"""The stream of live events: which ones a client asks for."""

from __future__ import annotations

import re

from ..http.calls import Answer, Call
from ..http.errors import BadRequest
from ..live.hub import MOST_STREAMS
from ..live.stream import EventStream, Wish

_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
_NUMBER = re.compile(r"[0-9]{1,18}")


def watch_events(call: Call) -> Answer:
    """The events of a project, or of the tree of one stack, from now on or behind one."""
    service, name = call.project.service, call.get_first("stack")
    root_id = "" if name is None else call.project.find_by_name_or_id(name).root_id
    most = int(service.quotas.find(call.caller, call.project.id).get("streams", MOST_STREAMS))
    wish = Wish(call.project.id, root_id, _find_position(call), call.caller.expires, most)
    stream = EventStream(service.hub, service.app, lambda: service.reader, wish)
    return Answer(200, headers=_HEADERS, media_type="text/event-stream", stream=stream)


def _find_position(call: Call) -> int | None:
    """The event behind which the stream begins; None: from now on.

    A client that comes back says so in a header, by the same URL as before.
    """
    given = call.headers.get("last-event-id") or call.get_first("after")
    if given is None:
        return None
    if not _NUMBER.fullmatch(given):
        raise BadRequest("'after' and Last-Event-ID must be the 'seq' of an event: a number")
    return int(given)
