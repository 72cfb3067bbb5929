"""One sink: order, at least once, back-off, skipped events; without threads and time."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from zonda.core.app.event_sinks import SinkFactory
from zonda.core.events.delivery import LONGEST_WAIT, EventFilter, SinkDelivery, parse_filter
from zonda.core.plugins.manager import Plugins
from zonda.core.settings.table import Settings
from zonda.core.store.schema.rows import SinkRow
from zonda.hooks.errors import UsageError
from zonda.hooks.events import EventRecord, EventSink, SinkError
from zonda.hooks.testing.fakes import FakeClock


def event(seq: int, state: str = "CREATE_COMPLETE", resource: str = "a") -> EventRecord:
    action, _, status = state.partition("_")
    return EventRecord(
        *(f"id-{seq}", seq, 1.0, "p", "s-id", "s", resource, resource),
        *("T", None, action, status, "because"),
    )


class Box:
    """A mailbox in memory."""

    def __init__(self, *events: EventRecord, at: int = 0) -> None:
        self.events = list(events)
        self.row: SinkRow | None = SinkRow("x", at)
        self.written: list[int] = []

    def place(self, name: str) -> SinkRow | None:
        return self.row and replace(self.row)

    def move(self, row: SinkRow, known: int) -> bool:
        if self.row is None or self.row.seq != known:
            return False
        self.row = row
        self.written.append(row.seq)
        return True

    def list_after(self, seq: int, limit: int) -> list[EventRecord]:
        return [each for each in self.events if each.seq > seq][:limit]


class Kept(EventSink):
    """Keeps what it is told; raises what it was given to raise."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self.raises: list[Exception | None] = []
        self.closed = False

    def deliver(self, events: Sequence[EventRecord]) -> None:
        error = self.raises.pop(0) if self.raises else None
        arrived = events[: error.delivered] if isinstance(error, SinkError) else ()
        self.seen += [each.seq for each in (arrived if error else events)]
        if error is not None:
            raise error

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def sink() -> Kept:
    return Kept()


def courier(
    box: Box, sink: EventSink, clock: FakeClock, wants: EventFilter | None = None
) -> SinkDelivery:
    return SinkDelivery("x", lambda: sink, wants or EventFilter(), box, clock, random.Random(1))


def run(one: SinkDelivery) -> float | None:
    """Turns until there is nothing to do at once."""
    while (wait := one.turn()) == 0:
        pass
    return wait


def row_of(box: Box) -> SinkRow:
    assert box.row is not None
    return box.row


def test_everything_is_delivered_in_order_and_written_down(sink: Kept, clock: FakeClock) -> None:
    box = Box(*map(event, range(1, 501)))
    assert run(courier(box, sink, clock)) is None
    assert sink.seen == list(range(1, 501))
    assert (row_of(box).seq, row_of(box).delivered) == (500, 500)
    assert len(box.written) < 20, "a batch is one write"


def test_a_new_courier_goes_on_where_the_last_one_was(sink: Kept, clock: FakeClock) -> None:
    box = Box(*map(event, range(1, 9)), at=5)
    run(courier(box, sink, clock))
    assert sink.seen == [6, 7, 8]


def test_what_arrived_before_a_failure_is_not_sent_again(sink: Kept, clock: FakeClock) -> None:
    box = Box(*map(event, range(1, 7)))
    sink.raises = [SinkError("no", delivered=4)]
    one = courier(box, sink, clock)
    wait = run(one)
    assert wait is not None
    assert (row_of(box).seq, row_of(box).error, row_of(box).failures) == (4, "no", 1)
    clock.advance(wait)
    assert run(one) is None
    assert sink.seen == [1, 2, 3, 4, 5, 6]
    assert (row_of(box).error, row_of(box).failures, row_of(box).failing_since) == ("", 0, None)


def test_a_stranger_s_exception_has_the_whole_batch_sent_again(
    sink: Kept, clock: FakeClock
) -> None:
    box = Box(event(1), event(2))
    sink.raises = [ZeroDivisionError("oh")]
    one = courier(box, sink, clock)
    wait = run(one)
    assert row_of(box).error == "ZeroDivisionError: oh"
    clock.advance(wait or 0)
    run(one)
    assert sink.seen == [1, 2]


