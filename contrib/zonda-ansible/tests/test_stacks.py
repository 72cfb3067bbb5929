"""Whole stacks: what plans, events, errors and drift checks say."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from commands import Zonda
from lives import make_life
from zonda.hooks import ValidationErrors

HEAD = "heat_template_version: 2018-08-31\n"


def make_template(**resources: tuple[str, dict[str, Any]]) -> str:
    """A template of modules, each with its properties."""
    found = {
        name: {"type": module if "::" in module else f"Ansible::{module}", "properties": given}
        for name, (module, given) in resources.items()
    }
    return HEAD + yaml.safe_dump({"resources": found})


def test_values_that_others_give_later_count_as_given(zonda_stack: Any, tmp_path: Path) -> None:
    text = make_template(
        one=("OS::Heat::Value", {"value": "content\n"}),
        two=(
            "ansible.builtin.apt_key",
            {"data": {"get_attr": ["one", "value"]}, "url": "http://x", "state": "absent"},
        ),
    )
    with pytest.raises(ValidationErrors, match="give one of"):
        zonda_stack.create(text)


def test_drift_is_found_and_repaired(zonda_stack: Any, tmp_path: Path) -> None:
    one, two, three = (tmp_path / name for name in ("one", "two", "three"))
    text = make_template(
        one=("ansible.builtin.copy", {"dest": str(one), "content": "one\n", "mode": "0600"}),
        two=("ansible.builtin.copy", {"dest": str(two), "content": "two\n"}),
        three=("ansible.builtin.lineinfile", {"path": str(three), "line": "x", "create": True}),
    )
    assert zonda_stack.create(text).state == "CREATE_COMPLETE"
    assert zonda_stack.drift() == {}
    one.chmod(0o644)
    two.unlink()
    three.write_text("y\n")
    found = zonda_stack.drift()
    assert {name: each.verdict for name, each in found.items()} == {
        "one": "DRIFTED",
        "two": "MISSING",
        "three": "DRIFTED",
    }
    assert found["one"].reason == "differs in mode"
    assert zonda_stack.repair().state == "UPDATE_COMPLETE"
    assert zonda_stack.drift() == {}
    assert (two.read_text(), three.read_text()) == ("two\n", "y\nx\n")
    zonda_stack.delete()
    assert not one.exists()


def test_wrong_options_are_told_with_their_lines_and_documentation(zonda_stack: Any) -> None:
    text = make_template(
        choice=("ansible.builtin.user", {"name": "x", "state": "gone"}),
        inside=("ansible.builtin.user", {"name": "x", "groups": [["a"]]}),
        kind=("ansible.builtin.user", {"name": "x", "uid": "seven"}),
        missing=("ansible.builtin.user", {"comment": "x"}),
        related=("ansible.builtin.apt_key", {"data": "x", "url": "http://x"}),
        unknown=("ansible.builtin.user", {"name": "x", "shel": "/bin/sh"}),
        needed=("ansible.builtin.iptables", {"chain": "INPUT", "jump": "TEE"}),
        alias=("ansible.builtin.file", {"dest": ["/x"]}),
        excluded=("ansible.builtin.apt", {"pkg": "x", "deb": "y"}),
    )
    with pytest.raises(ValidationErrors) as raised:
        zonda_stack.create(text)
    told = {str(error.at[1]): error for error in raised.value.errors}
    lines = text.splitlines()
    places = {
        name: lines[error.place.line - 1].strip() for name, error in told.items() if error.place
    }
    assert places == {
        "choice": "state: gone",
        "inside": "- - a",
        "kind": "uid: seven",
        "missing": "properties:",
        "related": "url: http://x",
        "unknown": "shel: /bin/sh",
        "needed": "properties:",
        "alias": "dest:",
        "excluded": "pkg: x",
    }
    hints = {
        "choice": "Whether the account should exist",
        "inside": "A list of supplementary groups",
        "kind": "Optionally sets the `UID` of the user",
        "missing": "Name of the user",
        "related": "The URL to retrieve key from",
        "unknown": "Did you mean shell? Optionally set the user's shell",
        "alias": "Path to the file being managed",
        "excluded": "A list of package names",
        "needed": "the IP address of the host to send the cloned packets",
    }
    for name, hint in hints.items():
        assert hint.lower() in told[name].hint.lower(), told[name].hint


def test_two_resources_that_are_one_thing_are_told_in_the_plan(tmp_path: Path) -> None:
    one, two = ({"ansible_on": {"get_attr": [host, "connection"]}} for host in ("here", "there"))
    kind, file = "ansible.builtin.copy", {"dest": f"{tmp_path}/file", "content": "x"}
    text = make_template(
        here=("Zonda::Ansible::Host", {}),
        there=("Zonda::Ansible::Host", {"address": "192.0.2.1"}),
        first=(kind, {**file, **one}),
        elsewhere=(kind, {**file, **two}),
        second=(kind, {**file, **one, "content": "y"}),
        folder=("ansible.builtin.file", {"path": f"{tmp_path}/d", "state": "directory"}),
        touched=("ansible.builtin.file", {"name": f"{tmp_path}/d", "state": "touch"}),
        gone=("ansible.builtin.file", {"path": f"{tmp_path}/d", "state": "absent"}),
        sent=(kind, {"dest": f"{tmp_path}/d", "src": "/a"}),
        sent_too=(kind, {"dest": f"{tmp_path}/d", "src": "/b"}),
        later=("ansible.builtin.user", {"name": {"get_attr": ["first", "dest"]}}),
        later_too=("ansible.builtin.user", {"name": {"get_attr": ["second", "dest"]}}),
        line=("ansible.builtin.lineinfile", {"path": {"get_attr": ["first", "dest"]}, "line": "x"}),
        other=("ansible.builtin.lineinfile", {"path": {"get_attr": ["sent", "dest"]}, "line": "x"}),
    )
    file_of = tmp_path / "template.yaml"
    file_of.write_text(text)
    zonda = Zonda(tmp_path, ["-t", str(file_of)])
    said = zonda.run_with_template("plan", "s", "-f", "json")
    notes = json.loads(said)["notes"]
    lines = text.splitlines()
    assert [
        [lines[int(line) - 1].strip() for line in re.findall(r"template\.yaml:(\d+)", note)]
        for note in notes
        if "ZON618" in note
    ] == [["second:", "first:"], ["touched:", "folder:"]]


def test_a_physical_id_holds_nothing_hidden(tmp_path: Path) -> None:
    text = make_template(
        one=(
            "ansible.builtin.command",
            {"cmd": {"list_join": [" ", ["echo", {"get_param": "p"}]]}},
        ),
        two=("ansible.builtin.command", {"argv": ["echo", {"get_param": "p"}]}),
    )
    text += "parameters: {p: {type: string, hidden: true}}\n"
    (tmp_path / "template.yaml").write_text(text)
    zonda = Zonda(tmp_path, ["-t", str(tmp_path / "template.yaml")], ZONDA_PARAM_p="s3cr3t-value")
    zonda.run_with_template("create", "s")
    for words in (["resource", "list"], ["event", "list"], ["export"]):
        zonda.run(*words, "s")  # which looks for the secret


def test_a_plan_tells_what_a_deletion_leaves(tmp_path: Path) -> None:
    text = make_template(
        one=("ansible.builtin.unarchive", {"src": "/x.tgz", "dest": "/x"}),
        two=("ansible.builtin.file", {"path": "/x", "state": "directory"}),
    )
    (tmp_path / "template.yaml").write_text(text)
    zonda = Zonda(tmp_path, ["-t", str(tmp_path / "template.yaml")])
    said = zonda.run_with_template("plan", "s")
    assert said.count("its deletion leaves") == 1
    assert "ansible.builtin.unarchive has done, since how to undo that is not known" in said


def test_a_list_of_one_names_a_thing_by_what_it_holds() -> None:
    given = {"name": "curl"}  # a list, for Ansible
    life = make_life("ansible.builtin.apt", given)
    named = life.instance().name_thing(life.instance().properties)
    assert named == "curl"
    life = make_life("ansible.builtin.apt", {"name": ["curl", "nginx"]})
    assert life.instance().name_thing(life.instance().properties) == '["curl", "nginx"]'


def test_a_thing_is_taken_over_by_adoption_and_by_import(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    kind, template = "ansible.builtin.copy", tmp_path / "template.yaml"
    template.write_text(make_template(one=(kind, {"dest": str(one), "content": "1"})))
    zonda = Zonda(tmp_path, ["-t", str(template)])
    zonda.run_with_template("create", "s")
    (tmp_path / "s.json").write_text(zonda.run("export", "s", "--with-secrets"))
    zonda.run("abandon", "s", "-y", "--with-secrets")
    assert one.read_text() == "1"
    zonda.run("adopt", "s", "--adopt-file", str(tmp_path / "s.json"))
    assert "1 IN_SYNC" in zonda.run("drift", "check", "s")
    two.write_text("2")
    resources = {name.name: (kind, {"dest": str(name), "content": "2"}) for name in (one, two)}
    template.write_text(make_template(**resources))
    zonda.run_with_template("update", "s", "--exclude", "two")
    zonda.run("import", "s", "two", str(two))
    assert "2 IN_SYNC" in zonda.run("drift", "check", "s")
    assert one.read_text() == "2"
    zonda.run("delete", "s", "-y")
    assert not one.exists()
    assert not two.exists()


def test_what_is_there_and_not_of_the_stack_is_only_looked_at(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.write_text("x")
    text = make_template(one=("ansible.builtin.copy", {"dest": str(there), "content": "x"}))
    template = yaml.safe_load(text)
    template["resources"]["one"]["external_id"] = str(there)
    (tmp_path / "template.yaml").write_text(yaml.safe_dump(template))
    zonda = Zonda(tmp_path, ["-t", str(tmp_path / "template.yaml")])
    zonda.run_with_template("create", "s")
    assert "1 IN_SYNC" in zonda.run("drift", "check", "s")
    there.write_text("y")
    zonda.run("delete", "s", "-y")
    assert there.read_text() == "y"
    zonda.run_with_template("create", "s")
    there.unlink()
    assert "1 MISSING" in zonda.run("drift", "check", "s", code=3)


NESTED = """
DOCUMENTATION = '''
module: nest
short_description: Has secrets inside
description: [Has secrets inside.]
options:
  name: {description: The name., type: str, required: true}
  parts:
    description: Parts.
    type: list
    elements: dict
    suboptions:
      key: {description: A key., type: str}
      inner: {description: More., type: dict, suboptions: {pin: {description: A pin., type: str}}}
  state: {description: What., type: str, choices: [present, absent], default: present}
'''
RETURN = "parts: {description: The parts., type: list, returned: always}"
from ansible.module_utils.basic import AnsibleModule

