"""Sources of parameter values: variables, the environment beside the template, options."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Zonda = Callable[..., Any]
Write = Callable[[str, str], Path]

TEMPLATE = """
heat_template_version: 2018-08-31
parameters:
  size: {type: number, default: 1, constraints: [{range: {max: 90}}]}
  word: {type: string, hidden: true, default: longenough, constraints: [{length: {min: 6}}]}
  tags: {type: comma_delimited_list, default: none}
  map: {type: json, default: {}}
resources:
  child: {type: child.yaml}
outputs:
  size: {value: {get_param: size}}
  word: {value: {get_param: word}}
  tags: {value: {get_param: tags}}
  map: {value: {get_param: map}}
  inside: {value: {get_attr: [child, inner]}}
"""
CHILD = """
heat_template_version: 2018-08-31
parameters: {inner: {type: string, default: from the template}}
outputs: {inner: {value: {get_param: inner}}}
"""


@pytest.fixture
def template(write: Write) -> Path:
    write("child.yaml", CHILD)
    return write("t.yaml", TEMPLATE)


def outputs(zonda: Zonda) -> dict[str, Any]:
    shown = zonda("stack", "output", "show", "s", "--all", "--show-hidden", "-f", "json").data
    return {name: entry["output_value"] for name, entry in shown.items()}


def test_a_variable_gives_a_parameter_its_value(
    zonda: Zonda, template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZONDA_PARAM_size", "3")
    monkeypatch.setenv("ZONDA_PARAM_tags", "a,b")
    monkeypatch.setenv("ZONDA_PARAM_map", '{"a": [1]}')
    monkeypatch.setenv("ZONDA_PARAM_SIZE", "4")  # names are told apart as in templates
    monkeypatch.setenv("ZONDA_PARAM_nobody", "has asked")
    monkeypatch.setenv("ZONDA_PARAM_inner", "is of a nested stack")

    zonda("stack", "create", "s", "-t", template)

    assert outputs(zonda) == {
        "size": 3,
        "word": "longenough",
        "tags": ["a", "b"],
        "map": {"a": [1]},
        "inside": "from the template",
    }
    shown = zonda("stack", "environment", "show", "s", "-f", "json").data
    assert sorted(shown["parameters"]) == ["map", "size", "tags"]


def test_what_is_said_more_closely_wins(
    zonda: Zonda, template: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Template, variable, environment beside the template, -e, --parameter."""
    given = write("given.yaml", "parameters: {size: 5}\n")
    zonda("stack", "create", "s", "-t", template)
    assert outputs(zonda)["size"] == 1

    steps: list[tuple[Callable[[], object], tuple[Any, ...], int]] = [
        (lambda: monkeypatch.setenv("ZONDA_PARAM_size", "3"), (), 3),
        (lambda: write("zonda-environment.yaml", "parameters: {size: 4}\n"), (), 4),
        (lambda: None, ("-e", given), 5),
        (lambda: None, ("-e", given, "-P", "size=6"), 6),
    ]
    for prepare, options, size in steps:
        prepare()
        zonda("stack", "update", "s", "-t", template, *options)
        assert outputs(zonda)["size"] == size


def test_the_environment_beside_the_template_is_used_and_said(
    zonda: Zonda, template: Path, write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    beside = write("zonda-environment.yaml", "parameter_defaults: {inner: from beside}\n")
    monkeypatch.chdir(tmp_path.parent)

    said = zonda("stack", "create", "s", "-t", template).err
    assert f"The environment {beside} is used, since it is beside the template." in said
    assert outputs(zonda)["inside"] == "from beside"

    again = zonda("stack", "update", "s", "-t", template, "-e", beside).err
    assert "is used" not in again  # it was given
    plan = zonda("stack", "plan", "s", "-t", template)
    assert ("is used" in plan.err, "Nothing to do" in plan.out) == (True, True)


def test_a_fault_of_the_environment_beside_the_template_has_its_place(
    zonda: Zonda, template: Path, write: Write
) -> None:
    beside = write("zonda-environment.yaml", "parameters: {size: 500}\n")
    said = zonda("stack", "create", "s", "-t", template, code=2).err
    assert f"{beside}:1:14: error: Parameter 'size' is invalid" in said


def test_existing_keeps_what_there_is(
    zonda: Zonda, template: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    zonda("stack", "create", "s", "-t", template, "-P", "size=2")
    monkeypatch.setenv("ZONDA_PARAM_size", "3")
    write("zonda-environment.yaml", "parameters: {size: 4}\n")

    zonda("stack", "update", "s", "--existing")
    zonda("stack", "update", "s", "--existing", "-t", template)

    assert outputs(zonda)["size"] == 2


class Terminal(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("where", ["variable", "beside", "option", "default"])
def test_a_hidden_value_stays_hidden_wherever_it_comes_from(
    zonda: Zonda,
    template: Path,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    where: str,
) -> None:
    """Also in the line that an error shows on a terminal, and in the database."""
    given: tuple[Any, ...] = ()

    def say(word: str) -> None:
        nonlocal given
        if where == "variable":
            monkeypatch.setenv("ZONDA_PARAM_word", word)
        elif where == "beside":
            write("zonda-environment.yaml", f"parameters: {{word: {word}}}\n")
        elif where == "option":
            given = ("-e", write("env.yaml", f"parameters: {{word: {word}}}\n"))
        else:
            write("t.yaml", TEMPLATE.replace("longenough", word))

    say("hu5h")
    terminal = Terminal()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", terminal)
        zonda("stack", "create", "s", "-t", template, *given, code=2)
    assert "invalid" in terminal.getvalue()
    assert "hu5h" not in terminal.getvalue()

    say("hu5hhu5h")
    shown = zonda("stack", "create", "s", "-t", template, *given)
    shown = str(shown) + str(zonda("stack", "environment", "show", "s"))
    assert "hu5h" not in shown
    assert outputs(zonda)["word"] == "hu5hhu5h"
    kept = [path for path in (tmp_path / "home").rglob("*") if path.is_file()]
    assert [path for path in kept if b"hu5hhu5h" in path.read_bytes()] == []


@pytest.mark.parametrize(
    "text", ["", "# nothing", "just text", "[1]", "{", "parameters: [1]", "parameters: text"]
)
def test_a_text_that_is_no_template_is_an_error_as_without_variables(
    zonda: Zonda, write: Write, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    template = write("t.yaml", text)
    without = zonda("template", "validate", template, code=2).err
    monkeypatch.setenv("ZONDA_PARAM_a", "1")
    assert zonda("template", "validate", template, code=2).err == without


def test_a_fault_of_a_variable_names_it(
    zonda: Zonda, template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZONDA_PARAM_size", "500")
    said = zonda("template", "validate", template, code=2).err
    assert "ZONDA_PARAM_size:1:17: error: Parameter 'size' is invalid" in said


@pytest.mark.parametrize("name", ["", ".", "/"])
def test_a_folder_without_a_name_is_no_template(name: str, zonda: Zonda) -> None:
    said = zonda("stack", "create", "s", "-t", name, code=2).err
    assert "cannot be read: it is a folder" in said
