"""Progress on a terminal: what runs, what it waits for and for how long, and how far all is.

The only module that imports rich; imported by ``follow`` when a person watches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Console, Group, RenderableType
from rich.live import Live as RichLive
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from zonda.core.app.app import PendingRequest
from zonda.core.store.read.views import EventView
from zonda.hooks.context import Clock

from ..console import sanitize
from ..console.console import Screen
from ..console.formats import took
from . import event_line
from .event_stream import Told

_SHOWN = 12
_STYLES = {"FAILED": "red", "COMPLETE": "green"}


#: Which resource of which stack.
_Key = tuple[str, str]


class Live:
    """The picture of one stack and all that is nested in it.

    ``total``: how many resources will be worked on, as far as they are known; None: nobody knows.
    """

    def __init__(
        self, screen: Screen, name: str, total: Callable[[], int] | None, clock: Clock
    ) -> None:
        self._name = name
        self._total = total
        self._most = 0
        self._nested = event_line.Nested()
        self.reasons = event_line.Reasons()
        self._began = clock.now()
        self._running: dict[_Key, Told] = {}
        self._done: set[_Key] = set()
        console = Console(file=screen.err, highlight=False, soft_wrap=False)
        self._live = RichLive(console=console, auto_refresh=False, transient=True)
        self._live.start()

    def show(self, told: Sequence[Told], waiting: Sequence[PendingRequest], now: float) -> None:
        """What has ended stays on the screen; the rest is the picture."""
        for path, event in told:
            line = self._line(path, event) if self._stays(path, event) else None
            self._take(path, event)
            if line is not None:
                self._live.console.print(line)
            elif hint := event_line.hint(event, self._name, path):
                self._live.console.print(Text(hint))
        known = {(each.stack_id, each.resource): each for each in waiting}
        self._live.update(self._picture(known, now), refresh=True)

    def _stays(self, path: tuple[str, ...], event: EventView) -> bool:
        if not event.resource_name:
            return not path and event.status != "COMPLETE"  # which the last line tells
        if event.status == "IN_PROGRESS" or event_line.PAUSED in event.reason:
            return False
        return not path or self._nested.admits(event)

    def _line(self, path: tuple[str, ...], event: EventView) -> Text:
        """An event that stays: who, what, for how long, and why."""
        name = "/".join((*path, event.resource_name)) if event.resource_name else ""
        line = Text(sanitize.line(f"  {name}: " if name else f"Stack {self._name} "))
        line.append(event.state, _STYLES.get(event.status, ""))
        begun = self._running.get((event.stack_id, event.resource_name))
        if begun is not None:
            line.append(f" ({took(event.at - begun[1].at)})", "dim")
        if event.reason != "state changed" and (name or event.status == "FAILED"):
            reason = self.reasons.take(event, self._name, path)
            line.append(sanitize.line(f"  {' '.join(reason.splitlines())}".rstrip()))
        return line

    def close(self) -> None:
        """Take the picture away. Closing twice is fine."""
        self._live.stop()

    def _take(self, path: tuple[str, ...], event: EventView) -> None:
        if not event.resource_name:
            return
        key = (event.stack_id, event.resource_name)
        if event.status == "IN_PROGRESS" or event_line.PAUSED in event.reason:
            self._running[key] = (path, event)
        else:
            self._running.pop(key, None)
            self._done.add(key)

    def _innermost(self) -> list[tuple[_Key, Told]]:
        """What runs, but for the owners of what else runs."""
        above = {path[:level] for path, _ in self._running.values() for level in range(len(path))}
        above |= {path for path, _ in self._running.values()}
        return [
            (key, told)
            for key, told in self._running.items()
            if (*told[0], told[1].resource_name) not in above
        ]

    def _picture(self, waiting: dict[_Key, PendingRequest], now: float) -> RenderableType:
        table = Table.grid(padding=(0, 2))
        running = self._innermost()
        for key, (path, event) in running[:_SHOWN]:
            message = waiting[key].message if key in waiting else _reason(event)
            name = "/".join((*path, event.resource_name))
            table.add_row(
                Text(sanitize.line(f"  {name}"), "bold"),
                Text(sanitize.line(event.resource_type), "dim"),
                Text(f"{_label(event)} {elapsed(now - event.at)}"),
                Text(sanitize.line(message), "dim", overflow="ellipsis", no_wrap=True),
            )
        if len(running) > _SHOWN:
            table.add_row(Text(f"  and {len(running) - _SHOWN} more"))
        return Group(table, self._bar(now))

    def _bar(self, now: float) -> RenderableType:
        bar = Table.grid(padding=(0, 1))
        done, total = len(self._done), None
        if self._total is not None:
            # what is deleted is not there any more
            total = self._most = max(self._most, self._total(), done, 1)
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
    _, paused, rest = event.reason.partition(event_line.PAUSED)
    return f"at {rest.split()[0]}" if paused else event.action.lower()


def _reason(event: EventView) -> str:
    """What an event tells beside that something has begun: that an attempt has failed."""
    told = event.reason == "state changed" or event_line.PAUSED in event.reason
    return "" if told else event.reason


def elapsed(seconds: float) -> str:
    """E.g. ``4 s``, ``2:05`` (minutes) or ``1:02:05``."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    hours, rest = divmod(whole, 3600)
    minutes = f"{rest // 60:02}" if hours else f"{rest // 60}"
    return ":".join(filter(None, (str(hours) if hours else "", minutes, f"{rest % 60:02}")))
