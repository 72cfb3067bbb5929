"""Schemas of modules: every one of ansible-core, and the rules that documentation does not tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from zonda.hooks import Properties

from zonda_ansible.check_modules import find_faults as find_unmade
from zonda_ansible.index import load_index
from zonda_ansible.interfaces import NoInterface, load_interface
from zonda_ansible.lives import life_cycles
from zonda_ansible.relations import find_faults
from zonda_ansible.schemata import (
    list_alias_rules,
    make_attributes_schema,
    make_properties_schema,
)


def test_every_module_of_ansible_core_has_a_schema() -> None:
    index = load_index()
    modules = [name for name in index.modules if name.startswith("ansible.builtin.")]
    assert len(modules) > 50
    assert list(find_unmade(index, modules)) == []


def interface_of(module: str) -> dict[str, Any]:
    return load_interface(load_index(), f"ansible.builtin.{module}")


def faults(module: str, **given: Any) -> list[str]:
    interface = interface_of(module)
    rules = list(list_alias_rules(interface["options"]))
    schema = make_properties_schema(interface)
    read = Properties(schema, given, rules=lambda _: rules)
    found = [str(fault) for fault in read.validate()]
    if found:
        return found
    values = {name: read.convert(name) for name in schema if read.get_user_value(name) is not None}
    told = find_faults(interface["options"], interface["relations"], values)
    return [f"{name}: {text}" for name, text in told]


@pytest.mark.parametrize(
    ("module", "given", "part"),
    [
        pytest.param("user", {"name": "x", "uid": 7}, "", id="good"),
        pytest.param("user", {"name": "x", "groups": "a,b"}, "", id="a list as text"),
        pytest.param("user", {"user": "x"}, "", id="another name of a required option"),
        pytest.param("user", {}, "name", id="required"),
        pytest.param("user", {"name": "x", "state": "gone"}, "gone", id="choices"),
        pytest.param("user", {"name": "x", "uid": "seven"}, "seven", id="type"),
        pytest.param("user", {"name": "x", "shel": "y"}, "shel", id="unknown"),
        pytest.param("apt", {"name": ["x"], "deb": "y"}, "give one of", id="mutually_exclusive"),
        pytest.param(
            "copy",
            {"dest": "/x", "src": "y", "content": "z"},
            "give one of src or content",
            id="an action's own rule",
        ),
        pytest.param("copy", {"dest": "/x"}, "one of src or content must", id="an action needs"),
        pytest.param(
            "unarchive",
            {"src": "x", "dest": "/x", "include": ["a"], "exclude": ["b"]},
            "give one of",
            id="a rule of the module behind an action",
        ),
        pytest.param(
            "command",
            {"cmd": "x", "argv": ["x"]},
            "give one of cmd or argv, not",
            id="without the free form",
        ),
        pytest.param("service", {"name": "x"}, "one of state or enabled", id="of a service"),
        pytest.param("apt", {}, "", id="a default counts as given: required_one_of"),
    ],
)
def test_what_a_template_gives_is_validated(module: str, given: dict[str, Any], part: str) -> None:
    found = faults(module, **given)
    assert bool(found) == bool(part)
    assert part in "".join(found)


def test_an_option_that_is_documented_under_another_name_has_its_documentation() -> None:
    described = interface_of("apt")["options"]["package"]["description"]
    assert described.startswith("A list of package names")


def test_secrets_are_hidden() -> None:
    schema = make_properties_schema(interface_of("user"))
    assert schema["password"].hidden
    assert schema["ssh_key_passphrase"].hidden
    assert not schema["name"].hidden


def test_what_a_module_returns_becomes_attributes() -> None:
    found = make_attributes_schema(interface_of("user"))
    assert found["uid"].type == "Number"
    assert found["home"].type == "String"


@pytest.mark.parametrize(
    ("relations", "given", "expected"),
    [
        ({"required_one_of": [["a", "b"]]}, {}, ["a"]),
        ({"required_one_of": [["a", "b"]]}, {"b": 1}, []),
        ({"required_together": [["a", "b", "c"]]}, {"b": 1}, ["a"]),
        ({"required_together": [["a", "b"]]}, {}, []),
        ({"required_by": {"a": ["b", "c"]}}, {"a": 1, "b": 1}, ["c"]),
        ({"required_by": {"a": "b"}}, {"c": 1}, []),
        ({"required_if": [["a", 1, ["b", "c"]]]}, {"a": 1, "c": 1}, ["b"]),
        ({"required_if": [["a", 1, ["b", "c"], True]]}, {"a": 1, "c": 1}, []),
        ({"required_if": [["a", 1, ["b", "c"], True]]}, {"a": 1}, ["b"]),
        ({"required_if": [["a", 1, ["b"]]]}, {"a": 2}, []),
        ({"required_if": [["d", "x", ["b"]]]}, {}, ["b"]),
        ({"mutually_exclusive": ["a", "d"]}, {"a": 1}, []),
        ({"mutually_exclusive": ["a", "b"]}, {"a": 1, "b": 2}, ["b"]),
    ],
)
def test_options_exclude_and_need_each_other(
    relations: dict[str, Any], given: dict[str, Any], expected: list[str]
) -> None:
    options = {name: {"default": None} for name in "abc"} | {"d": {"default": "x"}}
    assert [name for name, _ in find_faults(options, relations, given)] == expected


def test_a_value_that_is_not_known_yet_counts_as_given() -> None:
    options = {name: {"default": None} for name in "ab"}
    together = {"required_together": [["a", "b"]], "required_if": [["a", 1, ["b"]]]}
    assert list(find_faults(options, together, {"a": None, "b": 1}, {"a"})) == []


MODULE = """
DOCUMENTATION = '''
module: thing
short_description: Makes things
description: [Makes a thing.]
options:
  name: {description: The name., type: str, required: true, aliases: [label]}
  parts:
    description: What it is made of.
    type: list
    elements: dict
    suboptions:
      size: {description: How large., type: int, default: 3}
      key: {description: A secret., type: str}
'''
RETURN = '''
weight: {description: How heavy., type: float, returned: always, sample: 1.5}
cuts: {description: What was cut., type: str, returned: always, sample: [one]}
'''
from ansible.module_utils.basic import AnsibleModule

