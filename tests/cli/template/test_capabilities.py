"""``zonda capabilities`` and ``template explain-type``: the proposal's examples as printed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

TEMPLATE = "heat_template_version: 2015-10-15\n\ncapabilities:\n   {}\n"
TYPE = "OS::TripleO::Controller"
ENVIRONMENT = """\
requires:
   deployment: puppet

resource_registry:
   OS::TripleO::Controller: [puppet/controller.yaml, docker/controller.yaml]
"""


@pytest.fixture
def folder(tmp_path: Path, write: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for tool in ("puppet", "docker"):
        write(f"{tool}/controller.yaml", TEMPLATE.format(f"deployment: {tool}"))
    write("environment.yaml", ENVIRONMENT)
    return tmp_path


@pytest.fixture
def typed(folder: Path, write: Any) -> Path:
    for tool in ("puppet", "docker"):
        write(f"{tool}/controller.yaml", TEMPLATE.format(f"resource_type: {TYPE}"))
    return folder


def test_find_prints_the_paths_of_the_proposal(zonda: Any, typed: Path) -> None:
    found = zonda("capabilities", "find", "-r", "-c", f"resource_type={TYPE}", *os.listdir("."))

    assert sorted(found.out.splitlines()) == ["docker/controller.yaml", "puppet/controller.yaml"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        pytest.param(["deployment=puppet"], ["puppet/controller.yaml"], id="one"),
        pytest.param(["deployment=puppet", "v=1"], [], id="not-declared"),
        pytest.param(["deployment=salt", "v=>=2,<3"], ["deep/er/s.yaml"], id="all-and-a-range"),
    ],
)
def test_find_wants_all_that_is_asked_for(
    zonda: Any, folder: Path, write: Any, wanted: list[str], found: list[str]
) -> None:
    write("deep/er/s.yaml", TEMPLATE.format("deployment: [salt, ansible]\n   v: 2.5"))
    write(".hidden/s.yaml", TEMPLATE.format("deployment: puppet"))
    write("broken.yaml", "a: [")
    write("other.txt", TEMPLATE.format("deployment: puppet"))
    options = [word for each in wanted for word in ("-c", each)]

    assert zonda("capabilities", "find", "-r", *options, "./").out.splitlines() == found


def test_find_looks_into_folders_of_folders_only_if_asked(zonda: Any, folder: Path) -> None:
    assert zonda("capabilities", "find", "-c", "deployment=puppet", ".").out == ""
    done = zonda("capabilities", "find", "-c", "deployment=puppet", "puppet", "--format", "json")
    assert done.data == [
        {"Path": "puppet/controller.yaml", "Capabilities": {"deployment": "puppet"}}
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["-c", "deployment", "."], "KEY=VALUE", id="no-value"),
        pytest.param(["-c", "v=>=x", "."], "no range", id="no-range"),
        pytest.param(["-c", "a=b", "gone.yaml"], "gone.yaml cannot be read", id="no-file"),
        pytest.param(["."], "required: -c", id="nothing-asked"),
    ],
)
def test_find_refuses(zonda: Any, folder: Path, words: list[str], said: str) -> None:
    assert said in zonda("capabilities", "find", *words, code=2).err


def test_malformed_sections_are_told_and_left_out(zonda: Any, folder: Path, write: Any) -> None:
    write("puppet/bad.yaml", TEMPLATE.format("deployment: {a: b}"))

    done = zonda("capabilities", "find", "-r", "-c", "deployment=puppet", ".")

    assert done.out == "puppet/controller.yaml\n"
    assert "puppet/bad.yaml:4:4: error: the capability deployment" in done.err


def test_summary_of_tags_as_printed(zonda: Any, folder: Path) -> None:
    files = ("-f", "puppet/controller.yaml", "-f", "docker/controller.yaml")

    assert zonda("capabilities", "summary", *files).out == (
        "{\n  'deployment': ['puppet', 'docker']\n}\n"
    )


def test_summary_of_types_as_printed(zonda: Any, typed: Path) -> None:
    files = ("-f", "puppet/controller.yaml", "-f", "docker/controller.yaml")

    assert zonda("capabilities", "summary", *files).out == (
        "{\n"
        "  'OS::TripleO::Controller': ['puppet/controller.yaml',\n"
        "                              'docker/controller.yaml']\n"
        "}\n"
    )


def test_summary_takes_lists_of_environments_and_other_formats(zonda: Any, folder: Path) -> None:
    done = zonda("capabilities", "summary", "-e", "environment.yaml", "--format", "json")

    assert done.data == {
        "deployment": ["puppet", "docker"],
        TYPE: ["puppet/controller.yaml", "docker/controller.yaml"],
    }


def explained(zonda: Any, *words: str, code: int = 0) -> Any:
    return zonda("template", "explain-type", *words, "-f", "json", code=code).data


def test_the_proposals_environment_chooses_the_puppet_template(zonda: Any, folder: Path) -> None:
    data = explained(zonda, TYPE, "-e", "environment.yaml")

    assert data["template"] == "puppet/controller.yaml"
    assert data["template_file"] == str(folder / "puppet" / "controller.yaml")
    (rule,) = data["rules"]
    assert (rule["file"], rule["line"], rule["column"]) == ("environment.yaml", 5, 4)
    (selection,) = data["candidates"]
    assert [each["why"] for each in selection["candidates"]] == [
        {"deployment: puppet": "yes"},
        {"deployment: puppet": "no: docker"},
    ]


RULES = """\
resource_registry:
  My::*: OS::Heat::*
  My::C: My::D
  My::D: OS::Heat::Value
  My::T*: part.yaml
  resources:
    r: {My::Value: OS::Heat::None}
