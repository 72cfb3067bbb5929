"""Commands for a server: what they say of it, and what they leave to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from zonda.core.api.identity.tokens import add_token
from zonda.core.cli.main import main

from .server import Server

SLOW = """
heat_template_version: 2018-08-31
parameters:
  word: {type: string, default: one}
resources:
  slow: {type: OS::Heat::TestResource, properties: {value: {get_param: word}, wait_secs: 3}}
"""
QUICK = """
heat_template_version: 2018-08-31
resources:
  quick: {type: OS::Heat::RandomString}
"""
MANIFEST = """
zonda_type: 1
name: Acme::Disk
description: Needs make-disk.
properties:
  size: {type: integer, required: true}
actions: {CREATE: make-disk}
"""
Run = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def other() -> Iterator[Server]:
    """A server."""
    made = Server()
    yield made
    made.close()


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command with a home that no server has; gives its exit code and what it shows."""

    def running(*words: str | Path) -> tuple[int, str]:
        capsys.readouterr()
        code = main([*map(str, words), "--home", str(tmp_path / "client")])
        shown = capsys.readouterr()
        return code, shown.out + shown.err

    return running


@pytest.fixture
def served(other: Server, tmp_path: Path) -> Iterator[Server]:
    """A server that lasts for the test."""
    with other.serve({"home": str(tmp_path / "served"), "log": "off"}):
        yield other


@pytest.mark.parametrize(
    "words",
    [
        ("engine", "run"),
        ("serve",),
        ("runner", "stop"),
        ("sink", "list"),
        ("sink", "skip", "x"),
        ("plugin", "check", "x"),
        ("token", "create", "ann", "--project", "p"),
        ("token", "list"),
        ("token", "revoke", "x"),
        ("resource", "type", "docs"),
        ("demo",),
    ],
    ids=" ".join,
)
def test_commands_for_this_machine_say_so(served: Server, run: Run, words: tuple[str, ...]) -> None:
    code, said = run(*words)

    assert code == 2
    assert f"works on this machine only, and commands are for the server at {served.url}" in said
    assert "Unset ZONDA_URL" in said


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("resource", "type", "list", "--long"), "Acme::Disk"),
        (("resource", "type", "list", "--filter", "acme", "-f", "value"), "Acme::Disk"),
        (("resource", "type", "show", "Acme::Disk"), "make-disk"),
        (("resource", "type", "template", "Acme::Disk"), "type: Acme::Disk"),
        (("resource", "type", "template", "Acme::Disk", "--example"), "type: Acme::Disk"),
        (("template", "schema"), "Acme::Disk"),
        (("template", "schema", "--version", "rocky"), "Acme::Disk"),
        (("plugin", "list"), "Acme::Disk"),
        (("plugin", "list", "-f", "json"), "Acme::Disk"),
        (("template", "function", "list", "2018-08-31"), "get_attr"),
        (("template", "function", "list", "2018-08-31", "--with-conditions"), "equals"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_types_and_functions_are_those_of_the_server(
    other: Server, run: Run, tmp_path: Path, words: tuple[str, ...], shown: str
) -> None:
    types = tmp_path / "served" / "types"
    types.mkdir(parents=True)
    (types / "disk.yaml").write_text(MANIFEST)
    with other.serve({"home": str(tmp_path / "served"), "log": "off"}):
        code, said = run(*words)

    assert (code, shown in said) == (0, True), said
    assert not (tmp_path / "client").exists()


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        (("resource", "type", "show", "OS::No::Such"), "resource type (OS::No::Such)"),
        (("template", "function", "list", "1999-01-01"), "template version (1999-01-01)"),
        (("template", "schema", "--version", "1999-01-01"), "template version (1999-01-01)"),
    ],
    ids=["type", "version", "schema"],
)
def test_what_the_server_does_not_have_is_not_found(
    served: Server, run: Run, words: tuple[str, ...], missing: str
) -> None:
    code, said = run(*words)
    assert (code, missing.lower() in said.lower()) == (1, True), said


