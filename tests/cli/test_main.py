"""Finding the command: help, misspelt words, options in front and behind, exit codes."""

from __future__ import annotations

import argparse
import gc
import importlib
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from zonda.core.cli import arguments, commands
from zonda.core.cli.console import streams
from zonda.core.cli.main import AS_PYTHON_DOES, COLLECTION, main


@pytest.mark.parametrize(
    ("words", "code", "where", "what"),
    [
        pytest.param([], 0, "out", "commands:", id="nothing"),
        pytest.param(["--help"], 0, "out", "stack create", id="help"),
        pytest.param(["-h"], 0, "out", "stack create", id="short-help"),
        pytest.param(["--version"], 0, "out", "zonda 0.", id="version"),
        pytest.param(["help"], 0, "out", "stack create", id="help-command"),
        pytest.param(["help", "stack", "create"], 0, "out", "--template", id="help-of-one"),
        pytest.param(["help", "stack", "drift"], 0, "out", "drift repair", id="help-of-several"),
        pytest.param(["help", "stack", "creat"], 2, "err", "zonda stack create", id="no-help"),
        pytest.param(["version"], 0, "out", "zonda 0.", id="version-command"),
        pytest.param(["version", "-f", "json"], 0, "out", '"python": "3.', id="version-as-data"),
        pytest.param(["stack"], 2, "err", "stack create", id="group"),
        pytest.param(["stack", "--help"], 0, "out", "stack create", id="help-of-a-group"),
        pytest.param(["stack", "output", "-h"], 0, "out", "output show", id="inner-group"),
        pytest.param(["stack", "create", "--help"], 0, "out", "--template", id="help-of-a-command"),
        pytest.param(["stack", "creat"], 2, "err", "zonda stack create", id="misspelt"),
        pytest.param(["nonsense"], 2, "err", "zonda --help", id="unknown"),
        pytest.param(["stack", "list", "--bogus"], 2, "err", "--bogus", id="unknown-option"),
        pytest.param(["--bogus"], 2, "err", "--bogus", id="unknown-option-in-front"),
        pytest.param(["stack", "show"], 2, "err", "STACK", id="argument-missing"),
        pytest.param(["stack", "list", "--form", "json"], 2, "err", "--form", id="abbreviation"),
        pytest.param(["stack", "list", "-f", "xml"], 2, "err", "xml", id="unknown-format"),
        pytest.param(["--set", "x", "stack", "list"], 2, "err", "NAME=VALUE", id="half-a-setting"),
        pytest.param(
            ["--set", "wokers=1", "stack", "list"], 2, "err", "workers", id="unknown-setting"
        ),
        pytest.param(["stack", "list", "--set", "workers=0"], 2, "err", "at least 1", id="behind"),
    ],
)
def test_exit_codes_and_what_is_said(
    capsys: pytest.CaptureFixture[str], words: list[str], code: int, where: str, what: str
) -> None:
    ended = main(words)

    shown = capsys.readouterr()
    assert ended == code
    assert what in getattr(shown, where)
    assert "Traceback" not in shown.err


def test_help_is_the_same_in_both_ways(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["stack"], ["stack", "drift", "ignore"], ["help"], ["version"]):
        main([*words, "--help"])
        shown = capsys.readouterr().out
        main(["help", *words])
        assert capsys.readouterr().out == shown


def test_options_may_stand_in_front(
    capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("home")

    assert main(["--home", str(home), "--set", "workers=2", "stack", "list", "-f", "json"]) == 0
    assert capsys.readouterr().out == "[]\n"


@pytest.mark.parametrize("name", commands.COMMANDS)
def test_every_command_of_the_table_is_there(name: str) -> None:
    command = commands.COMMANDS[name]
    module = importlib.import_module(f"zonda.core.cli.{command.module}")
    parser = argparse.ArgumentParser()

    arguments.add_arguments(getattr(module, command.name), parser)

    assert callable(getattr(module, command.name))
    assert command.help.endswith(".")


def test_help_imports_nothing_heavy() -> None:
    heavy = ("yaml", "sqlite3", "sqlalchemy", "rich", "requests", "yaql", "apscheduler", "json")
    heavy += ("pluggy", "inspect", "logging")
    script = (
        "import sys; from zonda.core.cli.main import main; main(['--help']);"
        f"print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)"
    )

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

    assert done.stderr.strip() == "[]"


def test_reading_imports_no_engine(tmp_path_factory: pytest.TempPathFactory) -> None:
    heavy = ["sqlalchemy", "alembic", "rich", "requests", "yaql", "apscheduler", "yaml"]
    heavy += ["zonda.core.store.read.drift_views", "pluggy", "inspect"]
    heavy += ["hashlib", "_hashlib", "hmac", "random", "secrets", "shutil"]
    home = str(tmp_path_factory.mktemp("home"))
    script = (
        "import sys; from zonda.core.cli.main import main;"
        f"main(['stack', 'list', '--home', {home!r}]);"
        "heavy = [name for name in sys.argv[1:] if name in sys.modules];"
        "heavy += sorted(name for name in sys.modules if name.startswith('zonda.core.engine.'));"
        "print(heavy, file=sys.stderr)"
    )

    done = subprocess.run([sys.executable, "-c", script, *heavy], capture_output=True, text=True)

    assert done.stderr == "[]\n"


def test_a_reader_that_goes_away_is_no_error() -> None:
    script = "from zonda.core.cli.main import main; import sys; sys.exit(main(['--help']))"
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()

    error = process.stderr.read()
    process.stderr.close()

    assert process.wait() == 0
    assert error == b""


def test_the_collector_is_lazy_while_a_command_runs_and_no_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before, seen = gc.get_threshold(), []
    monkeypatch.setattr(streams, "flush_output", lambda: seen.append(gc.get_threshold()))
    main(["--version"])
    assert seen == [COLLECTION]
    assert gc.get_threshold() == before


def test_debug_is_for_one_command_and_not_for_the_next_in_this_process(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    home = str(tmp_path_factory.mktemp("home"))
    root, own = logging.getLogger(), logging.getLogger("zonda")
    before = ([*root.handlers], root.level, own.level)
    for words in (["--debug"], [], ["--debug"]):
        assert main([*words, "--home", home, "stack", "list"]) == 0
        assert ([*root.handlers], root.level, own.level) == before


@pytest.mark.parametrize(
    ("words", "where", "as_python_does"),
    [
        pytest.param(("engine", "run"), "services.serve.engine", True, id="engine"),
        pytest.param(("serve", "--no-api"), "services.serve.serve", True, id="server"),
        pytest.param(("runner", "serve", "flow.yaml"), "services.serve.runner", True, id="runner"),
        pytest.param(("stack", "list"), "inspect.show.list_stacks", False, id="command"),
    ],
)
def test_what_runs_until_it_is_stopped_collects_garbage_as_python_does(
    zonda: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    words: tuple[str, ...],
    where: str,
    as_python_does: bool,
) -> None:
    (tmp_path / "home").mkdir()
    seen: list[tuple[int, int, int]] = []

    @arguments.takes(
        arguments.argument("file", nargs="?"),
        arguments.argument("--no-api", action="store_true"),
    )
    def watched(*_: object) -> int:
        seen.append(gc.get_threshold())
        return 0

    before = gc.get_threshold()
    monkeypatch.setattr(f"zonda.core.cli.{where}", watched)
    zonda(*words)
    assert [found == AS_PYTHON_DOES for found in seen] == [as_python_does]
    assert gc.get_threshold() == before
