"""The application: one process is the engine, others send requests, one takes over.

Two applications on one home behave like two processes: the engine's lock knows open files, not
processes. Real processes are killed in tests/acceptance.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from zonda.core.app.app import App, build_app
from zonda.core.app.surface import RunningAction
from zonda.core.cli.stack import create_update_delete
from zonda.core.engine.actions import CreateStack, DeleteStack
from zonda.core.engine.model.unit_of_work import Notice
from zonda.core.settings import settings
from zonda.core.store.file import connection as connections
from zonda.core.store.read.views import StackView
from zonda.core.store.values.sealing import make_key
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.errors import Conflict, NotFound, RequestError, StoreError, ValidationErrors

TEMPLATE = """\
heat_template_version: 2018-08-31
parameters:
  secret: {type: string, hidden: true, default: hush}
resources:
  a: {type: OS::Heat::TestResource, properties: {value: x}}
outputs:
  said: {value: {get_attr: [a, output]}}
"""
PATIENCE = 20.0

Make = Callable[[], App]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def make(home: Path) -> Iterator[Make]:
    made: list[App] = []

    def build() -> App:
        made.append(build_app(settings.load_settings({"home": str(home)}, {})))
        return made[-1]

    yield build
    for app in made:
        app.close()


def create(name: str, template: str = TEMPLATE) -> CreateStack:
    return CreateStack(name, Bundle(template))


def ended(running: RunningAction) -> StackView:
    """The stack once it is idle."""
    seen = running.client.look(running.stack_id, PATIENCE)
    for _ in range(int(PATIENCE / 0.05)):
        if seen.idle:
            return seen
        seen = running.client.look(running.stack_id, 0.05)
    raise AssertionError(f"{seen.name} is still {seen.state}")


def test_without_a_database_there_is_nothing_to_read(make: Make, home: Path) -> None:
    app = make()

    assert app.reader.stacks() == []
    with pytest.raises(NotFound):
        app.stacks.find("web")
    assert not home.exists()


@pytest.mark.sqlite
def test_the_first_action_makes_no_database_beside_its_own(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    connect = connections.connect

    def note(path: str, mode: str) -> connections.FileConnection:
        opened.append(path)
        return connect(path, mode)

    monkeypatch.setattr(connections, "connect", note)
    ended(make().engine.act(create("web")))

    assert opened
    assert connections.MEMORY not in opened


def test_what_was_made_is_seen_by_a_reader_that_was_there_before(make: Make) -> None:
    writer, reader = make(), make()
    assert reader.reader.stacks() == []

    ended(writer.engine.act(create("web")))

    assert [stack.name for stack in reader.reader.stacks()] == ["web"]
    values, stack = reader.stacks.make_values(), reader.stacks.find("web")
    assert [output.value for output in values.outputs(stack.id)] == ["x"]
    assert values.parameters(stack.id)["secret"] == "(hidden)"


@pytest.mark.sqlite
def test_reading_takes_no_lock(make: Make) -> None:
    writer, reader = make(), make()
    ended(writer.engine.act(create("web")))

    assert reader.stacks.find("web").state == "CREATE_COMPLETE"
    assert writer.lock.held
    assert not reader.lock.held


@pytest.mark.sqlite
def test_a_second_command_is_carried_out_by_the_engine_that_runs(make: Make) -> None:
    engine, other = make(), make()
    engine.engine.run()

    running = other.engine.act(create("web"))

    assert running.client.other_engine == f"the engine of process {os.getpid()}"
    assert not other.lock.held
    assert running.client.waiting(running.stack_id) is None  # which nobody tells it
    assert ended(running).state == "CREATE_COMPLETE"
    assert ended(other.engine.act(DeleteStack("web"))).state == "DELETE_COMPLETE"


@pytest.mark.sqlite
def test_the_engine_tells_the_other_command_the_warnings(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has not loaded the template for them, and says what the engine says in its own process."""
    engine, other = make(), make()
    engine.engine.run()
    running = other.engine.act(create("web"))
    ended(running)
    told = running.warnings
    assert told is not None
    assert list(told) == engine.stacks.list_warnings(engine.stacks.find("web"))
    assert [(each.code, each.path) for each in told] == [("ZON602", ("parameters", "secret"))]

    monkeypatch.setattr(other.stacks, "list_warnings", None)
    said: list[str] = []
    colour = {"colour_message": lambda text, colour: text, "on_terminal": False}
    screen = SimpleNamespace(say=said.append, **colour)
    session: Any = SimpleNamespace(app=other, screen=screen)
    create_update_delete._say_warnings(session, running)
    assert len(said) == 1
    assert "The parameter secret is used nowhere" in said[0]


