"""Delivery to one event sink: takes the next events, delivers, and stores the position.

``turn`` does one batch and says when to come again. What has been handed over is only then written
down, so that a death in between has it delivered once more: at least once, and in order. A sink
that fails is tried again after a time that grows, which is written down as well.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from random import Random
from typing import Any, Protocol

from zonda.core.store.schema.rows import SinkRow
from zonda.hooks.context import Clock
from zonda.hooks.errors import StoreError, ZondaError
from zonda.hooks.events import EventRecord, EventSink, SinkError
from zonda.hooks.records import dataclass, replace
from zonda.hooks.text.borders import raise_interruption
from zonda.hooks.text.sanitize import describe_exception

log = logging.getLogger(__name__)

#: Seconds between two tries, at most; half of it at least, by chance.
LONGEST_WAIT = 300.0
#: Events that are looked at together, and that are handed over together at most.
READ_AT_ONCE = 200
MOST_AT_ONCE = 100
_FIRST = 8
#: Events that nobody wants after which that is written down.
_PASSED = 5000
#: A batch is made smaller or larger so that it takes about this time, in seconds.
_BATCH_SECONDS = 1.0
_LONGEST_ERROR = 500
#: One of so many tries in a row is not cut off by the end of a command.
_TRIES_CUT = 8


@dataclass(frozen=True, slots=True)
class EventFilter:
    """The entries ``events`` and ``scope`` of a sink's section.

    ``patterns``: of states (``CREATE_FAILED``, ``*_FAILED``) or actions (``DRIFT``).

    ``only_stacks``: nothing of resources, nor of the stacks that are nested in them.
    """

    patterns: tuple[str, ...] = ("*",)
    only_stacks: bool = False

    def __contains__(self, event: EventRecord) -> bool:
        if self.only_stacks and event.path:
            return False
        names = (event.state, event.action)
        return any(fnmatchcase(name, each) for each in self.patterns for name in names)


def parse_filter(section: Mapping[str, Any]) -> EventFilter:
    """Build the filter of a section that was validated."""
    patterns = tuple(each.upper() for each in section.get("events", ())) or ("*",)
    return EventFilter(patterns, section.get("scope", "all") == "stacks")


class EventOutbox(Protocol):
    """The outbox: what the delivery needs of the database."""

    def place(self, name: str) -> SinkRow | None:
        """Return the position of the sink."""

    def move(self, row: SinkRow, known: int) -> bool:
        """Store the position; False if the stored one is not ``known`` any more."""

    def list_after(self, seq: int, limit: int) -> list[EventRecord]:
        """List the events after a sequence number, in order."""


class SinkDelivery:
    """Delivers to one sink. Used by one thread at a time."""

    def __init__(
        self,
        name: str,
        make: Callable[[], EventSink],
        wants: EventFilter,
        mailbox: EventOutbox,
        clock: Clock,
        chance: Random,
        redact: Callable[[str], str] = str,
    ) -> None:
        self.name = name
        self._redact = redact
        self._make = make
        self._wants = wants
        self._mailbox = mailbox
        self._clock = clock
        self._chance = chance
        self._sink: EventSink | None = None
        self._passed = 0  # what nobody wants need not be written down at once
        self._size = _FIRST
        self._may_answer = False
        #: Batches that have arrived.
        self.arrived = 0
        #: Whether events are handed over one by one: what is on its way may be the last.
        self.is_ending = False

    @property
    def timeout(self) -> float:
        """Seconds that an ending command may wait for the event that is being delivered."""
        if self._sink is None or not self._may_answer:
            return 0.0
        return self._sink.timeout

    def turn(self) -> float | None:
        """Deliver one batch; return the seconds to wait, None for new events. Raises StoreError."""
        row = self._mailbox.place(self.name)
        if row is None:
            return None
        wait = self._compute_remaining_wait(row)
        if wait > 0:
            return wait
        events = self._mailbox.list_after(max(row.seq, self._passed), READ_AT_ONCE)
        if not events:
            return None
        if row.failures or self.is_ending:
            self._size = 1
        wanted = [event for event in events if event in self._wants][: self._size]
        if wanted:
            return self._deliver_batch(row, events, wanted)
        self._passed = events[-1].seq
        if self._passed - row.seq >= _PASSED:
            self._mailbox.move(replace(row, seq=self._passed), row.seq)
        return 0.0

    def _compute_remaining_wait(self, row: SinkRow) -> float:
        """Compute the seconds to the next attempt; 0 if the clock was set back too far."""
        left = (row.next_at or 0.0) - self._clock.now()
        return left if left <= LONGEST_WAIT else 0.0

    def _deliver_batch(
        self, row: SinkRow, events: list[EventRecord], wanted: list[EventRecord]
    ) -> float | None:
        begun = self._clock.monotonic()
        self._may_answer = _may_answer(row)
        try:
            self._get_sink().deliver(wanted)
        except StoreError:
            raise
        except BaseException as error:  # border: a plug-in's sink is called
            raise_interruption(error)
            return self._record_failure(row, wanted, error)
        self.arrived += 1
        self._adjust_batch_size(self._clock.monotonic() - begun)
        whole = len([event for event in events if event in self._wants]) == len(wanted)
        done = self._advance(row, (events if whole else wanted)[-1].seq, len(wanted))
        self._mailbox.move(done, row.seq)
        return 0.0

    def _get_sink(self) -> EventSink:
        if self._sink is None:
            self._sink = self._make()
        return self._sink

    def _advance(self, row: SinkRow, seq: int, delivered: int) -> SinkRow:
        """Return the row after a success."""
        return replace(
            row,
            seq=seq,
            delivered=row.delivered + delivered,
            delivered_at=self._clock.now(),
            failures=0,
            failing_since=None,
            error="",
            next_at=None,
        )

    def _record_failure(
        self, row: SinkRow, wanted: list[EventRecord], error: BaseException
    ) -> float:
        """Store what has arrived and the error; return the seconds until the next attempt."""
        arrived = min(max(error.delivered, 0), len(wanted)) if isinstance(error, SinkError) else 0
        known = row.seq
        if arrived:
            row = self._advance(row, wanted[arrived - 1].seq, arrived)
        self._size = 1  # what arrives before the one that does not is known then
        delay = error.delay if isinstance(error, SinkError) else None
        return self._store_failure(row, known, self._redact(format_error(error)), delay)

    def _store_failure(self, row: SinkRow, known: int, text: str, asked: float | None) -> float:
        now, failures = self._clock.now(), row.failures + 1
        wait = self.wait(failures, asked)
        row = replace(
            row,
            failures=failures,
            failing_since=row.failing_since or now,
            error=text[:_LONGEST_ERROR],
            next_at=now + wait,
        )
        log.warning("Sink %s: %s; next try in %.0f s", self.name, row.error, wait)
        self._mailbox.move(row, known)
        return wait

    def wait(self, failures: int, asked: float | None = None) -> float:
        """Compute the seconds until the next attempt; at least ``asked``."""
        longest = min(LONGEST_WAIT, 2.0 ** min(failures, 20))
        wait = longest * self._chance.uniform(0.5, 1.0)
        return wait if asked is None else min(max(wait, asked), LONGEST_WAIT)

    def _adjust_batch_size(self, seconds: float) -> None:
        if seconds < _BATCH_SECONDS / 4:
            self._size = min(self._size * 2, MOST_AT_ONCE)
        elif seconds > _BATCH_SECONDS:
            self._size = max(self._size // 2, 1)

    def record_timeout(self) -> None:
        """Record that a batch timed out, so that the next command need not wait, too."""
        row = self._mailbox.place(self.name)
        if row is not None and self._compute_remaining_wait(row) <= 0:
            self._store_failure(row, row.seq, "it was too slow for the end of a command", None)

    def close(self) -> None:
        """Store the position, and close the sink."""
        row = self._mailbox.place(self.name)
        if row is not None and self._passed > row.seq:
            self._mailbox.move(replace(row, seq=self._passed), row.seq)
        if self._sink is not None:
            self._sink.close()


def _may_answer(row: SinkRow) -> bool:
    """Whether a command should wait longer than a moment for the answer of this sink.

    One that took the last event may be slow; one that did not may never answer, and would hold up
    each command anew. It may have become slow meanwhile: a few tries are waited for all the same,
    else short commands alone would never get anything through.
    """
    if row.failures:
        return row.failures % _TRIES_CUT == _TRIES_CUT - 1
    return row.delivered > 0


def format_error(error: BaseException) -> str:
    """Format an error for ``zonda sink list``."""
    if isinstance(error, (SinkError, ZondaError)):
        return str(error) or type(error).__name__
    return describe_exception(error)
