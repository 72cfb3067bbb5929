"""Templates with modules in an editor: faults at their places, completion of what there is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from language_server import ABSENT, LanguageServer

HEAD = "heat_template_version: '2018-08-31'\nresources:\n  a:\n    type: Ansible::%s\n"


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The schema with three modules."""
    folder = tmp_path_factory.mktemp("schema")
    command = [sys.executable, "-m", "zonda", "--home", str(folder / "home"), "template", "schema"]
    chosen = ["--type", "Ansible::ansible.builtin.[uf]*", "--type", "Ansible::ansible.builtin.cron"]
    made = folder / "schema.json"
    with made.open("w") as file:
        subprocess.run([*command, *chosen], stdout=file, check=True)
    return made


def find_faults(schema: Path, module: str, properties: str) -> list[tuple[str, str]]:
    """(place in the properties, message) of all that is wrong with them."""
    text = f"{HEAD % module}    properties: {properties}\n"
    checker = Draft202012Validator(json.loads(schema.read_text()))
    return [
        (each.json_path.removeprefix("$.resources.a.properties").lstrip("."), each.message)
        for error in checker.iter_errors(yaml.safe_load(text))
        for each in _list_innermost(error)
    ]


def _list_innermost(error: Any) -> Iterator[Any]:
    if not error.context:
        yield error
    for each in error.context or ():
        yield from _list_innermost(each)


@pytest.mark.parametrize(
    ("module", "properties"),
    [
        ("ansible.builtin.file", "{dest: /x, mode: '0644'}"),  # another name of `path`
        ("ansible.builtin.file", "{path: /x, state: {get_param: p}}"),
        ("ansible.builtin.file", "{if: [true, {path: /x}, {}]}"),
        ("ansible.builtin.user", "{name: x, groups: 'a,b', uid: '7', password: {get_param: p}}"),
        ("ansible.builtin.cron", "{name: x, job: y, ansible_on: {address: a, port: 22}}"),
        ("ansible.builtin.lineinfile", "{any: thing}"),  # known by its name alone
    ],
)
def test_what_a_module_takes_is_valid(schema: Path, module: str, properties: str) -> None:
    assert find_faults(schema, module, properties) == []


@pytest.mark.parametrize(
    ("module", "properties", "place", "message"),
    [
        ("ansible.builtin.user", "{name: x, shel: y}", "", "'shel' was unexpected"),
        (
            "ansible.builtin.user",
            "{name: x, state: there}",
            "state",
            "not one of ['absent', 'present']",
        ),
        ("ansible.builtin.user", "{name: x, uid: []}", "uid", "[] is not of type"),
        ("ansible.builtin.file", "{mode: '0644'}", "", "'path' is a required property"),
        ("ansible.builtin.user", "{name: x, ansible_on: {hst: a}}", "ansible_on", "'hst' was"),
    ],
)
def test_what_is_wrong_is_marked_at_its_place(
    schema: Path, module: str, properties: str, place: str, message: str
) -> None:
    found = find_faults(schema, module, properties)
    assert any(at == place and message in said for at, said in found), found


def test_every_module_is_known_by_name_and_few_in_full(schema: Path) -> None:
    made = json.loads(schema.read_text())
    kinds = made["$defs"]["resource"]["properties"]["type"]["anyOf"]
    names = {name for each in kinds for name in each.get("enum", ())}
    assert "Ansible::ansible.builtin.lineinfile" in names
    assert "Ansible::ansible.builtin.user" not in names
    described = {name.removeprefix("type ") for name in made["$defs"]}
    assert "Ansible::ansible.builtin.user" in described
    assert not names & described
    token = made["$defs"]["type Ansible::ansible.builtin.user"]["properties"]["properties"]
    assert "default" not in token["anyOf"][1]["properties"]["password"]


@pytest.fixture
def editor(schema: Path, tmp_path: Path) -> Iterator[LanguageServer]:
    program = shutil.which("yaml-language-server")
    if program is None:
        if os.environ.get("ZONDA_EDITOR_TESTS") == "required":
            pytest.fail(ABSENT)
        pytest.skip(ABSENT)
    made = LanguageServer(program, tmp_path, schema)
    yield made
    made.stop()


def test_an_editor_marks_and_completes(editor: LanguageServer) -> None:
    text = (
        f"{HEAD % 'ansible.builtin.file'}    properties:\n      dest: /x\n      state: ther\n"
        "  b:\n    type: Ansible::ansible.builtin.user\n    properties:\n      nme: x\n"
        "      state: \n  c:\n    type: \n"
    )
    lines = text.splitlines()
    faults = editor.list_faults(text)
    assert '"absent", "directory"' in faults[lines.index("      state: ther")]
    assert "nme is not allowed" in faults[lines.index("      nme: x")]
    at = lines.index("      state: ")
    assert {"present", "absent"} <= editor.complete(at, len(lines[at]))
    assert {"shell", "password", "ansible_on"} <= editor.complete(lines.index("      nme: x"), 6)
    names = editor.complete(len(lines) - 1, len(lines[-1]))
    assert {"Ansible::ansible.builtin.user", "Ansible::ansible.builtin.lineinfile"} <= names
