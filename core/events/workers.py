"""Worker threads of event delivery: one for each sink, so that a dead one blocks no other.

Made by ``core/app/event_sinks.py`` in a process that is the engine. The engine's thread only says
that there is news; everything slow happens here.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence

from zonda.hooks.context import Clock
from zonda.hooks.errors import StoreError
from zonda.hooks.text.borders import raise_interruption

from .delivery import SinkDelivery

log = logging.getLogger(__name__)

#: Seconds between two looks at a sink that failed: it may have been skipped on.
_LONGEST_SLEEP = 5.0


class _Worker:
    """The thread of one sink."""

    def __init__(self, courier: SinkDelivery, pace: float) -> None:
        self.courier = courier
        self.ends = False  #: what there is yet, and no more
        self.is_over = False  #: nothing more is begun
        self._pace = pace
        self._failures = 0
        self._news = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(
            target=self._run, name=f"zonda-sink-{courier.name}", daemon=True
        )

    def start(self) -> None:
        self._news.set()
        self._thread.start()

    def tell(self) -> None:
        self._news.set()

    def end(self) -> None:
        """Let the thread end when nothing is left, or nothing can be delivered now."""
        self.courier.is_ending = self.ends = True
        self._stopped.set()
        self._news.set()

    def join(self, seconds: float) -> bool:
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while self._run_turn():
            pass

    def _run_turn(self) -> bool:
        """Run one turn. A refusal of the database is retried later, but not at the end."""
        try:
            goes_on = self._take_turn()
        except BaseException as error:  # border: a thread that nobody would miss
            raise_interruption(error)
            is_known = isinstance(error, StoreError)
            said = str(error) if is_known else type(error).__name__
            log.warning("Sink %s: %s", self.courier.name, said, exc_info=not is_known)
            self._failures += 1
            if self.ends:
                return False
            self._stopped.wait(self.courier.wait(self._failures) * self._pace)
            return True
        self._failures = 0
        return goes_on

    def _take_turn(self) -> bool:
        """Take one turn, and wait for the next; False at the end."""
        self._news.clear()
        ends = self.ends  # read after that: whoever sets it tells of it then
        if self.is_over:
            return False
        wait = self.courier.turn()
        if wait == 0:
            return True
        if ends:
            self.courier.close()
            return False
        if wait is None:
            self._news.wait()
        else:
            self._stopped.wait(min(wait, _LONGEST_SLEEP))
        return True


class DeliveryWorkers:
    """The workers of all sinks. ``pace``: of the waits after a refusal of the database."""

    def __init__(self, couriers: Sequence[SinkDelivery], clock: Clock, pace: float = 1.0) -> None:
        self._rounds = [_Worker(each, pace) for each in couriers]
        self._clock = clock

    def start(self) -> None:
        """Start the threads with the events that are stored."""
        for each in self._rounds:
            each.start()

    def news(self) -> None:
        """Announce new events. Returns at once."""
        for each in self._rounds:
            each.tell()

    def finish(self, grace: float) -> None:
        """Deliver what is left within ``grace`` seconds; the rest is left to the next engine.

        What is on its way then may still arrive within the time that it has, at one that answers.
        """
        until = self._clock.monotonic() + grace
        before = {each: each.courier.arrived for each in self._rounds}
        for each in self._rounds:
            each.end()
        late = [each for each in self._rounds if not each.join(self._seconds_until(until))]
        for each in late:
            each.is_over = True
            log.warning("Sink %s is left with events to deliver", each.courier.name)
        for each in late:
            ended = each.join(self._seconds_until(until + each.courier.timeout))
            if not ended and each.courier.arrived == before[each]:
                _record_timeout(each.courier)

    def abandon(self) -> None:
        """Begin no delivery more; what is on its way is left alone."""
        for each in self._rounds:
            each.is_over = True
            each.end()

    def _seconds_until(self, until: float) -> float:
        return max(0.0, until - self._clock.monotonic())


def _record_timeout(courier: SinkDelivery) -> None:
    try:
        courier.record_timeout()
    except StoreError as error:  # then the next command waits, too
        log.warning("Sink %s: %s", courier.name, error)
