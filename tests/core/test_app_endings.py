"""Commands when an engine dies, is killed or ends while others rely on it."""

from __future__ import annotations

import argparse
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from zonda.core import settings
from zonda.core.app import App, build_app
from zonda.core.cli import serve
from zonda.core.engine.actions import CreateStack
from zonda.core.store.faults import Refused
from zonda.core.template.bundle import Bundle
from zonda.hooks.errors import StoreError

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
        made.append(build_app(settings.load({"home": str(tmp_path / "home")}, {})))
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
    monkeypatch.setattr("zonda.core.engine.driver.PATIENCE", 0.0)
    holder, other = make(), make()
    assert holder.store
    assert holder.lock.acquire()
    command = Command(lambda: other.act(create("web")))
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

    def say(self, text: str) -> None:
        self.ready.set()


class FakeSession:
    """As much of a session as ``engine run`` needs."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.screen = Screen()


def test_engine_run_ends_when_its_engine_dies(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zonda.core.engine.driver.PATIENCE", 0.0)
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
        other.act(create("web"))
    assert holder.store._connection.execute("select id from request").fetchall() == []


def test_a_command_that_waits_says_so(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zonda.core.app_commands._KEEP_EVERY", 0.0)
    holder, other = make(), make()
    assert holder.store
    assert holder.lock.acquire()
    kept: list[object] = []

    def look(seconds: float) -> None:
        kept.extend(holder.store._connection.execute("select claimed_at from request").fetchone())
        raise KeyboardInterrupt

    monkeypatch.setattr(other.clock, "pause", look)
    with pytest.raises(KeyboardInterrupt):
        other.act(create("web"))
    assert isinstance(kept[0], float)
