"""Commands that end while they are the engine of other commands."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from zonda.core.app.engine_client import EngineClient
from zonda.core.app.stacks import Stacks
from zonda.core.engine import actions
from zonda.core.engine.services import EngineSettings
from zonda.core.engine.templates.loading import TemplateLoading
from zonda.core.functions.versions import build_function_table
from zonda.core.store.file.lock import EngineLock
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.core.store.write.database import open_store
from zonda.core.system.clock import SystemClock
from zonda.core.system.ids import Ids
from zonda.core.template.source.bundle import Limits

KEY = make_key()
LONG = 20.0

Make = Callable[[], EngineClient]


@pytest.fixture
def make(bench: Any, tmp_path: Path) -> Iterator[Make]:
    """Makes the commands of another process."""
    ends: list[Callable[[], None]] = []

    def build() -> EngineClient:
        store = open_store(tmp_path / "z.db", sealer=Sealer(KEY))
        clock, chance, lock = SystemClock(), random.Random(0), EngineLock(tmp_path / "z.db")
        reader = store.reader()
        known = SimpleNamespace(
            project="default",
            user="ann",
            stop_grace=0.05,
            sinks={},
        )
        parts: Any = SimpleNamespace(
            is_clustered=False,
            find_last_event=reader.last_event,
            settings=known,
            clock=clock,
            ids=Ids(clock),
            random=chance,
            plugins=bench.plugins,
            lender=bench.lender,
            template_loader=TemplateLoading(
                bench.plugins,
                lambda version: build_function_table(version, bench.plugins),
                Limits(),
                bench.lender,
                clock,
                chance,
            ),
            type_folders=(),
            store=store,
            reader=reader,
            lock=lock,
            make_engine_settings=lambda: EngineSettings(workers=4, user="ann", drift_rate=0.0),
        )
        made = EngineClient(parts, Stacks(parts, lambda: None))

        def end() -> None:
            made.close()
            store.close()
            lock.release()

        ends.append(end)
        return made

    yield build
    for end in ends:
        end()


def finish(running: Any) -> Any:
    return running.client.look(running.stack_id, LONG)


def begin(commands: EngineClient, bench: Any, name: str) -> Any:
    bundle = bench.bundle(f"{name}: {{type: Test::Box}}")
    return commands.act(actions.CreateStack(name, bundle), drive=True, supersedes=True)


@pytest.fixture
def leaving(bench: Any, make: Make) -> Iterator[tuple[EngineClient, threading.Event, Any]]:
    """A command that is done, with a handler of another command's stack running in it."""
    handling, let_go = threading.Event(), threading.Event()

    def slow(box: Any) -> None:
        handling.set()
        let_go.wait(LONG)

    bench.journal.behave["theirs", "handle_create"] = slow
    mine, others = make(), make()
    assert finish(begin(mine, bench, "mine")).state == "CREATE_COMPLETE"
    asked: list[Any] = []
    asking = threading.Thread(target=lambda: asked.append(begin(others, bench, "theirs")))
    asking.start()
    while not handling.is_set():
        assert mine._engine is not None
        mine._engine.sweep_requests()
        handling.wait(0.05)
    asking.join(LONG)
    yield mine, let_go, asked[0]
    let_go.set()


def test_a_command_waits_for_the_handlers_of_others_without_grace(leaving: Any) -> None:
    mine, let_go, theirs = leaving
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        threading.Timer(0.3, let_go.set).start()

    mine.finish(say)
    mine.close()
    assert "(theirs)" in said[0]
    assert theirs.client._parts.reader.resource(theirs.stack_id, "theirs").state == (
        "CREATE_COMPLETE"
    )


def test_a_command_in_a_hurry_does_not(leaving: Any) -> None:
    mine, _, theirs = leaving
    mine.close()
    assert theirs.client._parts.reader.resource(theirs.stack_id, "theirs").state == (
        "CREATE_IN_PROGRESS"
    )


def test_nobody_waits_for_nothing(bench: Any, make: Make) -> None:
    mine = make()
    finish(begin(mine, bench, "mine"))
    said: list[str] = []
    mine.finish(said.append)
    assert said == []
