"""The hub by itself: silence, progress, queues, and what happens while nobody listens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from zonda.core.api.live.frames import KEEP_ALIVE
from zonda.core.api.live.hub import KEEP_ALIVE_AFTER, Hub, Subscription
from zonda.core.engine.model.unit_of_work import Notice
from zonda.core.store.read.views import EventView
from zonda.hooks.errors import StoreError

PATIENCE = 60.0


class HandClock:
    """A clock that is moved by hand."""

    seconds = 1000.0

    def monotonic(self) -> float:
        return self.seconds

    now = monotonic


class FakeEngine:
    """Calls its listeners when it is told to."""

    def __init__(self) -> None:
        self.listeners: list[Any] = []

    def subscribe_all(self, listener: Any) -> Callable[[], None]:
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def say(self, *notices: Notice) -> None:
        for listener in self.listeners:
            listener(notices)


class FakeReader:
    """A database of one stack, ``s`` of the project ``p``."""

    is_broken = False

    def stack_by_id(self, key: str) -> Any:
        if self.is_broken:
            raise StoreError("The disk is gone.")
        return SimpleNamespace(project="p", name="s", root_id=key, owner_resource_id=None, id=key)


class Bench:
    """A hub and what it hangs on."""

    def __init__(self) -> None:
        self.clock, self.engine, self.reader = HandClock(), FakeEngine(), FakeReader()
        store = SimpleNamespace(reader=lambda: self.reader)
        app: Any = SimpleNamespace(clock=self.clock, engine=self.engine, store=store)
        self.hub = Hub(app)

    def open(self, root: str = "") -> Subscription:
        made = self.hub.open("p", root)
        made.check_at = self.clock.seconds + 1_000_000
        return made

    def tick(self, seconds: float) -> None:
        self.clock.seconds += seconds
        self.hub.tick()


def make_event(seq: int, name: str = "a", status: str = "COMPLETE") -> Notice:
    """A committed event of a resource."""
    values: Sequence[Any] = (1, None, name, "T", None, "CREATE", status, "", 0.0)
    return Notice("s1", EventView(seq, f"e{seq}", "s1", "s", *values))


def make_progress(message: str) -> Notice:
    return Notice("s1", None, "a", message, 5.0)


async def take(subscription: Subscription) -> str:
    frames = await asyncio.wait_for(subscription.take(), PATIENCE)
    return "".join(frame.data.decode() for frame in frames)


def test_a_silent_stream_is_kept_alive() -> None:
    async def main() -> None:
        bench = Bench()
        subscription = bench.open()
        bench.tick(KEEP_ALIVE_AFTER - 1)
        assert not subscription.frames
        bench.tick(1)
        assert await take(subscription) == KEEP_ALIVE.decode()
        bench.tick(1)
        assert not subscription.frames
        bench.tick(KEEP_ALIVE_AFTER)
        bench.tick(KEEP_ALIVE_AFTER)
        assert len(subscription.frames) == 1
        bench.hub.close()

    asyncio.run(main())


def test_progress_is_sent_once_a_second_with_the_last_message() -> None:
    async def main() -> None:
        bench = Bench()
        subscription = bench.open()
        for number in range(5):
            bench.engine.say(make_progress(f"at {number}"))
        bench.engine.say(make_event(1, "b"))
        assert '"path": "b"' in await take(subscription)  # the progress is known by then
        bench.tick(1)
        said = await take(subscription)
        assert said.count("event: progress") == 1
        assert '"message": "at 4"' in said
        assert "id:" not in said
        bench.tick(1)
        assert not subscription.frames
        bench.hub.close()

    asyncio.run(main())


def test_progress_of_what_has_ended_is_not_sent() -> None:
    async def main() -> None:
        bench = Bench()
        subscription = bench.open()
        bench.engine.say(make_progress("soon"))
        bench.engine.say(make_event(1))
        assert "event: state" in await take(subscription)
        bench.tick(1)
        bench.engine.say(make_event(2))
        assert "progress" not in await take(subscription)
        bench.hub.close()

    asyncio.run(main())


def test_the_engine_is_left_alone_while_nobody_listens() -> None:
    async def main() -> None:
        bench = Bench()
        assert not bench.engine.listeners
        first, second = bench.open(), bench.open("s1")
        assert len(bench.engine.listeners) == 1
        bench.hub.drop(first)
        bench.hub.drop(first)
        assert bench.hub.count == 1
        bench.hub.drop(second)
        assert not bench.engine.listeners
        assert bench.hub.count == 0
        bench.hub.close()

    asyncio.run(main())


def test_a_commit_of_many_events_sends_nobody_away_who_reads() -> None:
    async def main() -> None:
        bench = Bench()
        subscription = bench.open("s1")
        bench.engine.say(*(make_event(seq) for seq in range(1, 5001)))
        said = ""
        while said.count("event: state") < 5000:
            said += await take(subscription)
            assert not subscription.is_full
        places = [line for line in said.splitlines() if line.startswith("id: ")]
        assert places == [f"id: {seq}" for seq in range(1, 5001)]
        bench.hub.close()

    asyncio.run(main())


def test_streams_end_when_the_database_cannot_be_read() -> None:
    async def main() -> None:
        bench = Bench()
        subscription = bench.open()
        bench.reader.is_broken = True
        bench.engine.say(make_event(1))
        assert await take(subscription) == ""
        assert subscription.is_over
        bench.hub.close()

    asyncio.run(main())
