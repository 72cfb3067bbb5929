"""One event as one line of text, for logs, pipes and ``--follow``."""

from __future__ import annotations

from zonda.core.store.views import EventView

from . import output, plain

#: Stands in the event of a resource that waits at a breakpoint.
PAUSED = " paused until Hook "


def line(event: EventView) -> str:
    """E.g. ``2026-11-21 10:00:00Z [web.database]: CREATE_COMPLETE  state changed``."""
    at = (output.moment(event.at) or "").replace("T", " ")
    name = ".".join(filter(None, (event.stack_name, event.resource_name)))
    text = " ".join(f"{at} [{name}]: {event.state}  {event.reason}".splitlines())
    return plain.line(text).rstrip()


def hint(event: EventView) -> str:
    """What lets a resource go on that waits at a breakpoint; '' for any other event."""
    if PAUSED not in event.reason:
        return ""
    words = f"zonda stack hook clear {event.stack_name} {event.resource_name}"
    return plain.line(f"'{words}' lets it go on.")
