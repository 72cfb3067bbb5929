"""A stack at the end of a generation, rebuilt from the stored template and events.

Kept are the template with all that was given, and the events. Not kept are the values that
properties, attributes and outputs had: only the present ones are stored.
"""

from __future__ import annotations

from zonda.core.engine.progress.history import ASIDE
from zonda.core.store.read.reader import ALL, Reader
from zonda.core.store.read.views import ActionView, EventView, StackView
from zonda.hooks.records import dataclass

#: The text for unknown history.
NOT_KEPT = "values of properties, attributes and outputs as they were then"


@dataclass(frozen=True, slots=True)
class PastResource:
    """A resource at that time. ``since``: when it came into that state."""

    name: str
    type: str
    physical_id: str | None
    state: str
    reason: str
    since: float


@dataclass(frozen=True, slots=True)
class Past:
    """A stack at that time. ``complete``: whether every event up to then is still kept."""

    action: ActionView
    state: str
    resources: list[PastResource]
    complete: bool


def read_past(reader: Reader, stack: StackView, action: ActionView) -> Past:
    """Rebuild the stack at the end of a generation, or now if that has not ended."""
    events = reader.events(stack.id, limit=ALL)
    last: dict[str | None, EventView] = {}
    for event in events:
        if event.generation > action.generation:
            break
        if (event.action, event.status) == ("DELETE", "COMPLETE"):
            last.pop(event.resource_id, None)
        elif event.resource_name and event.action not in ASIDE:
            last[event.resource_id] = event
    resources = [_build_resource(event) for event in last.values()]
    is_complete = bool(events) and events[0].generation == 1
    return Past(action, action.state, resources, is_complete)


def _build_resource(event: EventView) -> PastResource:
    return PastResource(
        event.resource_name,
        event.resource_type,
        event.physical_id,
        event.state,
        event.reason,
        event.at,
    )
