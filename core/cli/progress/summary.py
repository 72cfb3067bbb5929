"""The progress of an action in one line: ``64 of 400 running, 324 waiting, 12 done``.

Fed with the events and messages that a display shows. Used by the displays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from zonda.core.app.surface import PendingRequest
from zonda.core.store.read.views import EventView

from ..console.formats import format_duration
from .event_line import PAUSED
from .event_stream import EventWithPath

#: The beginning of a message of an operation that has not been sent yet.
_NOT_SENT = "waiting for "
#: Operations whose lengths tell how long the next one of their kind takes.
_REMEMBERED = 50

_Key = tuple[str, str]


class ProgressSummary:
    """Counts operations: those that run, wait to be sent, or have ended.

    ``total``: how many resources will be worked on, as far as they are known; None: nobody knows.
    """

    def __init__(self, total: Callable[[], int] | None) -> None:
        self._total = total
        self._word = "running"
        self._most = 0
        self._done: set[_Key] = set()
        # Operations in progress, and since when those run that do not wait to be sent.
        self._events: dict[_Key, EventView] = {}
        self._begun: dict[_Key, float] = {}
        self._lengths: dict[tuple[str, str], list[float]] = {}

    def add(
        self, told: Sequence[EventWithPath], waiting: Sequence[PendingRequest] | None, now: float
    ) -> None:
        """Add events, and the messages of ``now``: what no longer waits has been sent by now.

        None: nobody tells what waits, so that nobody can say what runs.
        """
        self._word = "in progress" if waiting is None else "running"
        for _, event in told:
            key = event.stack_id, event.resource_name
            if event.resource_name and event.status == "IN_PROGRESS" and PAUSED not in event.reason:
                self._events[key], self._begun[key] = event, event.at
            elif event.resource_name:
                self._end(key, event)
        for each in waiting or ():
            key = each.stack_id, each.resource
            if each.message.startswith(_NOT_SENT):
                self._begun.pop(key, None)
            elif key in self._events:
                self._begun.setdefault(key, now)

    def _end(self, key: _Key, event: EventView) -> None:
        self._events.pop(key, None)
        begun = self._begun.pop(key, None)
        if PAUSED in event.reason:
            return
        self._done.add(key)
        if begun is not None and event.status == "COMPLETE":
            lengths = self._lengths.setdefault((event.resource_type, event.action), [])
            lengths.append(event.at - begun)
            del lengths[:-_REMEMBERED]

    @property
    def in_progress(self) -> int:
        """The number of operations that have begun and not ended."""
        return len(self._events)

    def count(self) -> tuple[int, int | None]:
        """The numbers of resources that are done, and of all, None where that is not known."""
        done = len(self._done)
        if self._total is None:
            return done, None
        # what is deleted is not there any more
        self._most = max(self._most, self._total(), done, 1)
        return done, self._most

    def format(self, now: float) -> str:
        """Format the line; what is expected next is said where similar operations have ended."""
        done, total = self.count()
        running = len(self._begun)
        of_all = "" if total is None else f" of {total}"
        parts = [f"{running}{of_all} {self._word}"]
        if len(self._events) > running:
            parts.append(f"{len(self._events) - running} waiting")
        parts.append(f"{done} done")
        left = self._estimate(now)
        if left is not None:
            parts.append(f"next answer expected in {format_duration(left)}")
        return ", ".join(parts)

    def _estimate(self, now: float) -> float | None:
        """Seconds until the next running operation is as long as others of its kind were."""
        usual = {kind: sorted(each)[len(each) // 2] for kind, each in self._lengths.items()}
        left = [
            begun + usual[kind] - now
            for key, begun in self._begun.items()
            if (kind := (self._events[key].resource_type, self._events[key].action)) in usual
        ]
        return min((each for each in left if each > 0), default=None)
