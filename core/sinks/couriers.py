"""The threads of the couriers: one for each sink, so that a dead one holds up no other.

Made by ``core/app_sinks.py`` in a process that is the engine. The engine's thread only says that
there is news; everything slow happens here.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence

from zonda.hooks.context import Clock
from zonda.hooks.errors import StoreError

from .courier import Courier

log = logging.getLogger(__name__)

#: Seconds between two looks at a sink that failed: it may have been skipped on.
_LONGEST_SLEEP = 5.0


class _Round:
    """One courier and its thread."""

    def __init__(self, courier: Courier) -> None:
        self.courier = courier
        self.ends = False  #: what there is yet, and no more
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
        self.ends = True
        self._stopped.set()
        self._news.set()

    def ended(self, seconds: float) -> bool:
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            while self._turn():
                pass
        except StoreError as error:  # the engine or the database has gone: others go on from there
            log.warning("Sink %s: %s", self.courier.name, error)

    def _turn(self) -> bool:
        """One turn, and the wait for the next; False at the end."""
        self._news.clear()
        ends = self.ends  # read after that: whoever sets it tells of it then
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
    """All sinks of one process."""

    def __init__(self, couriers: Sequence[Courier], clock: Clock) -> None:
        self._rounds = [_Round(each) for each in couriers]
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
        """Deliver what there is within ``grace`` seconds; the rest is left to the next engine."""
        until = self._clock.monotonic() + grace
        before = [each.courier.arrived for each in self._rounds]
        for each in self._rounds:
            each.end()
        for each, arrived in zip(self._rounds, before, strict=True):
            if each.ended(max(0.0, until - self._clock.monotonic())):
                continue
            log.warning("Sink %s is left with events to deliver", each.courier.name)
            if each.courier.arrived == arrived:
                each.courier.given_up()
