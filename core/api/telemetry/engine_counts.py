"""Counts of what the engine has committed, worked out in a thread of their own.

The engine's thread only puts a message into a queue.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from queue import SimpleQueue

from zonda.core.app.app import App
from zonda.core.engine.model.unit_of_work import Notice
from zonda.core.store.read.views import EventView

from .counts import (
    COMMIT_SECONDS,
    COMMIT_UNITS,
    DRIFT,
    OPERATION_SECONDS,
    OPERATIONS,
    Counts,
)

#: The label of types that a template provides: their names are those of files.
TEMPLATE = "template"
_STACK = "stack"
#: The action of events about drift.
_DRIFT = "DRIFT"
_BEGUN, _ENDED = "IN_PROGRESS", frozenset({"COMPLETE", "FAILED"})
#: Operations whose begin is remembered: beyond that the oldest are forgotten.
_MOST_BEGUN = 100_000

_Message = Sequence[Notice] | tuple[int, float] | None


class EngineCounts:
    """Counts operations, drift checks and commits of the engine of this process."""

    def __init__(self, counts: Counts, types: Collection[str]) -> None:
        self._counts = counts
        self._types = types
        self._begun: dict[str, tuple[str, float]] = {}
        self._queue: SimpleQueue[_Message] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="zonda-metrics", daemon=True)

    def start(self, app: App) -> None:
        """Listen to the engine of this process."""
        app.engine.subscribe(self._queue.put)
        app.engine.subscribe_commits(lambda units, seconds: self._queue.put((units, seconds)))
        self._thread.start()

    def close(self) -> None:
        """End the thread behind what waits."""
        if self._thread.is_alive():
            self._queue.put(None)
            self._thread.join()

    def _run(self) -> None:
        while (message := self._queue.get()) is not None:
            if isinstance(message, tuple):
                units, seconds = message
                self._counts.observe(COMMIT_UNITS, units)
                self._counts.observe(COMMIT_SECONDS, seconds)
                continue
            for notice in message:
                if notice.event is not None:
                    self._count_event(notice.event)

    def _count_event(self, event: EventView) -> None:
        if event.action == _DRIFT:
            if not event.resource_name:
                self._counts.add(DRIFT, event.status)
            return
        key = event.resource_id or event.stack_id
        kind = self._name_type(event)
        if event.status == _BEGUN:
            if len(self._begun) >= _MOST_BEGUN:
                del self._begun[next(iter(self._begun))]
            self._begun[key] = (event.action, event.at)
        elif event.status in _ENDED:
            self._counts.add(OPERATIONS, kind, event.action, event.status)
            action, at = self._begun.get(key, ("", 0.0))
            if action == event.action:
                del self._begun[key]
                seconds = max(0.0, event.at - at)
                self._counts.observe(OPERATION_SECONDS, seconds, kind, action)

    def _name_type(self, event: EventView) -> str:
        if not event.resource_name:
            return _STACK
        return event.resource_type if event.resource_type in self._types else TEMPLATE
