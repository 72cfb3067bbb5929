"""What our event sinks write of an event: one object of JSON, the same for all of them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from zonda.hooks.events import EventRecord


def payload(event: EventRecord) -> dict[str, Any]:
    """What is sent: ``type``, ``timestamp`` and ``data``, as Standard Webhooks advises."""
    what = "resource" if event.resource_name else "stack"
    moment = datetime.fromtimestamp(event.at, UTC).isoformat(timespec="milliseconds")
    return {
        "type": f"{what}.{event.state.lower()}",
        "timestamp": moment.replace("+00:00", "Z"),
        "data": data(event),
    }


def data(event: EventRecord) -> dict[str, Any]:
    """An event for receivers; more may be added, nothing is renamed."""
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
