"""Stacks whose collection is gone, broken or another one than when they were made."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from commands import Zonda

MODULE = """
DOCUMENTATION = '''
module: thing
short_description: Writes a file
description: [Writes a file.]
options:
  path: {description: The file., type: path, required: true}
  text: {description: What is in it., type: str}
  state: {description: What., type: str, choices: [present, absent], default: present}
'''
from ansible.module_utils.basic import AnsibleModule
import os
def main():
    module = AnsibleModule(dict(path=dict(type="path", required=True), text=dict(),
        state=dict(choices=["present", "absent"], default="present")), supports_check_mode=True)
    path = module.params["path"]
    before = open(path).read() if os.path.exists(path) else None
    after = module.params["text"] if module.params["state"] == "present" else None
    if before != after and not module.check_mode:
        if after is None:
            os.remove(path)
        else:
            open(path, "w").write(after)
    module.exit_json(changed=before != after)
if __name__ == "__main__":
    main()
"""
TEMPLATE = """
heat_template_version: 2018-08-31
parameters:
  text: {type: string, default: one}
resources:
  thing:
    type: Ansible::acme.tools.thing
    properties: {path: %s, text: {get_param: text}}
"""


@pytest.fixture
def module(collection: Path) -> Path:
    file = collection / "plugins" / "modules" / "thing.py"
    file.write_text(MODULE)
    return file


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """The file that the stack makes."""
    return tmp_path / "made"


@pytest.fixture
def zonda(module: Path, made: Path, tmp_path: Path) -> Zonda:
    """The commands, with a stack that was made."""
    (tmp_path / "template.yaml").write_text(TEMPLATE % made)
    found = Zonda(tmp_path, ["-t", str(tmp_path / "template.yaml")])
    found.run_with_template("create", "s")
    assert made.read_text() == "one"
    return found


def test_a_collection_that_is_gone(
    zonda: Zonda, collection: Path, made: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    shutil.move(collection, kept)
    said = zonda.run_with_template("update", "s", "--parameter", "text=two", code=2)
    assert "Ansible::acme.tools.thing" in said
    assert "template.yaml:7:" in said
    assert "acme.tools.thing" in zonda.run("drift", "check", "s", code=4)
    said = zonda.run("delete", "s", "-y", code=1)
    assert "resources.thing: The Resource Type (Ansible::acme.tools.thing) could not" in said
    assert "Install or repair the plug-in" in zonda.run("why", "s")
    assert made.read_text() == "one"

    shutil.move(kept, collection)
    zonda.run("delete", "s", "-y")
    assert not made.exists()


@pytest.mark.parametrize("text", ["DOCUMENTATION = '''[broken'''", "", "\x00\x01"])
def test_a_collection_that_is_broken(text: str, zonda: Zonda, module: Path, made: Path) -> None:
    module.write_text(text)
    said = zonda.run_with_template("update", "s", "--parameter", "text=two", code=2)
    assert "template.yaml:7:" in said
    assert "acme.tools.thing cannot be used: " in said
    assert "Install its collection anew" in said
    zonda.run("drift", "check", "s", code=4)
    assert "acme.tools.thing cannot be used: " in zonda.run("delete", "s", "-y", code=1)
    assert made.read_text() == "one"

    module.write_text(MODULE)
    zonda.run("delete", "s", "-y")
    assert not made.exists()


def test_a_setting_that_stops_ansible(
    module: Path, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "template.yaml").write_text(TEMPLATE % made)
    zonda = Zonda(tmp_path, ["-t", str(tmp_path / "template.yaml")])
    monkeypatch.setenv("ANSIBLE_FORKS", "many")
    said = zonda.run_with_template("create", "s", code=2)
    assert "acme.tools.thing cannot be used: ansible-core cannot be run" in said
    assert "'ansible --version' tells why" in said
    monkeypatch.delenv("ANSIBLE_FORKS")
    zonda.run_with_template("create", "s")


def test_a_collection_that_is_back(
    zonda: Zonda, collection: Path, made: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    shutil.move(collection, kept)
    zonda.run_with_template("update", "s", "--parameter", "text=two", code=2)
    shutil.move(kept, collection)
    zonda.run_with_template("update", "s", "--parameter", "text=two")
    assert made.read_text() == "two"


def test_another_version_of_a_collection(
    zonda: Zonda, collection: Path, module: Path, made: Path
) -> None:
    manifest = {"collection_info": {"version": "2.0.0-longer"}}
    (collection / "MANIFEST.json").write_text(json.dumps(manifest))
    module.write_text(
        MODULE.replace("  path: {", "  target: {")
        .replace("path=dict(", "target=dict(")
        .replace('params["path"]', 'params["target"]')
    )
    said = zonda.run_with_template("update", "s", code=2)
    assert "Unknown Property path" in said
    assert "template.yaml:8:" in said
    assert "acme.tools 1.2.3; now 2.0.0-longer" in zonda.run("delete", "s", "-y", code=1)
    assert made.read_text() == "one"

    module.write_text(
        MODULE.replace("  text: {", "  words: {").replace("text=dict()", "words=dict()")
    )
    zonda.run("delete", "s", "-y")  # what removes the thing is known
    assert not made.exists()
