"""Live progress on a terminal: running operations, their messages, durations, and the total.

The only module that imports rich; imported by ``follow`` when a person watches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Console, Group, RenderableType
from rich.live import Live as RichLive
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from zonda.core.app.surface import PendingRequest
from zonda.core.store.read.views import EventView
from zonda.hooks.context import Clock

from ..console import sanitize
from ..console.console import Screen
from ..console.formats import format_duration
from . import event_line
from .event_stream import EventWithPath
from .summary import ProgressSummary

_SHOWN = 12
_STYLES = {"FAILED": "red", "COMPLETE": "green"}


#: Stack and resource.
_Key = tuple[str, str]


class LiveDisplay:
    """The live display of one stack and its nested stacks.

    ``total``: how many resources will be worked on, as far as they are known; None: nobody knows.
    """

    def __init__(
        self, screen: Screen, name: str, total: Callable[[], int] | None, clock: Clock
    ) -> None:
        self._name = name
        self._summary = ProgressSummary(total)
        self._nested = event_line.NestedEventFilter()
        self.reasons = event_line.FailureReasons()
        self._began = clock.now()
        self._running: dict[_Key, EventWithPath] = {}
        console = Console(file=screen.err, highlight=False, soft_wrap=False)
        self._live = RichLive(console=console, auto_refresh=False, transient=True)
        self._live.start()

    def show(
        self, told: Sequence[EventWithPath], waiting: Sequence[PendingRequest] | None, now: float
    ) -> None:
        """Print ended operations; update the table of running ones."""
        for path, event in told:
            line = self._format_event(path, event) if self._is_printed(path, event) else None
            self._record_event(path, event)
            if line is not None:
                self._live.console.print(line)
            elif hint := event_line.format_hint(event, self._name, path):
                self._live.console.print(Text(hint))
        self._summary.add(told, waiting, now)
        known = {(each.stack_id, each.resource): each for each in waiting or ()}
        self._live.update(self._draw_table(known, now), refresh=True)

    def _is_printed(self, path: tuple[str, ...], event: EventView) -> bool:
        if not event.resource_name:
            return not path and event.status != "COMPLETE"  # which the last line tells
        if event.status == "IN_PROGRESS" or event_line.PAUSED in event.reason:
            return False
        return not path or self._nested.admits(event)

    def _format_event(self, path: tuple[str, ...], event: EventView) -> Text:
        """Format an event that stays on the screen: resource, state, duration and reason."""
        name = "/".join((*path, event.resource_name)) if event.resource_name else ""
        line = Text(sanitize.sanitize_line(f"  {name}: " if name else f"Stack {self._name} "))
        line.append(event.state, _STYLES.get(event.status, ""))
        begun = self._running.get((event.stack_id, event.resource_name))
        if begun is not None:
            line.append(f" ({format_duration(event.at - begun[1].at)})", "dim")
        if event.reason != "state changed" and (name or event.status == "FAILED"):
            reason = self.reasons.take(event, self._name, path)
            line.append(sanitize.sanitize_line(f"  {' '.join(reason.splitlines())}".rstrip()))
        return line

    def close(self) -> None:
        """Remove the live table. Closing twice is fine."""
        self._live.stop()

    def _record_event(self, path: tuple[str, ...], event: EventView) -> None:
        if not event.resource_name:
            return
        key = (event.stack_id, event.resource_name)
        if event.status == "IN_PROGRESS" or event_line.PAUSED in event.reason:
            self._running[key] = (path, event)
        else:
            self._running.pop(key, None)

    def _list_innermost(self) -> list[tuple[_Key, EventWithPath]]:
        """List the running operations, without owners of other running ones."""
        above = {path[:level] for path, _ in self._running.values() for level in range(len(path))}
        above |= {path for path, _ in self._running.values()}
        return [
            (key, told)
            for key, told in self._running.items()
            if (*told[0], told[1].resource_name) not in above
        ]

    def _draw_table(self, waiting: dict[_Key, PendingRequest], now: float) -> RenderableType:
        table = Table.grid(padding=(0, 2))
        running = self._list_innermost()
        for key, (path, event) in running[:_SHOWN]:
            message = waiting[key].message if key in waiting else _get_reason(event)
            name = "/".join((*path, event.resource_name))
            table.add_row(
                Text(sanitize.sanitize_line(f"  {name}"), "bold"),
                Text(sanitize.sanitize_line(event.resource_type), "dim"),
                Text(f"{_format_label(event)} {format_elapsed(now - event.at)}"),
                Text(sanitize.sanitize_line(message), "dim", overflow="ellipsis", no_wrap=True),
            )
        if len(running) > _SHOWN:
            table.add_row(Text(f"  and {len(running) - _SHOWN} more"))
        return Group(table, self._draw_bar(now))

    def _draw_bar(self, now: float) -> RenderableType:
        bar = Table.grid(padding=(0, 1))
        done, total = self._summary.count()
        count = f"{done}" if total is None else f"{done}/{total}"
        bar.add_row(
            Text(self._name, "bold"),
            ProgressBar(total, done, width=30, pulse=total is None, animation_time=now),
            Text(count),
            Text(format_elapsed(now - self._began), "dim"),
            Text(self._summary.format(now) if self._summary.in_progress > _SHOWN else "", "dim"),
        )
        return bar


def _format_label(event: EventView) -> str:
    """Format the action, or the breakpoint that a resource waits at."""
    _, paused, rest = event.reason.partition(event_line.PAUSED)
    return f"at {rest.split()[0]}" if paused else event.action.lower()


def _get_reason(event: EventView) -> str:
    """Return an event's reason where it says more than the state: a failed attempt."""
    told = event.reason == "state changed" or event_line.PAUSED in event.reason
    return "" if told else event.reason


def format_elapsed(seconds: float) -> str:
    """Format ``4 s``, ``2:05`` (minutes) or ``1:02:05``."""
    whole = max(0, int(seconds))
    return f"{whole} s" if whole < 60 else format_duration(whole)