def test_what_comes_before_one_that_is_never_taken_is_settled(clock: FakeClock) -> None:
    seen: list[int] = []

    class FollowUpError(EventSink):
        def deliver(self, events: Sequence[EventRecord]) -> None:
            if 5 in [each.seq for each in events]:
                raise ValueError("cannot say how many have arrived")
            seen.extend(each.seq for each in events)

    box = Box(*map(event, range(1, 9)))
    one = courier(box, FollowUpError(), clock)
    for _ in range(3):
        clock.advance(run(one) or 0)
    assert seen == [1, 2, 3, 4]
    assert row_of(box).seq == 4


def test_the_time_between_tries_grows_to_a_bound(sink: Kept, clock: FakeClock) -> None:
    box = Box(event(1))
    sink.raises = [SinkError("no")] * 30
    one, waits, since = courier(box, sink, clock), [], clock.now()
    for _ in range(30):
        waits.append(run(one) or 0)
        clock.advance(waits[-1])
    assert waits[0] <= 2
    assert all(LONGEST_WAIT / 2 <= wait <= LONGEST_WAIT for wait in waits[10:])
    assert row_of(box).failing_since == since
    assert run(one) is None
    assert sink.seen == [1]


def test_a_receiver_may_ask_for_a_longer_time(sink: Kept, clock: FakeClock) -> None:
    box = Box(event(1))
    sink.raises = [SinkError("busy", delay=120), SinkError("busy", delay=1e9)]
    one = courier(box, sink, clock)
    assert run(one) == 120
    clock.advance(120)
    assert run(one) == LONGEST_WAIT


def test_nothing_is_tried_before_its_time_whoever_comes(sink: Kept, clock: FakeClock) -> None:
    box = Box(event(1))
    sink.raises = [SinkError("no")]
    run(courier(box, sink, clock))
    assert run(courier(box, sink, clock)) is not None
    assert sink.seen == []


def test_a_clock_that_was_set_back_does_not_silence_it(sink: Kept, clock: FakeClock) -> None:
    box = Box(event(1))
    box.row = SinkRow("x", 0, failures=1, next_at=clock.now() + 86400)
    assert run(courier(box, sink, clock)) is None
    assert sink.seen == [1]


def test_what_nobody_wants_is_passed_and_written_down_at_the_end(
    sink: Kept, clock: FakeClock
) -> None:
    box = Box(*(event(n) for n in range(1, 400)), event(400, "DRIFT_MISSING"), event(401))
    one = courier(box, sink, clock, EventFilter(("DRIFT",)))
    run(one)
    assert sink.seen == [400]
    assert box.written == [400]
    one.close()
    assert box.written == [400, 401]
    assert sink.closed


def test_events_between_two_batches_are_not_lost(sink: Kept, clock: FakeClock) -> None:
    states = ["CREATE_FAILED", "CREATE_COMPLETE"]
    box = Box(*(event(n, states[n % 2]) for n in range(1, 101)))
    run(courier(box, sink, clock, EventFilter(("*_FAILED",))))
    assert sink.seen == list(range(2, 101, 2))


def test_an_operator_may_skip_what_waits(sink: Kept, clock: FakeClock) -> None:
    box = Box(*map(event, range(1, 5)))
    sink.raises = [SinkError("never")]
    one = courier(box, sink, clock)
    run(one)
    box.row = SinkRow("x", 3)
    run(one)
    assert sink.seen == [4]


def test_a_sink_that_was_skipped_meanwhile_is_not_set_back(clock: FakeClock) -> None:
    box = Box(*map(event, range(1, 5)))

    class Skipping(Kept):
        def deliver(self, events: Sequence[EventRecord]) -> None:
            super().deliver(events)
            box.row = SinkRow("x", 4)

    sink = Skipping()
    run(courier(box, sink, clock))
    assert row_of(box).seq == 4


def test_a_sink_that_is_forgotten_is_told_nothing(sink: Kept, clock: FakeClock) -> None:
    box = Box(event(1))
    box.row = None
    assert run(courier(box, sink, clock)) is None


