"""The ends of commands that were cancelled, superseded, terminated or late; and --follow."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from zonda.core.cli.console.console import Screen
from zonda.core.cli.progress.follow import follow
from zonda.core.cli.session import Session
from zonda.core.engine.actions import CreateStack, DeleteStack, UpdateStack
from zonda.core.template.source.bundle import Bundle

Zonda = Callable[..., Any]
Write = Callable[[str, str], Path]

TEMPLATE = """\
heat_template_version: 2018-08-31
resources:
  first: {type: OS::Heat::TestResource, properties: {value: "a\\e[31mb"}}
  second: {type: OS::Heat::TestResource, properties: {value: b}, depends_on: first}
"""

SLOW = """\
heat_template_version: 2018-08-31
resources:
  nap: {type: OS::Heat::Delay, properties: {min_wait: 300}}
"""


@pytest.fixture
def template(write: Write) -> Path:
    return write("t.yaml", TEMPLATE)


# -- cancelling -------------------------------------------------------------------------------


@pytest.mark.sqlite  # a member goes on with what it plans
@pytest.mark.parametrize(
    ("words", "state"),
    [
        pytest.param((), "ROLLBACK_COMPLETE", id="rolled-back"),
        pytest.param(("--rollback",), "ROLLBACK_COMPLETE", id="asked-for"),
        pytest.param(("--no-rollback",), "CREATE_FAILED", id="only-stopped"),
    ],
)
def test_cancelling_rolls_back_unless_told_otherwise(
    zonda: Zonda, template: Path, words: tuple[str, ...], state: str
) -> None:
    zonda("stack", "create", "web", "-t", template, "--no-wait")

    zonda("stack", "cancel", "web", *words)

    assert zonda("stack", "show", "web", "-f", "json").data["stack_status"] == state


def test_both_ways_of_cancelling_are_too_many(zonda: Zonda) -> None:
    assert "not allowed" in zonda("stack", "cancel", "w", "--rollback", "--no-rollback", code=2).err


# -- superseded, deleted ----------------------------------------------------------------------


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    flags = argparse.Namespace(set=[], home=str(tmp_path / "home"), debug=False)
    made = Session(flags, Screen())
    yield made
    made.close()


@pytest.mark.parametrize(
    ("newer", "state"),
    [
        pytest.param(UpdateStack("web", Bundle(TEMPLATE)), "UPDATE_COMPLETE", id="update"),
        pytest.param(DeleteStack("web"), "DELETE_COMPLETE", id="delete"),
    ],
)
def test_a_superseded_command_says_by_what(
    session: Session, capsys: pytest.CaptureFixture[str], newer: Any, state: str
) -> None:
    session.screen = Screen()
    running = session.app.engine.act(CreateStack("web", Bundle(TEMPLATE)), drive=False)
    session.app.engine.act(newer)

    assert follow(session, running, ("CREATE",)) == 1

    last = capsys.readouterr().err.splitlines()[-1]
    action = state.partition("_")[0]
    assert f"superseded by {action} (generation 2); the stack is {state} now" in last


def test_waiting_for_a_stack_that_was_deleted_is_no_error(zonda: Zonda, template: Path) -> None:
    ids = []
    for _ in range(2):
        zonda("stack", "create", "web", "-t", template)
        ids.append(zonda("stack", "show", "web", "-f", "json").data["id"])
        zonda("stack", "delete", "-y", "web")

    for name in ("web", *ids):
        assert zonda("stack", "wait", name).err.startswith("Stack web DELETE_COMPLETE in ")
    assert "could not be found" in zonda("stack", "wait", "wob", code=1).err


# -- signals ----------------------------------------------------------------------------------


def test_sigterm_leaves_what_can_be_continued(tmp_path: Path, write: Write) -> None:
    slow = write("slow.yaml", SLOW)
    home = tmp_path / "home"
    words = ["stack", "create", "web", "-t", str(slow), "--home", str(home)]
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "zonda", *words], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    said = process.stderr.readline() + process.stderr.readline()
    assert "web.nap" in said

    process.send_signal(signal.SIGTERM)
    rest = process.stderr.read()
    process.stderr.close()

    assert process.wait(20) == 143
    assert "'zonda stack wait web' continues." in rest
    assert rest.endswith("Terminated.\n")
    assert "Traceback" not in rest


def test_the_signal_is_given_back(zonda: Zonda) -> None:
    zonda("resource", "type", "list")

    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


# -- following --------------------------------------------------------------------------------


@pytest.fixture
def web(zonda: Zonda, template: Path) -> None:
    zonda("stack", "create", "web", "-t", template)


FOLLOW = ("stack", "event", "list", "web", "--follow")


@pytest.mark.usefixtures("web")
def test_followed_events_are_an_object_a_line(zonda: Zonda) -> None:
    listed = zonda(*FOLLOW[:4], "-f", "json").data

    lines = zonda(*FOLLOW, "-f", "json").out.splitlines()

    assert [json.loads(line) for line in lines] == listed


@pytest.mark.usefixtures("web")
@pytest.mark.parametrize(
    ("words", "shown"),
    [
        pytest.param(
            ("-f", "value", "-c", "resource_name", "-c", "resource_status", "--limit", "2"),
            "second CREATE_COMPLETE\nweb CREATE_COMPLETE\n",
            id="value",
        ),
        pytest.param(
            ("-c", "resource_status", "--resource", "first"),
            "CREATE_IN_PROGRESS\nCREATE_COMPLETE\n",
            id="table",
        ),
        pytest.param(
            ("-f", "yaml", "-c", "resource_name", "--limit", "2"),
            "- resource_name: second\n- resource_name: web\n",
            id="yaml",
        ),
        pytest.param(("--limit", "0"), "", id="nothing-of-what-was"),
    ],
)
def test_followed_events_are_chosen_like_listed_ones(
    zonda: Zonda, words: tuple[str, ...], shown: str
) -> None:
    assert zonda(*FOLLOW, *words).out == shown


@pytest.mark.usefixtures("web")
def test_a_column_that_is_not_there_cannot_be_followed(zonda: Zonda) -> None:
    assert "resource_name" in zonda(*FOLLOW, "-c", "nonsense", code=2).err


# -- what is given ----------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["FIFO", "FOLDER"])
def test_only_plain_files_are_read(zonda: Zonda, tmp_path: Path, file: str) -> None:
    os.mkfifo(tmp_path / "FIFO")
    (tmp_path / "FOLDER").mkdir()

    done = zonda("template", "validate", "-t", tmp_path / file, code=2)

    assert f"it is a {'pipe' if file == 'FIFO' else 'folder'}" in done.err


@pytest.mark.parametrize("folder", ["/dev/fd", "/proc/self/fd"])
def test_a_pipe_that_a_shell_has_opened_is_read(zonda: Zonda, folder: str) -> None:
    reader, writer = os.pipe()
    try:
        with os.fdopen(writer, "w") as out:
            out.write(TEMPLATE)
        zonda("template", "validate", "-t", f"{folder}/{reader}")
    finally:
        os.close(reader)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param(("-t", "-"), 0, id="template"),
        pytest.param(("-t", "-", "-e", "-"), 2, id="twice"),
        pytest.param(("-t", "-", "--parameter-file", "p=-"), 2, id="parameter"),
    ],
)
def test_a_template_comes_from_standard_input(
    tmp_path: Path, words: tuple[str, ...], code: int
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "zonda", "template", "validate", *words, "--home", str(tmp_path)],
        input=TEMPLATE,
        capture_output=True,
        text=True,
    )

    assert done.returncode == code, done.stderr


@pytest.mark.parametrize(
    ("name", "words", "notes"),
    [
        pytest.param("1x", (), [], id="stack-name"),
        pytest.param("web", ("-P", "nope=1"), [], id="unknown-parameter"),
        pytest.param("web", ("-P", "size=x"), [2], id="wrong-value"),
    ],
)
def test_what_the_command_line_got_wrong_has_no_place_in_the_template(
    zonda: Zonda, write: Write, name: str, words: tuple[str, ...], notes: list[int]
) -> None:
    text = "parameters: {size: {type: number, default: 1}}\n"
    template = write("t.yaml", f"heat_template_version: rocky\n{text}")

    done = zonda("stack", "create", name, "-t", template, *words, "-f", "json", code=2)

    (error,) = done.data["errors"]
    assert (error["file"], error["line"]) == (None, None)
    assert [note["line"] for note in error["related"]] == notes


@pytest.mark.sqlite
def test_a_database_that_is_a_folder_is_called_one(zonda: Zonda, tmp_path: Path) -> None:
    url = f"database_url=sqlite:///{tmp_path}"

    assert "is a folder" in zonda("stack", "list", "--set", url, code=1).err


@pytest.mark.sqlite
def test_a_database_that_cannot_be_reached_is_no_fault_of_zonda(zonda: Zonda) -> None:
    url = f"database_url=sqlite:////tmp/{'x' * 300}"

    assert "cannot be reached" in zonda("stack", "list", "--set", url, code=1).err


@pytest.mark.parametrize("words", [("demo", "--folder")])
def test_a_demo_that_cannot_be_made_says_so(
    zonda: Zonda, write: Write, words: tuple[str, ...]
) -> None:
    folder = write("file", "") / "demo"

    done = zonda(*words, folder, code=1)

    assert f"The folder {folder} cannot be made" in done.err


def test_the_home_is_made_for_its_owner_alone(zonda: Zonda, template: Path, tmp_path: Path) -> None:
    zonda("stack", "create", "web", "-t", template)

    home = tmp_path / "home"
    assert home.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o077 for path in home.iterdir()} == {0}


def test_a_lost_key_stops_every_command(zonda: Zonda, template: Path, tmp_path: Path) -> None:
    zonda("stack", "create", "web", "-t", template)
    key = tmp_path / "home" / "zonda.key"
    key.unlink()

    for words in (("stack", "list"), ("stack", "delete", "-y", "web")):
        assert "is missing" in zonda(*words, code=1).err
    assert not key.exists()


def test_all_faults_of_the_settings_are_told_by_any_command(zonda: Zonda, write: Write) -> None:
    file = write("home/zonda.toml", 'default_runner = "x"\n[runners.lab]\nbogus = 1\n')

    said = zonda("stack", "list", code=2).err

    assert f"{file}:1: default_runner" in said
    assert f"{file}:2: [runners.lab]: endpoint" in said
    assert f"{file}:3: [runners.lab]: bogus" in said


def test_reasons_cannot_steer_the_terminal(zonda: Zonda, write: Write) -> None:
    plugin = (
        "from zonda.hooks import resource\n"
        "class Loud(resource.Resource):\n"
        "    def handle_create(self):\n"
        "        raise ValueError('a\\x1b[2Jb')\n"
        "def resource_mapping():\n"
        "    return {'My::Loud': Loud}\n"
    )
    write("home/plugins/loud.py", plugin)
    template = write("l.yaml", "heat_template_version: rocky\nresources: {a: {type: My::Loud}}\n")

    done = zonda("stack", "create", "web", "-t", template, code=1)

    assert "\x1b" not in done.err + done.out
    assert "a\\x1b[2Jb" in done.err
    assert "\x1b" not in zonda(*FOLLOW, code=1).out
