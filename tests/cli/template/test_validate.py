"""``template validate``: errors and warnings for people, as data, and as SARIF."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Zonda

import zonda as package
from zonda.core.diagnostics import codes

Write = Callable[[str, str], Path]

ODD = """\
heat_template_version: 2018-08-31
parameters:
  size: {type: number, default: 1}
  big: {type: number, default: 1, constraints: [{range: {max: 5}}]}
resources:
  one:
    type: OS::Heat::Value
    properties: {value: 1, value: {get_param: big}}
"""
WRONG = ODD + "  two: {type: OS::Heat::Valu, depends_on: three}\n"
RING = """\
heat_template_version: 2018-08-31
resources:
  a: {type: OS::Heat::None, depends_on: b}
  b: {type: OS::Heat::None, depends_on: a}
"""


def test_warnings_are_told_with_places_and_change_no_exit_code(zonda: Zonda, write: Write) -> None:
    file = write("t.yaml", ODD)

    done = zonda("template", "validate", file)

    assert f"{file}:3:3: warning: The parameter size is used nowhere [ZON602]" in done.err
    assert f"{file}:8:28: warning: value was given before" in done.err
    assert f"  {file}:8:18: note: value is given here first" in done.err


def test_errors_and_warnings_are_data(zonda: Zonda, write: Write) -> None:
    data = zonda("template", "validate", write("t.yaml", WRONG), "-f", "json", code=2).data

    assert data["valid"] is False
    assert [each["code"] for each in data["errors"]] == ["ZON122", "ZON120"]
    assert [each["code"] for each in data["warnings"]] == ["ZON602", "ZON601"]
    assert data["errors"][0]["line"] == 9
    assert data["warnings"][1]["related"][0]["column"] == 18
    assert data["warnings"][0]["path"] == "parameters.size"


def test_a_good_template_has_no_errors_as_data(zonda: Zonda, write: Write) -> None:
    data = zonda("template", "validate", write("t.yaml", ODD), "-f", "json").data

    assert data["valid"] is True
    assert data["errors"] == []
    assert [each["code"] for each in data["warnings"]] == ["ZON602", "ZON601"]


def test_a_fault_of_an_environment_is_data_with_its_file(zonda: Zonda, write: Write) -> None:
    environment = write("e.yaml", "parameters:\n  big: 9\n")

    words = ("template", "validate", write("t.yaml", ODD), "-e", environment, "-f", "json")
    (error,) = zonda(*words, code=2).data["errors"]

    assert (error["file"], error["line"], error["column"]) == (str(environment), 2, 3)
    assert error["related"][0]["line"] == 4


def test_the_steps_of_a_circle_are_told(zonda: Zonda, write: Write) -> None:
    file = write("t.yaml", RING)

    err = zonda("template", "validate", file, code=2).err

    assert f"{file}:3:29: note: a needs b: resources.a.depends_on" in err
    assert f"{file}:4:29: note: b needs a: resources.b.depends_on" in err


def region(location: dict[str, Any]) -> tuple[str, int, int]:
    """File, line and column of a SARIF location, whose shape is checked."""
    physical = location["physicalLocation"]
    assert set(physical) == {"artifactLocation", "region"}
    uri = physical["artifactLocation"]["uri"]
    assert re.fullmatch(r"[A-Za-z0-9\-._~:/%]+", uri)
    start = physical["region"]
    assert set(start) == {"startLine", "startColumn"}
    assert all(isinstance(number, int) and number >= 1 for number in start.values())
    return uri, start["startLine"], start["startColumn"]


def results(log: dict[str, Any]) -> list[dict[str, Any]]:
    """The results of a SARIF log, whose structure is checked by the rules of SARIF 2.1.0."""
    assert set(log) == {"$schema", "version", "runs"}
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["semanticVersion"]) == ("zonda", package.__version__)
    rules = driver["rules"]
    ids = [rule["id"] for rule in rules]
    assert len(ids) == len(set(ids))
    for rule in rules:
        page = codes.find_page(rule["id"])
        assert rule["shortDescription"] == {"text": page.title}
        assert rule["fullDescription"] == {"text": page.about}
        assert rule["defaultConfiguration"] == {"level": page.severity}
        assert {"text", "markdown"} == set(rule["help"])
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note", "none")
        assert result["message"]["text"]
        numbers = [each["id"] for each in result.get("relatedLocations", [])]
        assert len(numbers) == len(set(numbers))
        for location in result.get("locations", []):
            for logical in location.get("logicalLocations", []):
                assert logical["fullyQualifiedName"]
    return list(run["results"])


def test_sarif_has_a_result_with_rule_and_region_for_each(zonda: Zonda, write: Write) -> None:
    file = write("my template.yaml", WRONG)

    found = results(zonda("template", "validate", file, "-f", "sarif", code=2).data)

    assert [(each["level"], each["ruleId"]) for each in found] == [
        ("error", "ZON122"),
        ("error", "ZON120"),
        ("warning", "ZON602"),
        ("warning", "ZON601"),
    ]
    uri = file.as_uri()
    assert uri.endswith("my%20template.yaml")
    places = [region(location) for each in found for location in each["locations"]]
    assert places == [(uri, 9, 9), (uri, 9, 31), (uri, 3, 3), (uri, 8, 28)]
    assert "Did you mean OS::Heat::Value?" in found[0]["message"]["text"]
    assert [region(each) for each in found[3]["relatedLocations"]] == [(uri, 8, 18)]


@pytest.mark.parametrize(
    ("text", "levels", "code"),
    [
        pytest.param(ODD, ["warning", "warning"], 0, id="warnings"),
        pytest.param(ODD.replace("value: 1, ", "").replace("size", "big2"), ["warning"], 0,
                     id="one-warning"),
        pytest.param(RING, ["error"], 2, id="error"),
        pytest.param(RING.replace(", depends_on: a", ""), [], 0, id="nothing"),
        pytest.param("heat_template_version: 2018-08-31\na: [", ["error"], 2, id="text"),
    ],
)  # fmt: skip
def test_sarif_holds_errors_and_warnings(
    zonda: Zonda, write: Write, text: str, levels: list[str], code: int
) -> None:
    done = zonda("template", "validate", write("t.yaml", text), "-f", "sarif", code=code)

    assert [each["level"] for each in results(done.data)] == levels


def test_sarif_names_files_as_they_were_named(
    zonda: Zonda, write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write("t.yaml", RING)
    monkeypatch.chdir(tmp_path)

    (found,) = results(zonda("template", "validate", "t.yaml", "-f", "sarif", code=2).data)

    assert region(found["locations"][0])[0] == "t.yaml"
    assert [each["message"]["text"] for each in found["relatedLocations"]] == [
        "a needs b: resources.a.depends_on",
        "b needs a: resources.b.depends_on",
    ]


def test_a_hidden_value_is_in_no_output(zonda: Zonda, write: Write) -> None:
    text = """\
