"""Messages while nothing happens: which resource waits, and for what. Used by ``follow``.

For logs and pipes; a terminal shows it all the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from zonda.core.app.surface import PendingRequest

from ..console import formats, sanitize
from .event_line import PAUSED
from .event_stream import EventWithPath
from .summary import ProgressSummary

#: Seconds of silence that end by a line, and those after which the same is said again; those after
#: which it is said again how far all is.
QUIET, AGAIN, COUNTED = 1.0, 60.0, 10.0
_NAMED = 3
_AT_WORK = "still in progress"


class SilenceReporter:
    """Reports waiting operations of the stack ``name`` and its nested stacks, and their number."""

    def __init__(self, name: str, summary: ProgressSummary) -> None:
        self._name = name
        self._summary = summary
        self._counted: float | None = None
        #: By stack and resource: the way down to what runs.
        self._running: dict[tuple[str, str], tuple[str, ...]] = {}
        #: The last time of each text, and of any text.
        self._said: dict[str, float] = {}
        self._last: float | None = None

    def lines(
        self,
        told: Sequence[EventWithPath],
        waiting: Sequence[PendingRequest] | None,
        now: float,
        *,
        is_silent: bool,
    ) -> Iterator[str]:
        """Format the lines that end a silence.

        ``told``: what has happened since the last call; ``is_silent``: nothing was said of it.
        """
        self._summary.add(told, waiting, now)
        for path, event in told:
            key = event.stack_id, event.resource_name
            if event.resource_name and event.status == "IN_PROGRESS" and PAUSED not in event.reason:
                self._running[key] = (*path, event.resource_name)
            else:
                self._running.pop(key, None)
        if not is_silent or self._last is None:
            self._last = now
        elif not 0 <= now - self._last < QUIET:  # whoever sets the clock back ends it, too
            yield from self._format_due(waiting or (), now)
            yield from self._format_count(now)

    def _format_due(self, waiting: Sequence[PendingRequest], now: float) -> Iterator[str]:
        known = {(each.stack_id, each.resource): each.message for each in waiting}
        by_text: dict[str, list[str]] = {}
        above = {way[:end] for way in self._running.values() for end in range(len(way))}
        for key, way in self._running.items():
            if way not in above:
                name = f"{self._name}.{'/'.join(way)}"
                by_text.setdefault(known.get(key, _AT_WORK), []).append(name)
        for text, names in by_text.items():
            what = text.partition(", next try in ")[0]
            if 0 <= now - self._said.get(what, now - AGAIN) < AGAIN:
                continue
            self._said[what] = self._last = now
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            yield _format_line(now, f"{', '.join(names[:_NAMED])}{more}", text)

    def _format_count(self, now: float) -> Iterator[str]:
        """Format how far all is, where there is more than a line can name."""
        is_due = self._counted is None or not 0 <= now - self._counted < COUNTED
        if is_due and self._summary.in_progress > _NAMED:
            self._counted = self._last = now
            yield _format_line(now, self._name, self._summary.format(now))


def _format_line(now: float, who: str, text: str) -> str:
    at = (formats.format_time(now) or "").replace("T", " ")
    return sanitize.sanitize_line(f"{at} [{who}]: {text}")
