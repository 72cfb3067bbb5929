"""The threads of the couriers: one for each sink, so that a dead one holds up no other.

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
from zonda.hooks.text.sanitize import describe_exception

from .delivery import SinkDelivery

log = logging.getLogger(__name__)

#: Seconds between two looks at a sink that failed: it may have been skipped on.
_LONGEST_SLEEP = 5.0


class _Round:
    """One courier and its thread."""

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
        """Have the thread end when nothing is left, or nothing can be delivered just now."""
        self.courier.is_ending = self.ends = True
        self._stopped.set()
        self._news.set()

    def ended(self, seconds: float) -> bool:
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while self._tried():
            pass

    def _tried(self) -> bool:
        """A turn. What the database refuses now it may take later; at the end others go on."""
        try:
            goes_on = self._turn()
        except BaseException as error:  # border: a thread that nobody would miss
            raise_interruption(error)
            is_known = isinstance(error, StoreError)
            said = str(error) if is_known else describe_exception(error)
            log.warning("Sink %s: %s", self.courier.name, said, exc_info=not is_known)
            self._failures += 1
            if self.ends:
                return False
            self._stopped.wait(self.courier.wait(self._failures) * self._pace)
            return True
        self._failures = 0
        return goes_on

    def _turn(self) -> bool:
        """One turn, and the wait for the next; False at the end."""
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


class Couriers:
    """All sinks of one process. ``pace``: of the waits after what the database has refused."""

    def __init__(self, couriers: Sequence[SinkDelivery], clock: Clock, pace: float = 1.0) -> None:
        self._rounds = [_Round(each, pace) for each in couriers]
        self._clock = clock

    def start(self) -> None:
        """Begin with what is there."""
        for each in self._rounds:
            each.start()

    def news(self) -> None:
        """There are new events. Returns at once."""
        for each in self._rounds:
            each.tell()

    def finish(self, grace: float) -> None:
        """Deliver what there is within ``grace`` seconds; the rest is left to the next engine.

        What is on its way then may still arrive within the time that it has, at one that answers.
        """
        until = self._clock.monotonic() + grace
        before = {each: each.courier.arrived for each in self._rounds}
        for each in self._rounds:
            each.end()
        late = [each for each in self._rounds if not each.ended(self._left(until))]
        for each in late:
            each.is_over = True
            log.warning("Sink %s is left with events to deliver", each.courier.name)
        for each in late:
            ended = each.ended(self._left(until + each.courier.timeout))
            if not ended and each.courier.arrived == before[each]:
                _given_up(each.courier)

    def _left(self, until: float) -> float:
        return max(0.0, until - self._clock.monotonic())


def _given_up(courier: SinkDelivery) -> None:
    try:
        courier.given_up()
    except StoreError as error:  # then the next command waits, too
        log.warning("Sink %s: %s", courier.name, error)
