"""The payload of an event for all our event sinks: one object of JSON."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from zonda.hooks.events import EventRecord


def build_payload(event: EventRecord) -> dict[str, Any]:
    """The object to send: ``type``, ``timestamp`` and ``data``, as Standard Webhooks advises."""
    what = "resource" if event.resource_name else "stack"
    moment = datetime.fromtimestamp(event.at, UTC).isoformat(timespec="milliseconds")
    return {
        "type": f"{what}.{event.state.lower()}",
        "timestamp": moment.replace("+00:00", "Z"),
        "data": build_data(event),
    }


def build_data(event: EventRecord) -> dict[str, Any]:
    """The event as data for receivers; fields may be added, none is renamed."""
    return {
        "id": event.id,
        "seq": event.seq,
        "project": event.project,
        "stack_name": event.stack_name,
        "stack_id": event.stack_id,
        "path": event.path,
        "resource_name": event.resource_name,
        "resource_type": event.resource_type,
        "physical_resource_id": event.physical_id,
        "action": event.action,
        "status": event.status,
        "reason": event.reason,
        "generation": event.generation,
    }