"""


@pytest.mark.parametrize(
    ("words", "chain", "whys"),
    [
        pytest.param(
            ["My::C"],
            ["My::C", "My::D", "OS::Heat::Value"],
            [
                "comes first, but OS::Heat::C leads to no type",
                "comes first",
                "comes first, but OS::Heat::D leads to no type",
                "comes first",
                "no rule of an environment leads elsewhere",
            ],
            id="chain-of-aliases",
        ),
        pytest.param(
            ["My::Value"],
            ["My::Value", "OS::Heat::Value"],
            [
                "only for the resource r",
                "comes first; * makes it OS::Heat::Value",
                "no rule of an environment leads elsewhere",
            ],
            id="pattern",
        ),
        pytest.param(
            ["My::Value", "--resource", "r"],
            ["My::Value", "OS::Heat::None"],
            [
                "comes first",
                "comes after My::Value (for r): rules for the resource's own name come first",
                "no rule of an environment leads elsewhere",
            ],
            id="for-one-resource",
        ),
        pytest.param(
            ["My::None", "-e", "later.yaml"],
            ["My::None", "OS::Heat::Value"],
            [
                "overruled by later.yaml:2:3",
                "comes first",
                "no rule of an environment leads elsewhere",
            ],
            id="a-later-environment",
        ),
        pytest.param(
            ["OS::Heat::None"],
            ["OS::Heat::None"],
            ["no rule of an environment leads elsewhere"],
            id="a-plug-in",
        ),
    ],
)
def test_every_rule_on_the_way_is_told(
    zonda: Any, folder: Path, write: Any, words: list[str], chain: list[str], whys: list[str]
) -> None:
    write("rules.yaml", RULES)
    write("part.yaml", TEMPLATE.format("a: b"))
    write("later.yaml", "resource_registry:\n  My::*: OS::Heat::Value\n")

    data = explained(zonda, words[0], "-e", "rules.yaml", *words[1:])

    assert data["chain"] == chain
    assert [rule["why"] for rule in data["rules"]] == whys
    assert len([rule for rule in data["rules"] if rule["chosen"]]) == len(chain)


@pytest.mark.parametrize(
    ("later", "chosen", "whys"),
    [
        pytest.param(
            '"My::*": null',
            None,
            [
                "taken back by null at two.yaml:1:21",
                "null takes back what stands before it",
            ],
            id="a-pattern-takes-back",
        ),
        pytest.param(
            "My::T: null",
            "OS::Heat::None",
            [
                "comes first",
                "null leaves what another environment says, as with Heat",
                "no rule of an environment leads elsewhere",
            ],
            id="a-name-does-not",
        ),
    ],
)
def test_null_in_a_later_environment(
    zonda: Any, folder: Path, write: Any, later: str, chosen: str | None, whys: list[str]
) -> None:
    write("one.yaml", "resource_registry: {My::T: OS::Heat::None}\n")
    write("two.yaml", f"resource_registry: {{{later}}}\n")
    environments = ("-e", "one.yaml", "-e", "two.yaml")

    data = explained(zonda, "My::T", *environments, code=0 if chosen else 2)

    assert data["chain"] == ["My::T", *([chosen] if chosen else [])]
    assert sorted(rule["why"] for rule in data["rules"]) == sorted(whys)


@pytest.mark.parametrize(
    ("type_", "code", "why"),
    [
        pytest.param("My::Th", "ZON122", "a pattern cannot stand for a template", id="pattern"),
        pytest.param("My::Nope", "ZON122", "comes first, and leads nowhere", id="nowhere"),
        pytest.param("Ring::A", "ZON146", "comes first, and leads nowhere", id="ring"),
        pytest.param("Nope", "ZON122", None, id="no-rule"),
    ],
)
def test_what_leads_nowhere_is_told_with_its_rules(
    zonda: Any, folder: Path, write: Any, type_: str, code: str, why: str | None
) -> None:
    write("rules.yaml", RULES + "  Ring::A: Ring::B\n  Ring::B: Ring::A\n")
    write("part.yaml", TEMPLATE.format("a: b"))

    done = zonda("template", "explain-type", type_, "-e", "rules.yaml", code=2)

    assert f"[{code}]" in done.err
    assert why is None or why in done.out


def test_files_of_a_template_are_relative_to_it(zonda: Any, folder: Path, write: Any) -> None:
    write("sub/t.yaml", TEMPLATE.format("a: b") + "resources: {r: {type: part.yaml}}\n")
    write("sub/part.yaml", TEMPLATE.format("a: b"))

    data = explained(zonda, "part.yaml", "-t", "sub/t.yaml")

    assert data["template_file"] == str(folder / "sub" / "part.yaml")
    assert data["rules"] == []


def test_a_stack_keeps_what_chose_its_types(zonda: Any, folder: Path, write: Any) -> None:
    write("t.yaml", "heat_template_version: rocky\nresources: {r: {type: 'My::T'}}\n")
    write("e.yaml", "requires: {a: b}\nresource_registry: {My::T: ['OS::Heat::None']}\n")
    zonda("stack", "create", "s", "-t", "t.yaml", "-e", "e.yaml")

    shown = zonda("stack", "environment", "show", "s", "-f", "json").data

    assert shown["requires"] == {"a": "b"}
    assert shown["resource_registry"] == {"My::T": ["OS::Heat::None"]}
