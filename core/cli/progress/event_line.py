"""One event as one line of text, for logs, pipes and ``--follow``."""

from __future__ import annotations

from collections.abc import Sequence

from zonda.core.store.read.views import EventView

from ..console import formats, sanitize

#: Stands in the event of a resource that waits at a breakpoint.
PAUSED = " paused until Hook "


#: How many events, and then how many failures, of nested stacks are told of one by one.
MOST_NESTED = 100


class Nested:
    """Which events of nested stacks are told: what owns them tells of them as a whole."""

    def __init__(self) -> None:
        self._all = self._failed = 0

    def admits(self, event: EventView) -> bool:
        """Whether this one is told, too."""
        self._all += 1
        if event.status == "FAILED":
            self._failed += 1
            return self._failed <= MOST_NESTED
        return self._all <= MOST_NESTED

    @property
    def just_full(self) -> bool:
        """Whether the last one was the first of those of which failures alone are told."""
        return self._all == MOST_NESTED + 1


class Reasons:
    """Why something has failed, told once: at the end, with its place, where a command explains it.

    ``withheld``: the lines of events without their reasons so far, in full.
    """

    def __init__(self) -> None:
        self.withheld: list[str] = []
        self._failed: set[str] = set()
        self._told: set[str] = set()

    def __contains__(self, reason: object) -> bool:
        """Whether a reason was told."""
        return reason in self._told

    def take(self, event: EventView, top: str, path: Sequence[str]) -> str:
        """What is to be told of an event's reason as long as the rest is to come."""
        if event.status != "FAILED":
            return event.reason
        if event.resource_name:
            self._failed.add(event.reason)
            self.withheld.append(line(event, top, path))
            return ""
        for reason in self._failed:
            if event.reason.endswith(f": {reason}"):
                return event.reason.removesuffix(f": {reason}")
        self._told.add(event.reason)
        return event.reason


def line(
    event: EventView, top: str = "", path: Sequence[str] = (), reason: str | None = None
) -> str:
    """E.g. ``2026-11-21 10:00:00Z [web.database]: CREATE_COMPLETE  state changed``.

    ``path``: the way from the stack ``top`` down to its own, e.g. ``[web.servers/0]``. ``reason``:
    what is told instead of the event's own.
    """
    at = (formats.moment(event.at) or "").replace("T", " ")
    name = ".".join(filter(None, (event.stack_name, event.resource_name)))
    if path:
        name = f"{top}.{'/'.join((*path, event.resource_name))}"
    why = event.reason if reason is None else reason
    text = " ".join(f"{at} [{name}]: {event.state}  {why}".splitlines())
    return sanitize.line(text).rstrip()


def hint(event: EventView, top: str = "", path: Sequence[str] = ()) -> str:
    """What lets a resource go on that waits at a breakpoint; '' for any other event."""
    if PAUSED not in event.reason:
        return ""
    stack = top if path else event.stack_name
    words = f"zonda stack hook clear {stack} {'/'.join((*path, event.resource_name))}"
    return sanitize.line(f"'{words}' lets it go on.")
