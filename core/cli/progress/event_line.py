"""One event as one line of text, for logs, pipes and ``--follow``."""

from __future__ import annotations

from collections.abc import Sequence

from zonda.core.store.read.views import EventView

from ..console import formats, sanitize

#: Stands in the event of a resource that waits at a breakpoint.
PAUSED = " paused until Hook "
#: So begin the reasons of its later events.
_PASSED = ("Hook ", "Failure occurred while waiting.")


def is_of_breakpoint(event: EventView) -> bool:
    """Whether an event tells of a breakpoint: its state is then what the resource had before."""
    return PAUSED in event.reason or event.reason.startswith(_PASSED)


#: The most events, and then failures, of nested stacks that are shown one by one.
MOST_NESTED = 100


class NestedEventFilter:
    """Limits the shown events of nested stacks: their owners' events summarize them."""

    def __init__(self) -> None:
        self._all = self._failed = 0

    def admits(self, event: EventView) -> bool:
        """Whether this event is shown, too."""
        self._all += 1
        if event.status == "FAILED":
            self._failed += 1
            return self._failed <= MOST_NESTED
        return self._all <= MOST_NESTED

    @property
    def is_limit_reached(self) -> bool:
        """Whether the last event was the first beyond the limit; then only failures count."""
        return self._all == MOST_NESTED + 1


class FailureReasons:
    """The reasons of failures, each shown once: at the end, with its place, by the report.

    ``withheld``: the lines of events without their reasons so far, in full.
    """

    def __init__(self) -> None:
        self.withheld: list[str] = []
        self._failed: set[str] = set()
        self._told: set[str] = set()

    def __contains__(self, reason: object) -> bool:
        """Whether a reason was shown."""
        return reason in self._told

    def take(self, event: EventView, top: str, path: Sequence[str]) -> str:
        """Record an event's reason, and return the part of it to show now."""
        if event.status != "FAILED":
            return event.reason
        if event.resource_name:
            self._failed.add(event.reason)
            self.withheld.append(format_line(event, top, path))
            return ""
        for reason in self._failed:
            if event.reason.endswith(f": {reason}"):
                return event.reason.removesuffix(f": {reason}")
        self._told.add(event.reason)
        return event.reason


def format_line(
    event: EventView, top: str = "", path: Sequence[str] = (), reason: str | None = None
) -> str:
    """Format ``2026-11-21 10:00:00Z [web.database]: CREATE_COMPLETE  state changed``.

    ``path``: the way from the stack ``top`` down to its own, e.g. ``[web.servers/0]``. ``reason``:
    what is told instead of the event's own.
    """
    at = (formats.format_time(event.at) or "").replace("T", " ")
    name = ".".join(filter(None, (event.stack_name, event.resource_name)))
    if path:
        name = f"{top}.{'/'.join((*path, event.resource_name))}"
    why = event.reason if reason is None else reason
    text = " ".join(f"{at} [{name}]: {event.state}  {why}".splitlines())
    return sanitize.sanitize_line(text).rstrip()


def format_hint(event: EventView, top: str = "", path: Sequence[str] = ()) -> str:
    """Format the command that clears a resource's breakpoint; '' for any other event."""
    if PAUSED not in event.reason:
        return ""
    stack = top if path else event.stack_name
    words = f"zonda stack hook clear {stack} {'/'.join((*path, event.resource_name))}"
    return sanitize.sanitize_line(f"'{words}' lets it go on.")