def test_what_the_engine_refuses_is_refused_to_the_other_command(make: Make) -> None:
    engine, other = make(), make()
    engine.engine.run()
    ended(other.engine.act(create("web")))

    with pytest.raises(RequestError, match="already exists"):
        other.engine.act(create("web"))
    with pytest.raises(ValidationErrors) as caught:
        other.engine.act(create("bad", TEMPLATE.replace("TestResource", "TsetResource")))
    assert caught.value.place is not None
    assert caught.value.place.line == 5


@pytest.mark.sqlite
def test_a_request_that_nobody_answers_is_carried_out_by_who_waits(make: Make) -> None:
    holder, other = make(), make()
    assert holder.store
    assert holder.lock.acquire()
    answers: list[StackView] = []
    waiter = threading.Thread(target=lambda: answers.append(ended(other.engine.act(create("web")))))
    waiter.start()
    waiter.join(0.2)
    assert waiter.is_alive()

    holder.lock.release()
    waiter.join(PATIENCE)

    assert [stack.state for stack in answers] == ["CREATE_COMPLETE"]


@pytest.mark.sqlite
def test_what_an_engine_left_undone_is_continued(make: Make) -> None:
    planned = make()
    running = planned.engine.act(create("web"), drive=False)
    assert not running.client.look(running.stack_id, 0.0).idle
    planned.close()

    continued = make().engine.wait("web")

    assert not continued.client.other_engine
    assert ended(continued).state == "CREATE_COMPLETE"


@pytest.mark.sqlite
def test_a_watcher_takes_over_when_the_engine_goes_away(make: Make) -> None:
    planner, watcher = make(), make()
    running = planner.engine.act(create("web"), drive=False)
    watching = watcher.engine.wait(running.stack_id)
    assert not watching.client.look(watching.stack_id, 0.0).idle

    planner.close()

    assert ended(watching).state == "CREATE_COMPLETE"
    assert watcher.lock.held


@pytest.mark.sqlite
def test_there_is_one_engine_for_a_database(make: Make) -> None:
    make().engine.run()

    with pytest.raises(Conflict, match=str(os.getpid())):
        make().engine.run()


@pytest.mark.sqlite
def test_an_engine_waits_for_the_command_that_is_at_work(make: Make) -> None:
    command, engine, late = make(), make(), make()
    ended(command.engine.act(create("web")))
    waits: list[int | None] = []

    def goes_on(holder: int | None) -> bool:
        waits.append(holder)
        with pytest.raises(Conflict, match=f"process {os.getpid()}"):
            make().engine.run()
        command.close()
        return True

    assert engine.engine.run(goes_on)

    assert waits == [os.getpid()]
    assert ended(late.engine.act(create("other"))).state == "CREATE_COMPLETE"
    assert engine.lock.held
    assert not late.lock.held


@pytest.mark.sqlite
def test_commands_leave_the_lock_to_an_engine_that_waits_for_it(make: Make) -> None:
    """However many of them follow each other."""
    engine, late = make(), make()
    running = make()
    planned = running.engine.act(create("web"), drive=False)

    def goes_on(holder: int | None) -> bool:
        watching = late.engine.wait("web")
        running.close()
        assert not watching.client.look(watching.stack_id, 0.0).idle
        assert not late.lock.held
        return True

    assert engine.engine.run(goes_on)

    assert engine.lock.held
    assert ended(late.engine.wait("web")).id == planned.stack_id


@pytest.mark.sqlite
def test_an_engine_that_waits_can_be_stopped(make: Make) -> None:
    command, engine = make(), make()
    ended(command.engine.act(create("web")))

    assert not engine.engine.run(lambda holder: False)
    engine.close()
    command.close()

    other = make()
    assert other.engine.run()
    assert other.lock.held