def main():
    AnsibleModule(
        argument_spec=dict(
            name=dict(type="str", required=True, aliases=["label"]),
            parts=dict(
                type="list",
                elements="dict",
                options=dict(size=dict(type="int", default=3), key=dict(type="str", no_log=True)),
                required_by={"key": ["size"]},
            ),
            other=dict(type="str"),
        ),
        mutually_exclusive=[("parts", "other")],
        supports_check_mode=True,
    )
    open("/nothing/like/it", "w")

if __name__ == "__main__":
    main()
"""


def test_the_code_tells_what_the_documentation_does_not(collection: Path) -> None:
    file = collection / "plugins" / "modules" / "thing.py"
    file.write_text(MODULE)
    interface = load_interface(load_index(), "acme.tools.thing")
    schema = make_properties_schema(interface)
    assert set(schema) == {"name", "label", "parts", "other"}
    parts = schema["parts"].items
    assert parts is not None
    assert {name: each.hidden for name, each in parts.fields.items()} == {
        "size": False,
        "key": True,
    }
    assert interface["relations"] == {"mutually_exclusive": [["parts", "other"]]}
    assert interface["options"]["parts"]["relations"] == {"required_by": {"key": ["size"]}}
    assert interface["check_mode"] == "full"
    attributes = make_attributes_schema(interface)
    assert attributes["weight"].description == "How heavy."
    assert (attributes["weight"].type, attributes["cuts"].type) == ("Number", None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("DOCUMENTATION = '''\nmodule: [\n'''\n", "pars", id="no YAML"),
        pytest.param("", "doc", id="no documentation"),
        pytest.param("\x00\x01", "", id="no Python"),
    ],
)
def test_a_broken_module_says_why_it_has_no_interface(
    collection: Path, text: str, reason: str
) -> None:
    (collection / "plugins" / "modules" / "broken.py").write_text(text)
    with pytest.raises(NoInterface, match=f"(?i){reason}"):
        load_interface(load_index(), "acme.tools.broken")
    [(module, told)] = find_unmade(load_index(), ["acme.tools.broken"])
    assert (module, bool(told)) == ("acme.tools.broken", True)


def test_a_changed_module_is_read_again(collection: Path) -> None:
    file = collection / "plugins" / "modules" / "thing.py"
    file.write_text(MODULE)
    load_interface(load_index(), "acme.tools.thing")
    file.write_text(MODULE.replace("How heavy.", "How very heavy."))
    found = load_interface(load_index(), "acme.tools.thing")
    assert found["returns"]["weight"]["description"] == "How very heavy."


def test_the_table_of_lives_names_modules_and_options() -> None:
    index = load_index()
    file = Path(life_cycles.__file__).with_name("life_cycles.yaml")
    table = yaml.safe_load(file.read_text())
    known = [name for name in table if name in index.modules]
    assert len(known) > 20
    for module in known:
        options = load_interface(index, module)["options"]
        life = life_cycles.find_life_cycle(index, module, {"options": options})
        names = {name for each in life.identity for name in each.split("|")}
        if isinstance(life.delete, dict) and "module" not in life.delete:
            names |= life.delete.keys()
        elif isinstance(life.delete, dict):
            names |= {str(value)[1:] for value in life.delete["options"].values() if "$" in value}
        assert names <= options.keys(), module
