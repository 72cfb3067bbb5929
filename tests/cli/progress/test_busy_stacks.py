"""Two commands on one stack: the second one reports the first, asks, or waits."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import ON_SERVER

from zonda.core.app.app import App, build_app
from zonda.core.cli.console.console import Screen
from zonda.core.cli.progress import busy_stacks
from zonda.core.engine import actions
from zonda.core.settings import settings
from zonda.core.template.source.bundle import Bundle

VAULT = Path(__file__).parents[2] / "acceptance" / "plugins" / "vault.py"
PATIENCE = 60.0


def template(folder: Path, *names: str, value: str = "one") -> str:
    """A template of vaults."""
    given = f"{{folder: '{folder}', value: {value}}}"
    entries = "".join(f"  {name}: {{type: Test::Vault, properties: {given}}}\n" for name in names)
    return f"heat_template_version: 2018-08-31\nresources:\n{entries}"


class Home:
    """A home with an engine of ann's, and the stack ``web`` in it."""

    def __init__(self, folder: Path) -> None:
        self.notes, self.home = folder / "notes", folder / "home"
        self.notes.mkdir()
        (self.home / "plugins").mkdir(parents=True)
        (self.home / "plugins" / "vault.py").write_text(VAULT.read_text())
        self.engine = self.app()
        self.file = folder / "newer.yaml"
        self.file.write_text(template(self.notes, "a", value="newer"))

    def app(self) -> App:
        return build_app(settings.load_settings({"home": str(self.home), "user": "ann"}, {}))

    @property
    def order(self) -> Path:
        """As long as there is this file, the creation of ``b`` waits."""
        return self.notes / "wait-b-create"

    def begin(self) -> None:
        """Create the stack, and begin an update that waits in the creation of ``b``."""
        ended(self.engine.engine.act(actions.CreateStack("web", Bundle(template(self.notes, "a")))))
        self.order.touch()
        bundle = Bundle(template(self.notes, "a", "b"))
        self.engine.engine.act(actions.UpdateStack("web", bundle))
        never, calls = threading.Event(), self.notes / "calls"
        while "b create" not in calls.read_text():
            never.wait(0.05)

    @property
    def history(self) -> list[tuple[str, str]]:
        stack = self.engine.stacks.find_or_deleted("web")
        found = self.engine.reader.actions(stack.id)
        return [(each.action, each.status) for each in found]


def ended(running: Any) -> Any:
    while not (seen := running.client.look(running.stack_id, PATIENCE)).idle:
        pass
    return seen


RUNS = [("CREATE", "COMPLETE"), ("UPDATE", "IN_PROGRESS")]


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[Home]:
    """Another process is at work on the stack."""
    home = Home(tmp_path)
    home.engine.engine.run()
    home.begin()
    yield home
    home.order.unlink(missing_ok=True)
    home.engine.close()


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """What the person at the terminal answers; each question takes one."""
    given: list[bool] = []
    monkeypatch.setattr(Screen, "can_ask", True)

    def ask(screen: Screen, question: str) -> bool:
        screen.say(question)
        return given.pop(0)

    monkeypatch.setattr(Screen, "ask", ask)
    return given


