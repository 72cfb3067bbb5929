"""Commands when an engine dies, is killed or ends while others rely on it."""

from __future__ import annotations

import argparse
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from zonda.core.app.app import App, build_app
from zonda.core.cli.services import serve
from zonda.core.engine.actions import CreateStack
from zonda.core.settings import settings
from zonda.core.store.database.faults import Refused
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.errors import StoreError

#: One engine after the other by the lock of a file; what members of a cluster do: tests/cluster.
pytestmark = pytest.mark.sqlite

TEMPLATE = """\
heat_template_version: 2018-08-31
resources:
  a: {type: OS::Heat::TestResource, properties: {value: x}}
"""
PATIENCE = 20.0

Make = Callable[[], App]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[App] = []

    def build() -> App:
        made.append(build_app(settings.load_settings({"home": str(tmp_path / "home")}, {})))
        return made[-1]

    yield build
    for app in made:
        app.close()


def create(name: str) -> CreateStack:
    return CreateStack(name, Bundle(TEMPLATE))


def refuse() -> Any:
    raise Refused("The disk is full.", hint="Make room.")


class Command(threading.Thread):
    """A command in another thread; ``failure`` is what it ended with."""

    def __init__(self, run: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self._run_it = run
        self.failure: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            self._run_it()
        except BaseException as error:
            self.failure = error


def test_who_waits_for_an_answer_learns_that_its_own_engine_died(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zonda.core.engine.runtime.driver.PATIENCE", 0.0)
    holder, other = make(), make()
    assert holder.store
    assert holder.lock.acquire()
    command = Command(lambda: other.engine.act(create("web")))
    while not holder.store._connection.execute("select id from request").fetchall():
        command.join(0.02)
    monkeypatch.setattr(other.store, "transaction", refuse)
    holder.lock.release()
    command.join(PATIENCE)
    assert isinstance(command.failure, StoreError)
    assert "disk is full" in str(command.failure)


class Screen:
    """Hears when the engine runs."""

    def __init__(self) -> None:
        self.ready = threading.Event()
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)
        self.ready.set()


class FakeSession:
    """As much of a session as ``engine run`` needs."""

    def __init__(self, app: App) -> None:
        self.local = app
        self.screen = Screen()

    def open_log(self, default: str) -> None:
        """No log."""

    def close_app(self) -> None:
        """Stop the engine."""
        self.local.close()


def test_engine_run_ends_when_its_engine_dies(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zonda.core.engine.runtime.driver.PATIENCE", 0.0)
    monkeypatch.setattr("signal.signal", lambda number, handler: None)
    app = make()
    session: Any = FakeSession(app)
    command = Command(lambda: serve.engine(session, argparse.Namespace()))
    assert session.screen.ready.wait(PATIENCE)
    assert command.is_alive()
    monkeypatch.setattr(app.store, "transaction", refuse)
    command.join(PATIENCE)
    assert isinstance(command.failure, StoreError)
    app.close()
    assert make().lock.acquire()


def test_engine_run_beside_a_command_says_what_it_waits_for(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers: list[Callable[..., object]] = []
    monkeypatch.setattr("signal.signal", lambda number, handler: handlers.append(handler))
    holder, app = make(), make()
    assert holder.store
    assert holder.lock.acquire()
    session: Any = FakeSession(app)
    command = Command(lambda: serve.engine(session, argparse.Namespace()))
    assert session.screen.ready.wait(PATIENCE)
    assert session.screen.lines == [
        f"Waiting for the command of process {os.getpid()}, which is the engine until it ends."
    ]
    handlers[0](signal.SIGTERM, None)
    command.join(PATIENCE)
    assert not command.is_alive()
    assert command.failure is None
    assert not app.lock.held


def test_a_command_that_is_interrupted_takes_its_request_back(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    holder, other = make(), make()
    assert holder.store
    assert holder.lock.acquire()

    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(other.clock, "pause", interrupt)
    with pytest.raises(KeyboardInterrupt):
        other.engine.act(create("web"))
    assert holder.store._connection.execute("select id from request").fetchall() == []


def test_a_command_that_waits_holds_a_lock_until_it_is_answered(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    holder, other = make(), make()
    assert holder.store
    assert holder.lock.acquire()
    waited: list[bool] = []

    def look(seconds: float) -> None:
        (key,) = holder.store._connection.execute("select id from request").fetchone()
        waited.append(holder.store.is_awaited(key))
        raise KeyboardInterrupt

    monkeypatch.setattr(other.clock, "pause", look)
    with pytest.raises(KeyboardInterrupt):
        other.engine.act(create("web"))
    assert waited == [True]
    assert not list(holder.folder.glob("*.request-*"))
