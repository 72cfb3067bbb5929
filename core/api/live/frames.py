"""The frames of a stream: events, progress and gaps as Server-Sent Events.

The shapes are a contract: ``docs/reference/live-events.md``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from zonda.core.events.records import TreePath
from zonda.core.store.read.views import EventView
from zonda.hooks.records import dataclass

KEEP_ALIVE = b": keep-alive\n\n"
#: The last frame of a server that stops: come back in a second, in milliseconds.
GOODBYE = b"retry: 1000\n\n"


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame, and who may see it: the streams of its project, or of its root alone.

    ``seq``: 0 for what is not kept.
    """

    project: str
    root_id: str
    seq: int
    data: bytes


def make_event_frame(event: EventView, place: TreePath) -> Frame:
    """The frame of a committed event."""
    shown = {
        "seq": event.seq,
        "id": event.id,
        "time": _format_time(event.at),
        **_show_place(event.stack_id, event.stack_name, place),
        "path": "/".join(filter(None, (place.path, event.resource_name))),
        "resource_id": event.resource_id,
        "resource_name": event.resource_name,
        "resource_type": event.resource_type,
        "physical_id": event.physical_id,
        "action": event.action,
        "status": event.status,
        "state": event.state,
        "reason": event.reason,
        "generation": event.generation,
    }
    return Frame(place.project, place.root_id, event.seq, _format("state", shown, event.seq))


def make_progress_frame(
    stack_id: str, resource: str, message: str, since: float | None, place: TreePath
) -> Frame:
    """The frame of what a running operation waits for."""
    shown = {
        **_show_place(stack_id, "", place),
        "path": "/".join(filter(None, (place.path, resource))),
        "resource_name": resource,
        "message": message,
        "since": None if since is None else _format_time(since),
    }
    return Frame(place.project, place.root_id, 0, _format("progress", shown))


def format_gap(after: int, last: int) -> bytes:
    """The text of a gap: events behind ``after`` up to ``last`` are not sent."""
    return _format("gap", {"after": after, "last": last}, last)


def format_position(seq: int) -> bytes:
    """The text that tells a client where it is, so that it can come back to there."""
    return f"id: {seq}\n\n".encode()


def _show_place(stack_id: str, name: str, place: TreePath) -> Mapping[str, Any]:
    named = {"stack_name": name} if name else {}
    return {"stack_id": stack_id, **named, "root_id": place.root_id, "root_name": place.root_name}


def _format(kind: str, shown: Mapping[str, Any], seq: int | None = None) -> bytes:
    place = "" if seq is None else f"id: {seq}\n"
    return f"{place}event: {kind}\ndata: {json.dumps(shown)}\n\n".encode()


def _format_time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