@pytest.fixture
def on_waiting(busy: Home, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What runs goes on once somebody waits for its end; the stacks that were waited for."""
    waited: list[str] = []
    wait_for = busy_stacks._wait_for

    def wait(session: Any, stack: Any) -> None:
        waited.append(stack.state)
        for order in busy.notes.glob("wait-*"):
            order.unlink()
        wait_for(session, stack)

    monkeypatch.setattr(busy_stacks, "_wait_for", wait)
    return waited


#: A command, and whether it may take the place of what runs.
SECOND: dict[str, tuple[Callable[[Home], tuple[Any, ...]], bool]] = {
    "update": (lambda home: ("update", "web", "-t", home.file), True),
    "update --plan": (lambda home: ("update", "web", "-t", home.file, "--plan", "-y"), True),
    "rollback": (lambda home: ("rollback", "web"), True),
    "suspend": (lambda home: ("suspend", "web"), False),
    "resume": (lambda home: ("resume", "web"), False),
    "check": (lambda home: ("check", "web"), False),
    "retry": (lambda home: ("retry", "web"), False),
    "import": (lambda home: ("import", "web", "b", "thing"), False),
    "snapshot create": (lambda home: ("snapshot", "create", "web"), False),
}


@pytest.mark.parametrize("second", SECOND)
def test_without_a_terminal_who_comes_second_is_refused(
    zonda: Any, busy: Home, second: str
) -> None:
    words, may_supersede = SECOND[second]

    said = zonda("stack", *words(busy), code=1).err

    assert "Stack web already has an action (UPDATE) in progress by ann, since 2" in said
    where = f" on {socket.gethostname()}" if ON_SERVER else ""
    assert f"process {os.getpid()}{where} carries it out" in said
    assert ("--supersede takes its place" in said) is may_supersede
    assert busy.history == RUNS


@pytest.mark.skipif(ON_SERVER, reason="there the command first carries out what was left")
def test_a_refused_command_does_not_name_itself_as_what_carries_the_action_out(
    zonda: Any, tmp_path: Path, write: Any
) -> None:
    template = write(
        "t.yaml", "heat_template_version: 2018-08-31\nresources: {a: {type: OS::Heat::None}}\n"
    )
    zonda("stack", "create", "web", "-t", template, "--no-wait")

    said = zonda("stack", "suspend", "web", code=1).err

    assert "already has an action (CREATE) in progress" in said
    assert "nobody carries it out now" in said


def test_a_terminal_is_asked_and_a_no_leaves_everything_as_it_is(
    zonda: Any, busy: Home, answers: list[bool]
) -> None:
    answers += [False, False]

    said = zonda("stack", "update", "web", "-t", busy.file, code=1).err

    assert "by ann, since 2" in said
    assert "Take its place?" in said
    assert "Wait for its end, and go on then?" in said
    assert answers == []
    assert busy.history == RUNS


@pytest.mark.parametrize("how", ["option", "answer"])
@pytest.mark.parametrize("second", ["update", "update --plan", "rollback"])
def test_what_runs_is_superseded_where_that_is_said(
    zonda: Any, busy: Home, answers: list[bool], second: str, how: str
) -> None:
    answers += [True] if how == "answer" else []
    words, _ = SECOND[second]

    zonda("stack", *words(busy), "--no-wait", *(["--supersede"] if how == "option" else []))

    assert answers == []
    status = "CANCELLED" if second == "rollback" else "SUPERSEDED"
    assert busy.history[:2] == [("CREATE", "COMPLETE"), ("UPDATE", status)]
    assert len(busy.history) == 3


@pytest.mark.parametrize("how", ["option", "answer"])
@pytest.mark.parametrize("second", ["update", "suspend", "check", "snapshot create"])
def test_what_runs_is_waited_for_where_that_is_said(
    zonda: Any, busy: Home, answers: list[bool], on_waiting: list[str], second: str, how: str
) -> None:
    words, may_supersede = SECOND[second]
    answers += [False] * may_supersede + [True] if how == "answer" else []

    zonda("stack", *words(busy), *(["--wait"] if how == "option" else []))

    assert answers == []
    assert on_waiting[0] == "UPDATE_IN_PROGRESS"
    action = second.partition(" ")[0].upper()
    assert busy.history == [*RUNS[:1], ("UPDATE", "COMPLETE"), (action, "COMPLETE")]


def test_a_plan_is_made_once_the_wait_is_over(
    zonda: Any, busy: Home, on_waiting: list[str]
) -> None:
    zonda("stack", "update", "web", "-t", busy.file, "--plan", "-y", "--wait")

    assert busy.history == [*RUNS[:1], ("UPDATE", "COMPLETE"), ("UPDATE", "COMPLETE")]


def test_a_plan_file_may_supersede_what_it_was_made_beside(
    zonda: Any, busy: Home, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    zonda("stack", "plan", "web", "-t", busy.file, "-o", plan)

    said = zonda("stack", "apply", plan, code=1).err
    assert "--supersede takes its place." in said
    assert "--wait" not in said
    assert busy.history == RUNS

    zonda("stack", "apply", plan, "--supersede", "--no-wait")
    assert busy.history[1:] == [("UPDATE", "SUPERSEDED"), ("UPDATE", "IN_PROGRESS")]


def test_a_deletion_and_a_cancellation_are_for_what_runs(zonda: Any, busy: Home) -> None:
    zonda("stack", "cancel", "web", "--no-wait")
    zonda("stack", "delete", "web", "-y", "--no-wait")

    *ends, (last, _) = busy.history
    assert ends == [("CREATE", "COMPLETE"), ("UPDATE", "CANCELLED"), ("ROLLBACK", "SUPERSEDED")]
    assert last == "DELETE"  # which does not wait for what runs


def test_a_deletion_asks_with_what_runs(zonda: Any, busy: Home, answers: list[bool]) -> None:
    answers += [False]

    said = zonda("stack", "delete", "web", code=1).err

    assert "Stack web already has an action (UPDATE) in progress by ann" in said
    assert said.index("in progress by ann") < said.index("Delete web and everything in it?")


def test_the_name_of_a_stack_that_is_being_deleted_can_be_waited_for(
    zonda: Any, busy: Home, on_waiting: list[str]
) -> None:
    (busy.notes / "wait-a-delete").touch()
    busy.engine.engine.act(actions.DeleteStack("web"))

    said = zonda("stack", "create", "web", "-t", busy.file, code=1).err
    assert "already has an action (DELETE) in progress by ann" in said
    assert "--wait waits for its end" in said

    zonda("stack", "create", "web", "-t", busy.file, "--wait")
    assert on_waiting == ["DELETE_IN_PROGRESS"]
    assert busy.history == [("CREATE", "COMPLETE")]


def test_a_name_that_is_taken_is_refused_at_once(
    zonda: Any, busy: Home, on_waiting: list[str]
) -> None:
    said = zonda("stack", "create", "web", "-t", busy.file, "--wait", code=1).err

    assert "already exists" in said
    assert on_waiting == []


def test_to_wait_and_to_supersede_exclude_each_other(zonda: Any, busy: Home) -> None:
    said = zonda("stack", "update", "web", "-t", busy.file, "--wait", "--supersede", code=2).err

    assert "exclude each other" in said
    assert busy.history == RUNS


@pytest.mark.sqlite  # a member takes it over
def test_what_nobody_carries_out_is_superseded_without_a_word(zonda: Any, tmp_path: Path) -> None:
    """A command that was killed has left it: nobody is disturbed."""
    home = Home(tmp_path)
    home.begin()
    home.engine.close()

    zonda("stack", "update", "web", "-t", home.file, "--no-wait")

    home.engine = home.app()
    assert home.history[1:] == [("UPDATE", "SUPERSEDED"), ("UPDATE", "IN_PROGRESS")]
    home.engine.close()


def test_of_two_that_come_at_once_the_second_is_refused(busy: Home) -> None:
    """Also where neither has seen the other: it is decided where the plan is accepted."""
    busy.order.unlink()
    ended(busy.engine.engine.wait("web"))
    engine = busy.engine.engine._engine
    assert engine is not None
    bundle = Bundle(template(busy.notes, "a", value="three"))
    caller = actions.Caller("ann", "default", supersedes=False)
    (busy.notes / "wait-a-update").touch()

    both = [engine.submit(actions.UpdateStack("web", bundle), caller) for _ in range(2)]

    refused = [each.exception(PATIENCE) for each in both]
    assert sorted(type(each).__name__ for each in refused) == ["ActionInProgress", "NoneType"]
    (busy.notes / "wait-a-update").unlink()
