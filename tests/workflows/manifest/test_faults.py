"""Faults of manifests: all at once, each with its place and a suggestion."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.workflows.manifests import DISK, type_of

from zonda.hooks.errors import ValidationErrors
from zonda.workflows.manifest.mapping import CALLS, INFO
from zonda.workflows.manifest.parser import ACTION_KEYS, CHECK_KEYS, SECTIONS

DOCUMENT = (Path(__file__).resolve().parents[3] / "docs" / "reference" / "manifest.md").read_text()

START = "zonda_type: 1\nname: Acme::Disk\n"
MADE = "actions: {CREATE: mk}\n"


def faults(text: str) -> list[tuple[str, str, str]]:
    """(line:column, message, hint) of every fault."""
    with pytest.raises(ValidationErrors) as found:
        type_of(text)
    assert {error.code for error in found.value.errors} == {"ZON154"}
    return [
        (str(error.place).removeprefix("disk.yaml:"), error.message, error.hint)
        for error in found.value.errors
    ]


@pytest.mark.parametrize(
    ("text", "place", "said", "hint"),
    [
        ("zonda_type: 2\n", "1:13", "no version 2", "zonda_type: 1"),
        ("zonda_type: true\n", "1:13", "no version True", "zonda_type: 1"),
        ("zonda_type: 1\n" + MADE, "1:1", "name is missing", "name: ..."),
        ("zonda_type: 1\nname: disk\n" + MADE, "2:7", "'disk' is no name", "Acme::Disk"),
        ("zonda_type: 1\nname: OS::X::Disk\n" + MADE, "2:7", "OS::", "your own"),
        (START, "1:1", "actions is missing", "CREATE"),
        (START + "actions: {UPDATE: up}\n", "3:1", "CREATE is missing", ""),
        (START + "actions: {CREATE: mk, UPDTE: up}\n", "3:23", "UPDTE", "UPDATE?"),
        (START + MADE + "propertes: {}\n", "4:1", "propertes", "properties?"),
        (START + MADE + "properties: []\n", "4:13", "must be a map, not a list", ""),
        (START + MADE + "properties: {a: {type: integr}}\n", "4:24", "integr", "integer?"),
        (START + MADE + "properties: {a: {}}\n", "4:14", "type is missing", "string"),
        (
            START + MADE + "properties: {a: {type: map, items: {type: string}}}\n",
            "4:29",
            "list",
            "",
        ),
        (
            START + MADE + "properties: {a: {type: integer, default: x}}\n",
            "4:42",
            "default does not fit",
            "",
        ),
        (
            START + MADE + "properties: {a: {type: string, constraints: [{rnge: {min: 1}}]}}\n",
            "4:47",
            "rnge",
            "range?",
        ),
        (
            START + MADE + "properties: {a: {type: string, constraints: [{range: {min: 1}}]}}\n",
            "4:14",
            "Range",
            "",
        ),
        (
            START + MADE + "properties: {size: {type: integer}}\nreplace_on: [sise]\n",
            "5:14",
            "no property 'sise'",
            "size?",
        ),
        (START + "actions: {CREATE: {workflow: mk, inpt: {}}}\n", "3:34", "inpt", "input?"),
        (START + "actions: {CREATE: {workflow: mk, timeout: 0}}\n", "3:43", "timeout", ""),
        (START + "actions: {CREATE: {workflow: mk, retries: 1.5}}\n", "3:43", "retries", ""),
        (START + "actions: {CREATE: {workflow: mk, on_timeout: cancl}}\n", "3:46", "c", "cancel?"),
        (
            START + "actions: {CREATE: {workflow: mk, input: {a: {get_proprty: x}}}}\n",
            "3:46",
            "get_proprty",
            "get_property?",
        ),
        (
            START + "actions: {CREATE: {workflow: mk, input: {a: {get_property: x}}}}\n",
            "3:60",
            "no property x",
            "",
        ),
        (
            START + "actions: {CREATE: {workflow: mk, input: {a: {secret: TOKEN}}}}\n",
            "3:54",
            "names no secret",
            "env:NAME",
        ),
        (
            START + "actions: {CREATE: {workflow: mk, output: {a: {secret: env:X}}}}\n",
            "3:55",
            "cannot be used here",
            "get_output",
        ),
        (
            START + "actions: {CREATE: {workflow: mk, input: {a: {get_resource: nme}}}}\n",
            "3:60",
            "nme",
            "name?",
        ),
        (START + "actions: {CREATE: mk, CHECK: {workflow: l, observes: [a]}}\n", "3:55", "a", ""),
        (
            START + "actions: {CREATE: {workflow: mk, input: {secret: 'env:X'}}}\n",
            "3:41",
            "not a call",
            "input: {NAME: {secret: ...}}",
        ),
        (
            START + "actions: {CREATE: {workflow: mk, output: {get_output: x}}}\n",
            "3:42",
            "not a call",
            "output: {NAME",
        ),
        (
            START + "actions: {CREATE: {workflow: mk, params: {a: .nan}}}\n",
            "3:43",
            "nothing that can be sent",
            "a number",
        ),
        (
            START + "actions: {CREATE: {workflow: mk, input: {a: [!!binary aGk=]}}}\n",
            "3:46",
            "nothing that can be sent",
            "text",
        ),
        (
            START
            + "actions: {CREATE: {workflow: mk, input: {a: {list_join: ['', [{b: {secret: "
            + "'env:X'}}]]}}}}\n",
            "3:63",
            "cannot be joined",
            "into the list",
        ),
        (START + MADE + "description: a\ndescription: b\n", "5:1", "twice", ""),
        (
            START + MADE + "properties: {a: {type: string, type: map}}\n",
            "4:32",
            "type stands here twice, first in line 4",
            "",
        ),
        (
            START
            + MADE
            + "properties: {a: {type: integer, constraints: [{range: {min: 5, max: 1}}]}}\n",
            "4:55",
            "Nothing keeps this range",
            "",
        ),
        (
            START + MADE + "properties: {a: {type: string, constraints: [{length: {max: -1}}]}}\n",
            "4:55",
            "Nothing keeps this length",
            "",
        ),
        (
            START + MADE + "properties: {a: {type: string, constraints: [{allowed_values: ab}]}}\n",
            "4:63",
            "must be a list",
            "",
        ),
        (
            START + MADE + "properties: {a: {type: string, constraints: [{allowed_values: []}]}}\n",
            "4:63",
            "something in it",
            "",
        ),
        (
            START + MADE + "properties: {a: {type: string, constraints: [{description: x}]}}\n",
            "4:46",
            "one rule",
            "range",
        ),
        (
            START + MADE + "properties: {a: {type: string, immutable: true}}\nreplace_on: [a]\n",
            "5:14",
            "immutable",
            "",
        ),
        (
            START
            + "actions: {CREATE: mk, CHECK: {workflow: l, observes: {a: }}}\n"
            + "properties: {a: {type: string}}\n",
            "3:55",
            "Nothing tells a",
            "get_output",
        ),
        (
            START + "actions: {CREATE: {workflow: mk, output: {a: {get_output: 5}}}}\n",
            "3:59",
            "takes a name",
            "",
        ),
        (START + MADE + "attributes: {show: {}}\n", "4:14", "attribute show", "another"),
        (START + MADE + "attributes: {a: {typ: string}}\n", "4:18", "typ", "type?"),
        (START + MADE + "example: {size: 1}\n", "4:11", "size", ""),
        (START + MADE + "capabilities: {a: {b: 1}}\n", "4:19", "capability a", ""),
        (START + MADE + "allow_id_change: 3\n", "4:18", "true or false", ""),
    ],
)
def test_a_fault_has_its_place_and_a_hint(text: str, place: str, said: str, hint: str) -> None:
    found = faults(text)
    assert len(found) == 1, found
    assert found[0][0] == place
    assert said in found[0][1]
    assert hint in found[0][2]


def test_all_faults_come_at_once_in_the_order_of_the_text() -> None:
    text = DISK.replace("integer", "integr").replace("[pool]", "[pol]").replace("UPDATE", "UPDTE")
    assert [fault[0] for fault in faults(text)] == ["6:16", "12:14", "15:3"]


def test_a_fault_in_what_is_repeated_by_an_alias_is_told_once() -> None:
    text = DISK.replace("{workflow: mk, input: {size", "{workflow: mk, input: &it {size")
    text = text.replace("{get_property: tags}", "{get_property: tag}")
    text = text.replace("UPDATE: up", "UPDATE: {workflow: up, input: *it}")
    (fault,) = faults(text)
    assert "tags?" in fault[2]


@pytest.mark.parametrize("text", ["[]", "zonda_type: 1\n1: 2\n"], ids=["a list", "odd keys"])
def test_what_is_no_map_of_texts_is_refused(text: str) -> None:
    assert faults(text)


def test_the_manifest_in_the_documents_has_no_fault() -> None:
    found = re.findall(r"```yaml\n(.*?)```", DOCUMENT, re.S)
    (manifest,) = (block for block in found if "zonda_type" in block)
    assert sorted(type_of(manifest).properties_schema) == ["passphrase", "pool", "size"]


@pytest.mark.parametrize("name", [*SECTIONS, *ACTION_KEYS, *CHECK_KEYS, *CALLS, *INFO])
def test_every_word_of_a_manifest_is_documented(name: str) -> None:
    assert f"`{name}" in DOCUMENT or f"{{{name}" in DOCUMENT


SLOW = "type: string, constraints: [{allowed_pattern: '(a|aa)+$'}]"
LONG = "a" * 60 + "b"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"properties: {{p: {{{SLOW}, default: {LONG}}}}}\n", [4]),
        (f"properties: {{p: {{{SLOW}}}}}\nexample: {{p: {LONG}}}\n", [5]),
        (f"properties: {{p: {{type: list, items: {{{SLOW}}}, default: [{LONG}]}}}}\n", [4]),
        (
            "properties:\n"
            + "".join(f"  p{each}: {{{SLOW}, default: {LONG}}}\n" for each in range(30)),
            [*range(5, 35)],
        ),
    ],
    ids=["default", "example", "items", "many"],
)
def test_a_pattern_that_takes_too_long_is_a_fault(text: str, lines: list[int]) -> None:
    found = faults(START + MADE + text)
    assert [int(place.partition(":")[0]) for place, _, _ in found] == lines
    assert all("took longer than" in said for _, said, _ in found)


def test_constraints_of_plug_ins_are_left_to_those_who_have_the_plug_in() -> None:
    made = type_of(
        START
        + MADE
        + "properties: {a: {type: string, default: x, constraints: [{custom_constraint: a.b}]}}\n"
    )
    assert made.properties_schema["a"].default == "x"
