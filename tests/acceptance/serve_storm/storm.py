"""The storm: load, signals, starts, and the count at the end."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from zonda.core.app.app import App, build_app
from zonda.core.settings.settings import load_settings

from .server import PATIENCE, Server
from .streams import Listener
from .writers import Wish, Writer

STREAMS, WRITERS = 20, 5
#: Seconds within which SIGTERM ends the server.
LONGEST_END = 15.0


class ServeStorm:
    """``kills`` ends of one server; ``run`` gives the report, or raises AssertionError."""

    def __init__(
        self, home: Path, kills: int, seed: int, say: Callable[[str], None] = lambda text: None
    ) -> None:
        self._kills = kills
        self._source = Random(seed)
        self._say = say
        self._news = threading.Condition()
        self._server = Server(home)
        self._listeners = [Listener(self._server, self._news) for _ in range(STREAMS)]
        self._writers = [
            Writer(self._server, number, Random(f"{seed}.{number}"), self._news)
            for number in range(WRITERS)
        ]
        self._ends: dict[int, list[float]] = {signal.SIGTERM: [], signal.SIGKILL: []}

    def run(self) -> dict[str, Any]:
        """Run it to its end."""
        begun = time.monotonic()
        try:
            self._server.start()
            for each in (*self._listeners, *self._writers):
                each.start()
            for number in range(self._kills):
                self._end_once(number)
            report = self._count()
        finally:
            self._server.finish()
            self._server.kill()
        return {"kills": self._kills, **report, "seconds": round(time.monotonic() - begun)}

    def _end_once(self, number: int) -> None:
        """End the server after some more writes and events, and start the next one."""
        wanted = self._acknowledged + self._source.randint(1, 20)
        events = self._listeners[0].last + self._source.randint(0, 30)
        self._wait(lambda: self._acknowledged >= wanted and self._listeners[0].last >= events)
        kind = self._source.choice([signal.SIGTERM, signal.SIGKILL])
        seconds = self._server.end(kind)
        self._ends[kind].append(seconds)
        self._say(f"{number + 1}: {kind.name} after {self._acknowledged} writes: {seconds:.1f} s")
        assert kind == signal.SIGKILL or seconds <= LONGEST_END
        self._server.start()

    @property
    def _acknowledged(self) -> int:
        return sum(writer.acknowledged for writer in self._writers)

    def _wait(self, is_done: Callable[[], bool]) -> None:
        with self._news:
            assert self._news.wait_for(is_done, PATIENCE), "nothing goes on"

    def _count(self) -> dict[str, Any]:
        """Compare what clients know with what there is."""
        for writer in self._writers:
            writer.join()
        self._say("the writers have ended")
        home = str(self._server.home)
        app = build_app(load_settings({"home": home, "project": "default"}, {}))
        try:
            wishes = [wish for writer in self._writers for wish in writer.wishes]
            for wish in wishes:
                check_wish(app, wish)
            self._say("all stacks are what they should be")
            events = self._check_streams(app)
        finally:
            app.close()
        surprises = [text for writer in self._writers for text in writer.surprises]
        assert not surprises, surprises[:5]
        seconds = self._server.end(signal.SIGTERM)
        self._server.finish()
        assert seconds <= LONGEST_END
        for listener in self._listeners:
            listener.join()
        return {
            "sigterm": len(self._ends[signal.SIGTERM]),
            "sigkill": len(self._ends[signal.SIGKILL]),
            "slowest_end": round(max([seconds, *self._ends[signal.SIGTERM]]), 2),
            "acknowledged": self._acknowledged,
            "stacks": len(wishes),
            "events": events,
            "streams": STREAMS,
            "connections": sum(listener.connections for listener in self._listeners),
        }

    def _check_streams(self, app: App) -> int:
        """The number of events; each stream has each of them, once and in order."""
        stored = [event.seq for event in app.reader.list_events_after(0, "default", "", -1)]
        self._wait(lambda: all(listener.last >= stored[-1] for listener in self._listeners))
        for listener in self._listeners:
            assert listener.seen == stored, compare(listener.seen, stored)
            assert not listener.gaps
            assert not listener.refusals, listener.refusals
        return len(stored)


def check_wish(app: App, wish: Wish) -> None:
    """Raise AssertionError unless a stack is what was acknowledged, or sent after that."""
    if not wish.id:
        return  # whether it was made is not known
    stack = app.engine.look(wish.id, PATIENCE)
    if wish.is_deleted or (wish.may_be_deleted and stack.deleted_at is not None):
        assert stack.state == "DELETE_COMPLETE", (wish, stack.state, stack.status_reason)
        return
    assert stack.deleted_at is None, (wish, stack.state)
    assert stack.status == "COMPLETE", (wish, stack.state, stack.status_reason)
    row = next(row for row in app.reader.resources(stack.id) if row.name == "first")
    assert wish.number <= int(row.properties["value"]) <= wish.highest, (wish, row.properties)


def compare(seen: list[int], stored: list[int]) -> str:
    """A text on how the events of a stream differ from those of the table."""
    missing, more = sorted({*stored} - {*seen}), len(seen) - len({*seen})
    return f"{len(missing)} missing ({missing[:5]}), {more} twice, {len(seen)} in all"