def test_the_engine_takes_up_what_it_finds(make: Make) -> None:
    planned = make()
    planned.engine.act(create("web"), drive=False)
    planned.close()
    engine, watcher = make(), make()

    engine.engine.run()

    assert ended(watcher.engine.wait("web")).state == "CREATE_COMPLETE"
    assert not watcher.lock.held


def test_closing_gives_the_lock_back_and_may_be_repeated(make: Make) -> None:
    others = {*threading.enumerate()}
    first, second = make(), make()
    ended(first.engine.act(create("web")))

    first.close()
    first.close()

    assert second.lock.acquire()
    left = {*threading.enumerate()} - others
    assert not [each for each in left if each.name.startswith("zonda-engine")]


def test_validation_needs_no_database_and_no_service(make: Make, home: Path) -> None:
    template = TEMPLATE.replace(
        "outputs:",
        "  b:\n    type: OS::Mistral::ExternalResource\n"
        "    properties: {actions: {CREATE: {workflow: make_it}}}\noutputs:",
    )

    checked = make().templates.validate(Bundle(template))

    assert set(checked.resources) == {"a", "b"}
    assert "hush" not in repr(checked)
    assert not home.exists()


def test_without_a_service_a_workflow_is_refused_before_anything_is_made(make: Make) -> None:
    template = (
        "heat_template_version: 2018-08-31\nresources:\n"
        "  b:\n    type: OS::Mistral::ExternalResource\n"
        "    properties: {actions: {CREATE: {workflow: make_it}}}\n"
    )
    app = make()

    with pytest.raises(ValidationErrors) as caught:
        app.engine.act(create("web", template))

    assert "not running" in str(caught.value)
    assert app.reader.stacks() == []


def test_a_database_of_another_kind_is_refused(home: Path) -> None:
    flags = {"home": str(home), "database_url": "postgresql://x/y"}
    app = build_app(settings.load_settings(flags, {}))

    with pytest.raises(StoreError, match="postgresql"):
        app.engine.act(create("web"))
    app.close()


@pytest.mark.sqlite
def test_a_folder_that_cannot_be_made_is_a_clean_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    database = f"sqlite:///{tmp_path}/file/home/zonda.db"
    app = build_app(settings.load_settings({"home": str(tmp_path), "database_url": database}, {}))

    with pytest.raises(StoreError, match="cannot be made"):
        app.engine.act(create("web"))
    app.close()


def test_a_key_in_the_settings_is_used(home: Path) -> None:
    app = build_app(settings.load_settings({"home": str(home), "key": make_key()}, {}))
    ended(app.engine.act(create("web")))
    app.close()

    assert not (home / "zonda.key").exists()
    other = build_app(settings.load_settings({"home": str(home), "key": make_key()}, {}))
    with pytest.raises(StoreError, match="key"):
        other.stacks.find("web")
    other.close()


def test_what_a_stack_waits_for_is_forgotten_at_its_end(make: Make) -> None:
    app = make()
    running = app.engine.act(create("s"), drive=True)
    ended(running)
    commands = app.engine
    for resource in ("a", "b"):
        commands._take_notices([Notice(running.stack_id, None, resource, "waiting for the runner")])
    assert [each.resource for each in running.client.waiting(running.stack_id)] == ["a", "b"]

    ended(app.engine.act(DeleteStack("s"), drive=True))

    assert running.client.waiting(running.stack_id) == []


def test_an_engine_that_does_nothing_is_told_from_one_that_works(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make()
    assert app.engine.find_trouble() == "The engine has stopped."
    assert app.engine.run()
    assert app.engine.find_trouble() == ""
    engine = app.engine._engine
    for name, value, trouble in (
        ("is_refused", True, "The database refuses what is to be stored."),
        ("seconds_since_turn", 5.1, "The engine does not answer."),
    ):
        monkeypatch.setattr(type(engine), name, property(lambda _, value=value: value))
        assert app.engine.find_trouble() == trouble


def test_the_calls_that_end_last_are_told_to_sinks(make: Make) -> None:
    ended: list[str] = []
    app = make()
    assert app.engine.run()
    client: Any = app.engine
    stop = client._engine.stop
    client._engine.stop = lambda grace: (ended.append("engine"), stop(grace))
    client._delivery = SimpleNamespace(finish=lambda: ended.append("sinks"), news=lambda: None)
    app.close()
    assert ended == ["engine", "sinks"]
