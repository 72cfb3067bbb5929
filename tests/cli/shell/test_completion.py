"""Completion: candidates, and that real shells show them."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from zonda.core.cli import commands
from zonda.core.cli.main import main

Zonda = Callable[..., Any]
Write = Callable[[str, str], Path]
Complete = Callable[..., list[str]]

PROGRAM = Path(sys.executable).with_name("zonda")
TEMPLATE = """
heat_template_version: 2018-08-31
resources:
  web: {type: child.yaml}
  wall: {type: OS::Heat::None}
  group: {type: OS::Heat::ResourceGroup, properties: {count: 2, resource_def: {type: child.yaml}}}
"""
CHILD = """
heat_template_version: 2018-08-31
resources: {database: {type: OS::Heat::None}}
"""


@pytest.fixture
def complete(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Complete:
    """What is offered for the last of the words, without what it means; first what it is."""

    def run(*words: str, shell: str = "fish") -> list[str]:
        capsys.readouterr()
        assert main(["__complete", shell, "--home", str(tmp_path / "home"), *words]) == 0
        kind, *lines = capsys.readouterr().out.splitlines()
        offered = [line.split("\t")[0] for line in lines]
        return offered if kind == "words" else [kind, *offered]

    return run


@pytest.fixture
def stacks(zonda: Zonda, write: Write) -> None:
    write("child.yaml", CHILD)
    template = write("t.yaml", TEMPLATE)
    for name in ("shop", "shelf", "other"):
        zonda("stack", "create", name, "-t", template)
    zonda("stack", "create", "theirs", "-t", template, "--set", "project=another")
    zonda("stack", "delete", "-y", "other")


def test_commands_are_completed_word_by_word(complete: Complete) -> None:
    assert complete("") == [*dict.fromkeys(name.split()[0] for name in commands.COMMANDS)]
    assert complete("sta") == ["stack"]
    assert complete("stack", "re") == ["retry", "resume", "resource"]
    assert complete("stack", "resource", "mark", "") == ["unhealthy"]
    assert complete("nonsense", "") == []
    assert complete("help", "stack", "sh") == ["show"]


def test_a_word_comes_with_what_it_means(capsys: pytest.CaptureFixture[str]) -> None:
    main(["__complete", "fish", "stack", "sho"])
    assert capsys.readouterr().out == "words\nshow\tShow one stack.\n"


def test_options_are_completed_and_those_that_count_once_only_once(complete: Complete) -> None:
    assert complete("stack", "create", "--en") == ["--environment", "--enable-rollback"]
    assert complete("stack", "create", "-e", "x", "-t", "y", "--en") == [
        "--environment",
        "--enable-rollback",
    ]
    assert "--template" not in complete("stack", "create", "-t", "y", "--")
    assert "--home" not in complete("stack", "create", "--h")  # it was given in front
    assert "-f" in complete("stack", "list", "-")


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("stack", "list", "-f", ""), ["table", "json", "yaml", "value", "csv"]),
        (("stack", "list", "--format=y"), ["--format=yaml"]),
        (("stack", "create", "-t", ""), ["files"]),
        (("stack", "create", "--template=a"), ["files"]),
        (("stack", "create", "-P", ""), []),
        (("stack", "apply", ""), ["files"]),
        (("demo", "--folder", ""), ["folders"]),
        (("completion", ""), ["bash", "zsh", "fish"]),
        (("stack", "create", "--nonsense", "x", ""), []),
    ],
)
def test_the_value_of_an_option_is_completed(
    complete: Complete, words: tuple[str, ...], offered: list[str]
) -> None:
    assert complete(*words) == offered


def test_bash_takes_an_equals_sign_for_a_word_of_its_own(complete: Complete) -> None:
    assert complete("stack", "list", "--format", "=", "y", shell="bash") == ["yaml"]
    assert complete("stack", "list", "--format", "=", shell="bash")[0] == "table"


@pytest.mark.usefixtures("stacks")
def test_stacks_and_resources_are_completed(complete: Complete) -> None:
    assert complete("stack", "show", "") == ["shelf", "shop"]
    assert complete("stack", "show", "sho") == ["shop"]
    assert complete("stack", "show", "shop/") == ["shop/group", "shop/web"]
    assert complete("stack", "show", "shop/group/") == ["shop/group/0", "shop/group/1"]
    assert complete("stack", "delete", "shop", "") == ["shelf"]
    assert complete("stack", "resource", "show", "shop", "w") == ["wall", "web"]
    assert complete("stack", "resource", "show", "shop", "group/1/") == ["group/1/database"]
    assert complete("stack", "resource", "show", "shop/web", "") == ["database"]
    assert complete("stack", "update", "shop", "--target", "wa") == ["wall"]
    assert complete("stack", "why", "nothing", "") == []
    assert complete("stack", "why", "\udcff", "") == []  # a byte that is no text
    assert complete("stack", "show", "--set", "project=another", "") == ["theirs"]


@pytest.mark.parametrize("database", [None, b"", b"no database", b"SQLite format 3\0"])
def test_what_cannot_be_read_has_no_names_and_no_complaint(
    complete: Complete, tmp_path: Path, database: bytes | None
) -> None:
    if database is not None:
        (tmp_path / "home").mkdir()
        (tmp_path / "home" / "zonda.db").write_bytes(database)
    assert complete("stack", "show", "") == []
    assert complete("stack", "resource", "show", "shop", "") == []
    assert (tmp_path / "home").exists() is (database is not None)


def test_wrong_settings_have_no_names_either(complete: Complete, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "zonda.toml").write_text("wokers = 1\n")
    assert complete("stack", "show", "") == []


@pytest.mark.sqlite  # a process of its own, with a file
@pytest.mark.usefixtures("stacks")
def test_completion_imports_next_to_nothing(tmp_path: Path) -> None:
    script = (
        "import sys; from zonda.core.cli.main import main; main(sys.argv[1:]);"
        "print(*sys.modules, sep='\\n', file=sys.stderr)"
    )
    words = ["__complete", "bash", "--home", str(tmp_path / "home"), "stack", "show", "s"]
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True)
    assert done.stdout.split() == ["words", "shelf", "shop"]
    found = set(done.stderr.split())
    assert not found & {"argparse", "yaml", "logging", "zonda.core.app.app", "cryptography", "json"}
    commands_ = {name for name in found if name.startswith("zonda.core.cli.stack")}
    assert commands_ | (found & {"zonda.core.cli.parsers", "zonda.core.cli.session"}) == set()
    store = {name for name in found if name.startswith("zonda.core.store.")}
    assert store - {"zonda.core.store.read", "zonda.core.store.schema"} == {
        "zonda.core.store.read.names",
        "zonda.core.store.schema.prepared",
    }


# -- real shells ----------------------------------------------------------------------------------


class Shell:
    """A shell at a terminal; ``type`` writes keys, ``until`` reads what it shows."""

    def __init__(self, words: list[str], env: dict[str, str], folder: Path) -> None:
        self._master, slave = pty.openpty()
        self.shown = ""
        self._process = subprocess.Popen(
            words,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**os.environ, "TERM": "dumb", "COLUMNS": "200", **env},
            cwd=folder,
            start_new_session=True,
        )
        os.close(slave)

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def until(self, text: str) -> None:
        """Read until ``text`` is shown; fails where nothing comes any more."""
        while text not in self.shown:
            assert select.select([self._master], [], [], 60.0)[0], self.shown
            self.shown += os.read(self._master, 4096).decode(errors="replace")
        self.shown = self.shown.split(text, 1)[1]

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)


def needs(shell: str) -> str:
    found = shutil.which(shell)
    if found is None and os.environ.get("ZONDA_SHELL_TESTS") != "required":
        pytest.skip(f"{shell} is not installed: apt-get install {shell}")
    assert found is not None
    return found


@pytest.fixture(params=["bash", "zsh"])
def terminal(request: pytest.FixtureRequest, stacks: None, tmp_path: Path) -> Iterator[Shell]:
    """An interactive shell that completes zonda."""
    shell = needs(request.param)
    setup = {
        "bash": 'PS1="ready> "; bind "set bell-style none"; eval "$(zonda completion bash)"\n',
        "zsh": 'PS1="ready> "; autoload -Uz compinit; compinit -u -D;'
        'unsetopt PROMPT_SP ZLE_BRACKETED_PASTE 2>/dev/null; eval "$(zonda completion zsh)"\n',
    }
    (tmp_path / ".rc").write_text(setup[request.param])
    (tmp_path / ".zshrc").write_text(setup["zsh"])
    words = {
        "bash": [shell, "--noprofile", "--rcfile", str(tmp_path / ".rc"), "-i"],
        "zsh": [shell, "-o", "NO_GLOBAL_RCS", "-i"],
    }
    path = f"{PROGRAM.parent}:{os.environ['PATH']}"
    env = {"PATH": path, "ZONDA_HOME": str(tmp_path / "home"), "ZDOTDIR": str(tmp_path)}
    opened = Shell(words[request.param], env, tmp_path)
    yield opened
    opened.close()


@pytest.mark.sqlite  # likewise
def test_a_shell_at_a_terminal_completes_words_names_options_and_files(terminal: Shell) -> None:
    terminal.until("ready> ")
    terminal.type("zonda stack resour\t")
    terminal.until("zonda stack resource ")
    terminal.type("sh\t")
    terminal.until("show ")
    terminal.type("shel\t")
    terminal.until("shelf ")
    terminal.type("wal\t")
    terminal.until("wall ")
    terminal.type("--form\t")
    terminal.until("--format ")
    terminal.type("shel\t")
    terminal.until("shell ")
    terminal.type("\x15zonda stack create -t chil\t")
    terminal.until("child.yaml ")


@pytest.mark.sqlite  # likewise
def test_fish_completes(stacks: None, tmp_path: Path) -> None:
    fish = needs("fish")
    script = """
zonda completion fish | source
complete -C 'zonda stack sh'
complete -C 'zonda stack show s'
complete -C 'zonda stack list --format=j'
complete -C 'zonda stack create -t chil'
"""
    env = {**os.environ, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}
    env |= {"ZONDA_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    done = subprocess.run(
        [fish, "--no-config", "-c", script], env=env, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stderr == ""
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == [
        *("show", "shelf", "shop", "--format=json", "child.yaml"),
    ]