def test_the_file_of_a_manifest_is_read_on_this_machine(
    served: Server, run: Run, tmp_path: Path
) -> None:
    file = tmp_path / "disk.yaml"
    file.write_text(MANIFEST)
    for words in (("show",), ("template",), ("template", "--example")):
        code, said = run("resource", "type", words[0], file, *words[1:])
        assert (code, "Acme::Disk" in said) == (0, True), said
    file.write_text(MANIFEST.replace("integer", "integre"))
    code, said = run("resource", "type", "show", file)
    assert (code, f"{file}:" in said) == (1, True), said
    assert not (tmp_path / "client").exists()


def test_a_running_action_is_the_servers(served: Server, run: Run, tmp_path: Path) -> None:
    slow, quick = tmp_path / "slow.yaml", tmp_path / "quick.yaml"
    slow.write_text(SLOW)
    quick.write_text(QUICK)

    code, said = run("stack", "create", "web", "-t", slow, "--no-wait")
    assert (code, said.strip()) == (0, f"Planned; the server at {served.url} does it.")

    code, said = run("stack", "update", "web", "-t", quick)
    assert code == 1
    assert f"the server at {served.url} carries it out" in said

    assert not (tmp_path / "client").exists()


@pytest.mark.parametrize("second", ["other word", "without it"])
def test_an_update_takes_the_place_of_the_running_action(
    served: Server, run: Run, tmp_path: Path, second: str
) -> None:
    slow, quick = tmp_path / "slow.yaml", tmp_path / "quick.yaml"
    slow.write_text(SLOW)
    quick.write_text(QUICK)
    assert run("stack", "create", "web", "-t", slow, "--no-wait")[0] == 0

    newer = ("-t", slow, "-P", "word=two") if second == "other word" else ("-t", quick)
    code, said = run("stack", "update", "web", *newer, "--supersede")

    assert (code, "Stack web UPDATE_COMPLETE" in said) == (0, True)
    history = run("stack", "history", "web", "-f", "value", "-c", "Status")[1]
    assert sorted(history.split()) == ["COMPLETE", "SUPERSEDED"]


def test_a_token_shows_the_stacks_of_its_project(
    other: Server, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "served"
    home.mkdir()
    for project in ("p1", "p2"):
        roles = '["member"]' if project == "p1" else '["reader"]'
        row = {"user": '"ann"', "project": f'"{project}"', "roles": roles}
        add_token(home / "tokens.toml", f"token-of-{project}", row)
    template = tmp_path / "t.yaml"
    template.write_text(QUICK)
    with other.serve({"home": str(home), "log": "off", "identity": "tokens"}):
        code, said = run("stack", "list")
        assert (code, "does not accept the token" in said) == (1, True)

        monkeypatch.setenv("ZONDA_TOKEN", "token-of-p1")
        assert run("stack", "create", "web", "-t", template)[0] == 0
        stack = run("stack", "show", "web", "-f", "value", "-c", "id")[1].strip()

        monkeypatch.setenv("ZONDA_TOKEN", "token-of-p2")
        assert run("stack", "list", "-f", "value")[1] == ""
        for words in (("stack", "show", stack), ("stack", "event", "list", stack)):
            code, said = run(*words)
            assert (code, "could not be found" in said) == (1, True)
        for words in (("stack", "create", "mine", "-t", template), ("plugin", "list")):
            code, said = run(*words)
            assert (code, "not authorized" in said) == (1, True)


def test_types_of_this_machine_travel_with_a_template(
    served: Server, run: Run, tmp_path: Path
) -> None:
    types = tmp_path / "client" / "types"
    types.mkdir(parents=True)
    (types / "disk.yaml").write_text(MANIFEST)
    template = tmp_path / "t.yaml"
    template.write_text(
        "heat_template_version: 2018-08-31\n"
        "resources: {disk: {type: Acme::Disk, properties: {size: 3}}}\n"
    )

    code, said = run("stack", "plan", "s", "-t", template)

    assert code == 2
    assert "CREATE of Acme::Disk cannot be carried out: The workflow make-disk" in said
