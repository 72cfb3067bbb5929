"""``examples/capabilities``: its README prints what the commands print."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "capabilities"


def printed() -> list[tuple[str, str, str]]:
    """(folder, command, what it prints) in the order of the README."""
    text = (EXAMPLE / "README.md").read_text()
    folder, found = "", []
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S):
        for part in block.split("$ ")[1:]:
            command, _, output = part.partition("\n")
            if command.startswith("cd "):
                moved = command.removeprefix("cd ")
                folder = os.path.normpath(os.path.join(folder, moved))
            else:
                found.append((folder, command, output))
    return found


@pytest.mark.parametrize(
    ("folder", "command", "output"),
    [each for each in printed() if " stack " not in each[1]],
    ids=lambda value: value if value.startswith("zonda") else "",
)
def test_the_commands_of_the_readme(
    zonda: Any, monkeypatch: pytest.MonkeyPatch, folder: str, command: str, output: str
) -> None:
    monkeypatch.chdir(EXAMPLE.parents[1] / folder)

    done = zonda(*shlex.split(command)[1:])

    assert done.out == output if output else done.out


@pytest.mark.parametrize(
    ("deployment", "missing"),
    [("puppet", []), ("docker", ["registry"])],
)
def test_each_choice_has_its_own_parameters(
    zonda: Any,
    write: Any,
    monkeypatch: pytest.MonkeyPatch,
    deployment: str,
    missing: list[str],
) -> None:
    monkeypatch.chdir(EXAMPLE)
    more = write("more.yaml", f"requires: {{deployment: {deployment}}}\n")
    sources = ("-t", "overcloud.yaml", "-e", "environment.yaml", "-e", more)

    data = zonda("template", "parameters", *sources, "--missing", "-f", "json").data

    assert [each["name"] for each in data["parameters"]] == missing


def test_nobody_fits(zonda: Any, write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLE)
    more = write("more.yaml", "requires: {deployment: salt}\n")
    environments = ("-e", "environment.yaml", "-e", more)

    done = zonda("template", "explain-type", "OS::TripleO::Controller", *environments, code=2)

    assert "puppet/controller.yaml | no: puppet       | does not fit" in done.err
    assert "docker/controller.yaml | no: docker       | does not fit" in done.err


def test_the_stack_of_the_readme(zonda: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLE)
    said = []
    for _, command, _ in printed():
        if " stack " in command:
            zonda(*shlex.split(command)[1:])
        if " create " in command or " update " in command:
            shown = zonda("stack", "output", "show", "controllers", "--all", "-f", "json")
            said.append(shown.data["configuration"]["output_value"])

    assert said == [
        "puppet on baremetal with ntp, keystone",
        "docker on baremetal with registry.example.org",
    ]
