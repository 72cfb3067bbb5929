"""The rounds of the server: an engine that has died, the watchdog, readiness."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn

from zonda.core.api.server.process import loop
from zonda.core.api.server.process.loop import LAST_SECONDS, Server
from zonda.core.api.server.readiness import Readiness
from zonda.core.settings.settings import read_supervisor
from zonda.hooks.errors import StoreError


class FakeEngine:
    """An engine that is as it is set."""

    failure: StoreError | None = None
    trouble = ""

    def check(self) -> None:
        if self.failure is not None:
            raise self.failure

    def find_trouble(self) -> str:
        return "The engine has stopped." if self.failure else self.trouble


class HandClock:
    """A clock that is moved by hand."""

    seconds = 100.0

    def monotonic(self) -> float:
        return self.seconds


class Bench:
    """A server that does not listen, and what it looks after."""

    def __init__(self) -> None:
        self.engine, self.clock = FakeEngine(), HandClock()
        self.ticks = 0
        app: Any = SimpleNamespace(engine=self.engine, clock=self.clock)
        service: Any = SimpleNamespace(app=app, hub=SimpleNamespace(tick=self._tick))
        self.identity: Any = SimpleNamespace(find_trouble=lambda: "")
        self.readiness = Readiness(app, self.identity)
        config = uvicorn.Config(lambda: None, log_config=None)
        self.server = Server(config, service, self.readiness, lambda: None)

    def _tick(self) -> None:
        self.ticks += 1

    def round(self, seconds: float = 0.0) -> None:
        self.clock.seconds += seconds
        self.server.make_round()


@pytest.fixture
def supervisor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """The socket of a supervisor with a watchdog of 30 s."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as opened:
        opened.bind(str(tmp_path / "notify"))
        opened.setblocking(False)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        monkeypatch.setenv("WATCHDOG_USEC", "30000000")
        yield opened


def read_states(opened: socket.socket) -> list[str]:
    """Everything that the supervisor was sent."""
    states = []
    try:
        while True:
            states.append(opened.recv(100).decode())
    except BlockingIOError:
        return states


def test_a_server_ends_ten_seconds_after_its_engine_has_died() -> None:
    bench = Bench()
    bench.round()
    bench.engine.failure = StoreError("The disk is full.")
    bench.round(1)
    bench.round(LAST_SECONDS - 1)
    assert not bench.server.should_exit
    assert bench.readiness.answer().status == 503
    bench.round(1)
    assert bench.server.should_exit
    assert bench.server.failure is bench.engine.failure
    assert bench.ticks == 4


def test_a_server_that_is_told_to_end_does_not_wait_for_its_next_round(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loop, "_ROUND", 3600.0)
    bench = Bench()
    has_begun = threading.Event()
    bench.server.make_round = has_begun.set  # type: ignore[method-assign]
    serving = threading.Thread(target=lambda: asyncio.run(bench.server.main_loop()), daemon=True)
    serving.start()
    assert has_begun.wait(60)
    bench.server.end()
    serving.join(60)
    assert not serving.is_alive()
    bench.server.end()  # once more, when there is no loop


def test_the_watchdog_hears_of_an_engine_that_works_and_of_no_other(
    supervisor: socket.socket,
) -> None:
    bench = Bench()
    bench.round()
    bench.round(14)
    assert read_states(supervisor) == ["WATCHDOG=1"]
    bench.round(1)
    assert read_states(supervisor) == ["WATCHDOG=1"]
    bench.engine.trouble = "The engine does not answer."
    bench.round(60)
    assert read_states(supervisor) == []


def test_without_a_supervisor_nobody_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    monkeypatch.delenv("WATCHDOG_USEC", raising=False)
    Bench().round(100)
    assert read_supervisor({}) == ("", 0.0)
    assert read_supervisor({"NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "soon"}) == ("@x", 0.0)


def test_every_reason_against_a_server_is_named() -> None:
    bench = Bench()
    assert (bench.readiness.answer().status, bench.readiness.answer().body) == (200, "OK")
    bench.engine.trouble = "The database refuses what is to be stored."
    bench.identity.find_trouble = lambda: "Keystone cannot be reached."
    assert bench.readiness.answer().body.splitlines() == [
        "The database refuses what is to be stored.",
        "Keystone cannot be reached.",
    ]
    bench.readiness.is_stopping = True
    assert bench.readiness.answer().body == "The server is about to stop."
