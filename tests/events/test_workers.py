"""The threads of sinks: one that hangs delays neither the others nor the end."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from zonda.core.events.delivery import EventFilter, SinkDelivery
from zonda.core.events.workers import DeliveryWorkers
from zonda.core.store.database.faults import Refused
from zonda.core.store.schema.rows import SinkRow
from zonda.hooks.errors import StoreError
from zonda.hooks.events import EventRecord, EventSink, SinkError

PATIENCE = 20.0


class SystemClock:
    """The machine's time: these are real threads."""

    def now(self) -> float:
        return 1_700_000_000.0

    def monotonic(self) -> float:
        return time.monotonic()


class Box:
    """A mailbox in memory for several sinks."""

    def __init__(self) -> None:
        self.count = 0
        self.rows: dict[str, SinkRow] = {}
        self.dead = False
        self.troubles: list[Exception] = []

    def place(self, name: str) -> SinkRow | None:
        if self.dead:
            raise StoreError("The engine has been stopped.")
        if self.troubles:
            raise self.troubles.pop()
        return replace(self.rows.setdefault(name, SinkRow(name)))

    def move(self, row: SinkRow, known: int) -> bool:
        if self.rows[row.name].seq != known:
            return False
        self.rows[row.name] = row
        return True

    def list_after(self, seq: int, limit: int) -> list[EventRecord]:
        return [
            EventRecord(
                *(f"id-{n}", n, 1.0, "p", "s-id", "s", "a", "a", "T", None),
                *("CREATE", "COMPLETE", ""),
            )
            for n in range(seq + 1, min(self.count, seq + limit) + 1)
        ]


class Kept(EventSink):
    """Keeps what it is told; waits at ``gate`` before."""

    def __init__(self, *, open_: bool = True) -> None:
        self.seen: list[int] = []
        self.begun = threading.Event()
        self.gate = threading.Event()
        self.some = threading.Event()
        self.closed = threading.Event()
        if open_:
            self.gate.set()

    def deliver(self, events: Sequence[EventRecord]) -> None:
        self.begun.set()
        self.gate.wait(PATIENCE)
        self.seen += [each.seq for each in events]
        self.some.set()

    def close(self) -> None:
        self.closed.set()


class Failing(EventSink):
    """Takes nothing."""

    def deliver(self, events: Sequence[EventRecord]) -> None:
        raise SinkError("no")


Start = Callable[..., DeliveryWorkers]


@pytest.fixture
def box() -> Box:
    return Box()


@pytest.fixture
def start(box: Box) -> Iterator[Start]:
    sinks: list[EventSink] = []

    def started(**named: EventSink) -> DeliveryWorkers:
        sinks.extend(named.values())
        couriers = [
            SinkDelivery(
                name, lambda sink=sink: sink, EventFilter(), box, SystemClock(), random.Random(1)
            )
            for name, sink in named.items()
        ]
        made = DeliveryWorkers(couriers, SystemClock(), pace=0.001)
        made.start()
        return made

    yield started
    for sink in sinks:
        if isinstance(sink, Kept):
            sink.gate.set()


def test_news_are_delivered_at_once(box: Box, start: Start) -> None:
    sink = Kept()
    couriers = start(a=sink)
    box.count = 3
    couriers.news()
    assert sink.some.wait(PATIENCE)
    couriers.finish(PATIENCE)
    assert sink.seen == [1, 2, 3]
    assert sink.closed.is_set()


def test_what_is_there_at_the_end_is_delivered_although_nobody_told(box: Box, start: Start) -> None:
    sink = Kept()
    couriers = start(a=sink)
    box.count = 300
    couriers.finish(PATIENCE)
    assert sink.seen == list(range(1, 301))


def test_one_that_hangs_holds_up_no_other_and_is_left_at_the_end(box: Box, start: Start) -> None:
    hanging, other = Kept(open_=False), Kept()
    box.count = 2
    couriers = start(a=hanging, b=other)
    begun = time.monotonic()
    couriers.finish(0.3)
    assert time.monotonic() - begun < PATIENCE / 2
    assert other.seen == [1, 2]
    assert (box.rows["a"].seq, box.rows["a"].failures) == (0, 1)
    assert "too slow" in box.rows["a"].error


def test_one_that_is_to_wait_is_not_waited_for(box: Box, start: Start) -> None:
    box.count = 1
    couriers = start(a=Failing())
    begun = time.monotonic()
    couriers.finish(PATIENCE)
    assert time.monotonic() - begun < PATIENCE / 2
    assert box.rows["a"].error == "no"


def test_a_database_that_is_gone_ends_it(box: Box, start: Start) -> None:
    couriers = start(a=Kept())
    box.dead = True
    couriers.news()
    couriers.finish(PATIENCE)


@pytest.mark.parametrize("error", [Refused("too many open files"), ZeroDivisionError("odd")])
def test_what_the_database_refuses_for_a_while_is_delivered_later(
    box: Box, start: Start, error: Exception
) -> None:
    sink = Kept()
    box.troubles = [error] * 3
    box.count = 2
    couriers = start(a=sink)
    assert sink.some.wait(PATIENCE)
    couriers.finish(PATIENCE)
    assert sink.seen == [1, 2]


def test_what_the_database_refuses_at_the_end_is_left(box: Box, start: Start) -> None:
    hanging = Kept(open_=False)
    box.count = 1
    couriers = start(a=hanging)
    assert hanging.begun.wait(PATIENCE)
    box.dead = True
    couriers.finish(0.05)
    assert box.rows["a"].failures == 0


class OnItsWay(Kept):
    """Its first delivery ends when somebody asks how long that may take."""

    @property
    def timeout(self) -> float:  # type: ignore[override]
        self.gate.set()
        return PATIENCE


@pytest.mark.parametrize(
    ("delivered", "failures"),
    [pytest.param(5, 0, id="took-the-last"), pytest.param(0, 7, id="each-eighth-try")],
)
def test_what_is_on_its_way_at_the_end_may_arrive_and_nothing_more_is_begun(
    box: Box, start: Start, delivered: int, failures: int
) -> None:
    box.rows["a"] = SinkRow("a", delivered=delivered, failures=failures)
    sink = OnItsWay(open_=False)
    box.count = 1
    couriers = start(a=sink)
    assert sink.begun.wait(PATIENCE)
    box.count = 3
    couriers.finish(0.01)
    assert sink.seen == [1]
    assert (box.rows["a"].seq, box.rows["a"].failures) == (1, 0)


@pytest.mark.parametrize(
    ("delivered", "failures"),
    [
        pytest.param(0, 0, id="never-took-anything"),
        pytest.param(5, 1, id="failed-the-last-time"),
        pytest.param(0, 6, id="fails-for-long"),
    ],
)
def test_what_is_on_its_way_to_one_that_may_never_answer_is_not_waited_for(
    box: Box, start: Start, delivered: int, failures: int
) -> None:
    box.rows["a"] = SinkRow("a", delivered=delivered, failures=failures)
    sink = OnItsWay(open_=False)
    box.count = 1
    couriers = start(a=sink)
    assert sink.begun.wait(PATIENCE)
    couriers.finish(0.01)
    assert sink.seen == []
    assert (box.rows["a"].seq, box.rows["a"].failures) == (0, failures + 1)
    assert "too slow" in box.rows["a"].error