heat_template_version: 2018-08-31
parameters:
  word: {type: string, hidden: true, constraints: [{allowed_values: [good, better]}]}
resources:
  one: {type: OS::Heat::RandomString, properties: {length: {get_param: word}}}
"""
    environment = write("e.yaml", "parameters: {word: s3cr3tword}\n")
    file = write("t.yaml", text)

    for form in ("table", "json", "sarif"):
        done = zonda("template", "validate", file, "-e", environment, "-f", form, code=2)
        assert "s3cr3tword" not in done.out + done.err


def test_a_stack_that_is_misspelt_is_told_with_the_one_that_was_meant(
    zonda: Zonda, write: Write
) -> None:
    zonda("stack", "create", "web", "-t", write("t.yaml", RING.replace(", depends_on: a", "")))

    for words in (("show", "wbe"), ("check", "wbe"), ("resource", "list", "wbe")):
        assert "Did you mean web?" in zonda("stack", *words, code=1).err
    assert "Did you mean a?" in zonda("stack", "resource", "show", "web", "A", code=1).err


@pytest.mark.parametrize("reads", ["{get_resource: g}", "{get_attr: [g, names]}"])
def test_a_group_whose_members_read_the_group_is_a_circle(
    reads: str, zonda: Zonda, write: Write
) -> None:
    write("c.yaml", "heat_template_version: 2021-04-16\nresources: {}\n")
    path = write(
        "t.yaml",
        "heat_template_version: 2021-04-16\nresources:\n  g:\n    type: Zonda::ForEach\n"
        f"    properties: {{for_each: [{reads}], resource_def: {{type: c.yaml}}}}\n",
    )
    assert (
        "Circular Dependency Found: g -> g" in zonda("template", "validate", "-t", path, code=2).err
    )
