"""Progress on a terminal: what runs, what it waits for and for how long, and how far all is.

The only module that imports rich; imported by ``follow`` when a person watches.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.live import Live as RichLive
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from zonda.core.app import Waiting
from zonda.core.store.views import EventView
from zonda.hooks.context import Clock

from . import event_lines, plain
from .screen import Screen

_SHOWN = 12
_STYLES = {"FAILED": "red", "COMPLETE": "green"}


class Live:
    """The picture of one stack. ``total``: how many resources will be worked on, if known."""

    def __init__(self, screen: Screen, name: str, total: int | None, clock: Clock) -> None:
        self._name = name
        self._total = total
        self._began = clock.now()
        self._running: dict[str, EventView] = {}
        self._done: set[str] = set()
        console = Console(file=screen.err, highlight=False, soft_wrap=False)
        self._live = RichLive(console=console, auto_refresh=False, transient=True)
        self._live.start()

    def show(self, events: Sequence[EventView], waiting: Sequence[Waiting], now: float) -> None:
        """Failures and the stack's own events stay on the screen; the rest is the picture."""
        for event in events:
            self._take(event)
            if event.status == "FAILED" or not event.resource_name:
                style = _STYLES.get(event.status, "")
                self._live.console.print(Text(event_lines.line(event), style))
            elif hint := event_lines.hint(event):
                self._live.console.print(Text(hint))
        self._live.update(
            self._picture({each.resource: each for each in waiting}, now), refresh=True
        )

    def close(self) -> None:
        """Take the picture away. Closing twice is fine."""
        self._live.stop()

    def _take(self, event: EventView) -> None:
        if not event.resource_name:
            return
        if event.status == "IN_PROGRESS" or event_lines.PAUSED in event.reason:
            self._running[event.resource_name] = event
        else:
            self._running.pop(event.resource_name, None)
            self._done.add(event.resource_name)

    def _picture(self, waiting: dict[str, Waiting], now: float) -> RenderableType:
        table = Table.grid(padding=(0, 2))
        for name, event in list(self._running.items())[:_SHOWN]:
            message = waiting[name].message if name in waiting else _reason(event)
            table.add_row(
                Text(plain.line(f"  {name}"), "bold"),
                Text(plain.line(event.resource_type), "dim"),
                Text(f"{_label(event)} {elapsed(now - event.at)}"),
                Text(plain.line(message), "dim", overflow="ellipsis", no_wrap=True),
            )
        if len(self._running) > _SHOWN:
            table.add_row(Text(f"  and {len(self._running) - _SHOWN} more"))
        return Group(table, self._bar(now))

    def _bar(self, now: float) -> RenderableType:
        bar = Table.grid(padding=(0, 1))
        done = len(self._done)
        total = None if self._total is None else max(self._total, done, 1)
        count = f"{done}" if total is None else f"{done}/{total}"
        bar.add_row(
            Text(self._name, "bold"),
            ProgressBar(total, done, width=30, pulse=total is None, animation_time=now),
            Text(count),
            Text(elapsed(now - self._began), "dim"),
        )
        return bar


def _label(event: EventView) -> str:
    """The action, or the breakpoint that a resource waits at."""
    _, paused, rest = event.reason.partition(event_lines.PAUSED)
    return f"at {rest.split()[0]}" if paused else event.action.lower()


def _reason(event: EventView) -> str:
    """What an event tells beside that something has begun: that an attempt has failed."""
    told = event.reason == "state changed" or event_lines.PAUSED in event.reason
    return "" if told else event.reason


def elapsed(seconds: float) -> str:
    """E.g. ``4 s``, ``2:05`` (minutes) or ``1:02:05``."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    hours, rest = divmod(whole, 3600)
    minutes = f"{rest // 60:02}" if hours else f"{rest // 60}"
    return ":".join(filter(None, (str(hours) if hours else "", minutes, f"{rest % 60:02}")))