def main():
    inner = dict(pin=dict(no_log=True))
    parts = dict(key=dict(no_log=True), inner=dict(type='dict', options=inner))
    module = AnsibleModule(
        dict(name=dict(required=True), state=dict(choices=['present', 'absent'], default='present'),
             parts=dict(type='list', elements='dict', options=parts)), supports_check_mode=True)
    given = module.params
    if given['name'] == 'bad':
        module.fail_json(msg=f"wrong: {given['parts']}")
    diff = {'before': {'parts': [{'key': 'old'}]}, 'after': {'parts': given['parts']}}
    module.exit_json(changed=True, parts=given['parts'], diff=diff)

main()
"""


def test_a_secret_inside_of_an_option_is_shown_nowhere(collection: Path, tmp_path: Path) -> None:
    (collection / "plugins" / "modules" / "nest.py").write_text(NESTED)
    parts = [{"key": "s3cr3t-key", "inner": {"pin": "s3cr3t-pin"}}]
    names = ("good", "bad")
    text = make_template(**{n: ("acme.tools.nest", {"name": n, "parts": parts}) for n in names})
    text += "outputs: {parts: {value: {get_attr: [good, parts]}}}\n"
    (tmp_path / "template.yaml").write_text(text)
    zonda = Zonda(tmp_path, ["-t", str(tmp_path / "template.yaml")])
    zonda.run_with_template("plan", "s")
    assert "wrong: [{'key': '***" in zonda.run_with_template("create", "s", "--debug", code=1)
    assert "DRIFTED" in zonda.run("drift", "check", "s", code=3)
    for words in (["show"], ["event", "list"], ["output", "list"]):
        zonda.run(*words, "s", "-f", "json")
    zonda.run("resource", "show", "s", "good", "-f", "json")
    zonda.run("delete", "s", "-y", "--debug")
    for file in (tmp_path / "zonda").rglob("*"):
        assert not file.is_file() or b"s3cr3t" not in file.read_bytes(), file
