"""The event tail: the events of all members, in order, for those who listen in this process.

It reads the table whenever it hears of news, and once a second whatever it hears.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from functools import partial

from zonda.core.engine.model.unit_of_work import Notice
from zonda.core.engine.runtime.listeners import Listener, Listeners
from zonda.core.store.read.reader import Reader
from zonda.core.system.clock import SystemClock
from zonda.hooks.errors import StoreError

log = logging.getLogger(__name__)

#: Events that are read together.
_PAGE = 500
#: Seconds between two looks at the table: with news at least, without any at most.
_PAUSE, _LONGEST_PAUSE = 0.05, 1.0


class EventTail:
    """One reader of events for all listeners; it runs while there are any."""

    def __init__(self, open_reader: Callable[[], Reader], clock: SystemClock) -> None:
        self._open_reader, self._clock = open_reader, clock
        self._lock = threading.Lock()
        self._listeners = Listeners()
        self._count = 0
        # The last event that listeners were told of; None while it does not run.
        self._last: int | None = None
        self._reader: Reader | None = None
        self._news = threading.Event()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` from ``begin`` on; returns the function that ends that."""
        end = self._listeners.subscribe(listener)
        with self._lock:
            self._count += 1

        def end_once() -> None:
            nonlocal end
            ended, end = end, _do_nothing
            if ended is not _do_nothing:
                ended()
                with self._lock:
                    self._count -= 1

        return end_once

    def begin(self) -> None:
        """Tell listeners of all events that are committed from now on. Raises StoreError.

        Events before may be among them, where it runs already.
        """
        with self._lock:
            if self._last is None and self._count:
                self._reader = reader = self._reader or self._open_reader()
                self._last = reader.read_event_range()[1]
                run = partial(self._run, reader)
                threading.Thread(target=run, name="zonda-tail", daemon=True).start()

    def tell_news(self) -> None:
        """Look at the table soon."""
        self._news.set()

    def publish(self, notice: Notice) -> None:
        """Tell listeners of the progress of another member."""
        self._listeners.publish([notice])

    def _run(self, reader: Reader) -> None:
        while (last := self._find_place()) is not None:
            try:
                events = reader.events_after(last, _PAGE)
            except StoreError as error:
                log.debug("Events cannot be read: %s", error)
                events = []
            if events:
                self._listeners.publish([Notice(event.stack_id, event) for event in events])
                self._last = events[-1].seq
            if len(events) < _PAGE:
                self._news.wait(_LONGEST_PAUSE)
                self._news.clear()
                self._clock.pause(_PAUSE)  # what is told at once is read together

    def _find_place(self) -> int | None:
        with self._lock:
            if not self._count:
                self._last = None
            return self._last


def _do_nothing() -> None:
    """End nothing: it has ended."""
