"""Every page of the registry of codes: its wrong example gives its code, its right one nothing."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from zonda.core.cli.main import main
from zonda.core.diagnostics import codes as registry
from zonda.core.diagnostics.codes import Example, Page
from zonda.hooks.errors import ZondaError

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("core", "hooks", "builtin_resources", "workflows")
PAGES = [pytest.param(page, id=code) for code, page in registry.load_pages().items()]


def told(
    example: Example, folder: Path, capsys: pytest.CaptureFixture[str]
) -> tuple[int, list[str]]:
    """The exit code and the codes that the example ends with."""
    for name, text in example.files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    if not example.commands:
        return 0, list(raised(example))
    for number, command in enumerate(example.commands, 1):
        program, *words = shlex.split(command)
        assert program == "zonda"
        capsys.readouterr()
        ended = main([*words, "--home", str(folder / "home")])
        assert ended == 0 or number == len(example.commands), capsys.readouterr().err
    said = capsys.readouterr().err
    return ended, re.findall(r"\[(ZON\d+)\]$", said, re.M)


def raised(example: Example) -> Iterator[str]:
    for name, text in example.files.items():
        try:
            exec(compile(text, name, "exec"), {"__name__": "example"})
        except ZondaError as error:
            yield error.code


@pytest.mark.parametrize("page", PAGES)
def test_the_wrong_example_gives_exactly_this_code(
    page: Page,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)

    ended, codes = told(page.wrong, tmp_path, capsys)

    assert set(codes) == {page.code}
    if page.wrong.commands:
        assert (ended == 0) is (page.severity == registry.WARNING)


@pytest.mark.parametrize("page", PAGES)
def test_the_right_example_has_no_fault(
    page: Page,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)

    assert told(page.right, tmp_path, capsys) == (0, [])


def test_every_code_in_the_sources_has_a_page_and_every_page_a_code() -> None:
    sources = (path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
    written = {code for path in sources for code in re.findall(r'"(ZON\d{3})"', path.read_text())}
    assert written == set(registry.load_pages())


def test_the_document_of_codes_is_generated() -> None:
    assert registry.format_pages() in (ROOT / "docs" / "reference" / "error-codes.md").read_text()


def run(capsys: pytest.CaptureFixture[str], home: Path, *words: str) -> tuple[int, str, str]:
    ended = main(["explain", *words, "--home", str(home)])
    shown = capsys.readouterr()
    return ended, shown.out, shown.err


@pytest.mark.parametrize("written", ["ZON120", "zon120", "120"])
def test_a_page_is_shown(written: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ended, out, _ = run(capsys, tmp_path, written)

    assert ended == 0
    assert out.startswith("ZON120 (error): There is no such resource\n")
    assert "depends_on: oen" in out
    assert "depends_on: one" in out


def test_a_page_is_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, tmp_path, "ZON602", "-f", "json")

    data = json.loads(out)
    assert (data["code"], data["severity"]) == ("ZON602", "warning")
    assert data["wrong"]["commands"] == ["zonda template validate template.yaml"]
    assert set(data["right"]["files"]) == {"template.yaml"}


def test_without_a_code_all_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, tmp_path, "-f", "json")

    assert [row["Code"] for row in json.loads(out)] == list(registry.load_pages())


def test_an_unknown_code_gives_a_hint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ended, _, err = run(capsys, tmp_path, "ZON1200")

    assert ended == 2
    assert "[ZON208]" in err
    assert "Did you mean ZON" in err