def test_a_sink_that_cannot_be_made_is_tried_again(sink: Kept, clock: FakeClock) -> None:
    box, tries = Box(event(1)), []

    def make() -> EventSink:
        tries.append(1)
        if len(tries) == 1:
            raise UsageError("No plug-in brings it.")
        return sink

    one = SinkDelivery("x", make, EventFilter(), box, clock, random.Random(1))
    wait = run(one)
    assert row_of(box).error == "No plug-in brings it."
    clock.advance(wait or 0)
    run(one)
    assert sink.seen == [1]


def test_a_slow_sink_gets_smaller_batches(clock: FakeClock) -> None:
    sizes: list[int] = []

    class Slow(EventSink):
        def deliver(self, events: Sequence[EventRecord]) -> None:
            sizes.append(len(events))
            clock.advance(2.0 * len(events))

    run(courier(Box(*map(event, range(1, 30))), Slow(), clock))
    assert sizes[:4] == [8, 4, 2, 1]
    assert sum(sizes) == 29


@pytest.mark.parametrize(
    ("section", "state", "resource", "told"),
    [
        pytest.param({}, "CREATE_COMPLETE", "a", True, id="all"),
        pytest.param({"events": ["DRIFT"]}, "DRIFT_MISSING", "a", True, id="action"),
        pytest.param({"events": ["DRIFT"]}, "CREATE_FAILED", "a", False, id="other-action"),
        pytest.param({"events": ["*_failed"]}, "CREATE_FAILED", "a", True, id="any-case"),
        pytest.param({"events": ["CREATE_FAILED"]}, "CREATE_COMPLETE", "a", False, id="state"),
        pytest.param({"scope": "stacks"}, "CREATE_COMPLETE", "a", False, id="resource"),
        pytest.param({"scope": "stacks"}, "CREATE_COMPLETE", "", True, id="stack"),
    ],
)
def test_a_section_says_what_it_wants(
    section: dict[str, object], state: str, resource: str, told: bool
) -> None:
    assert (event(1, state, resource) in parse_filter(section)) is told


def test_a_nested_stack_is_no_stack_of_its_own() -> None:
    nested = replace(event(1, resource=""), path="group")
    assert nested not in parse_filter({"scope": "stacks"})


def test_nothing_of_a_section_gets_into_an_error(clock: FakeClock) -> None:
    section = {
        "kind": "webhook",
        "url": "https://hooks.example/T000/secret",
        "signing_keys": ["whsec_c2VjcmV0"],
        "headers": {"X-Key": "letmein"},
        "file": "/var/log/zonda",
    }
    making = SinkFactory(Settings(sinks={"x": section}), Plugins(), clock, random.Random(1))
    text = "POST https://hooks.example/T000/secret letmein whsec_c2VjcmV0 /var/log/zonda webhook"
    assert making.redact("x")(text) == (
        "POST https://hooks.example(hidden) (hidden) (hidden) /var/log/zonda webhook"
    )


@pytest.mark.parametrize(
    ("url", "said", "shown"),
    [
        ("http://hooks:8080/", "http://hooks:8080/: refused", "http://hooks:8080/: refused"),
        ("http://u:word@hooks:8080/t0k3n", "hooks:8080: u:word", "hooks:8080: (hidden)"),
        ("http://hooks?key=t0k3n", "GET http://hooks?key=t0k3n", "GET http://hooks(hidden)"),
    ],
)
def test_hosts_and_ports_of_a_section_stay_in_an_error(
    clock: FakeClock, url: str, said: str, shown: str
) -> None:
    making = SinkFactory(Settings(sinks={"x": {"url": url}}), Plugins(), clock, random.Random(1))
    assert making.redact("x")(said) == shown


class Counting(EventSink):
    """How many it was given each time."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def deliver(self, events: Sequence[EventRecord]) -> None:
        self.sizes.append(len(events))


def test_after_a_failure_the_next_one_goes_by_itself(clock: FakeClock) -> None:
    """A process that was cut off in a batch may only get that far again."""
    box, sink = Box(*map(event, range(1, 5))), Counting()
    box.row = SinkRow("x", 0, failures=1, next_at=clock.now())
    run(courier(box, sink, clock))
    assert sink.sizes == [1, 2, 1]


def test_at_the_end_each_goes_by_itself(clock: FakeClock) -> None:
    box, sink = Box(*map(event, range(1, 5))), Counting()
    one = courier(box, sink, clock)
    one.is_ending = True
    run(one)
    assert sink.sizes == [1, 1, 1, 1]
