"""``zonda template parameters``: the whole tree of templates, once the choices are made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from zonda.core.app.app import build_app
from zonda.core.settings.settings import load_settings
from zonda.core.template.files.reader import load_bundle
from zonda.hooks.errors import ValidationErrors

HEAD = "heat_template_version: 2018-08-31\n"

#: As much of a chain as the tree asks for.
CHAIN = """\
from zonda.hooks import hookimpl, properties
from zonda.hooks.resources.nested_stack import NestedStack


class Chain(NestedStack):
    properties_schema = {
        "resources": properties.Schema(properties.Schema.LIST, required=True),
        "resource_properties": properties.Schema(properties.Schema.MAP),
    }

    def child_template(self):
        if self.properties["resources"] == ["crash"]:
            raise RuntimeError("no such luck")
        entry = {"properties": dict(self.properties["resource_properties"])}
        members = enumerate(self.properties["resources"])
        resources = {str(at): {**entry, "type": type_} for at, type_ in members}
        return {"heat_template_version": "2018-08-31", "resources": resources}


@hookimpl
def zonda_resource_types():
    return {"My::Chain": Chain}
"""


@pytest.fixture
def tell(zonda: Any, write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What the command tells of ``t.yaml`` with ``e.yaml``, by (template, name)."""
    monkeypatch.chdir(tmp_path)
    write("plugins/chain.py", CHAIN)

    def told(template: str, environment: str, *words: str, **files: str) -> Any:
        write("t.yaml", HEAD + template)
        write("e.yaml", environment)
        for name, text in files.items():
            write(f"{name}.yaml", HEAD + text)
        options = ("-t", "t.yaml", "-e", "e.yaml", "--set", f"plugin_dirs={tmp_path}/plugins")
        done = zonda("template", "parameters", *options, *words, "-f", "json")
        found = done.data
        found["by_name"] = {
            (Path(row["template"]).stem, row["name"]): row for row in found["parameters"]
        }
        return found

    return told


ROOT = """\
parameters:
  size: {type: number, default: 3, description: How many}
  password: {type: string, hidden: true, default: d3fault}
resources:
  c: {type: "My::Controller", properties: {flavor: m1}}
"""
ENVIRONMENT = """\
requires: {deployment: puppet}
parameters: {password: s3cret}
parameter_defaults:
  Zone: z1
resource_registry:
  My::Controller: [puppet.yaml, docker.yaml]
"""
PUPPET = """\
capabilities: {deployment: puppet}
parameters:
  flavor: {type: string}
  image:
    type: string
    constraints: [{length: {max: 9}}]
  Zone: {type: string, default: z0, hidden: true}
resources:
  deep: {type: deep.yaml, properties: {given: {get_param: image}}}
"""
FILES = {
    "puppet": PUPPET,
    "docker": "capabilities: {deployment: docker}\nparameters: {other: {type: string}}\n",
    "deep": "parameters:\n  given: {type: string}\n  free: {type: json, default: {a: 1}}\n",
}


def test_what_the_chosen_templates_can_be_given(tell: Any, tmp_path: Path) -> None:
    found = tell(ROOT, ENVIRONMENT, **FILES)

    rows = found["by_name"]
    assert list(rows) == [
        ("t", "size"),
        ("t", "password"),
        ("puppet", "image"),
        ("puppet", "Zone"),
        ("deep", "free"),
    ]
    assert found["templates"] == 3
    image = rows["puppet", "image"]
    assert image["declared"] == {"file": str(tmp_path / "puppet.yaml"), "line": 5, "column": 3}
    assert (image["mandatory"], image["missing"], image["from"]) == (True, True, None)
    assert image["constraints"] == [{"length": {"max": 9}}]
    assert (image["resources"], image["give_in"]) == (["c"], "parameter_defaults")
    assert rows["deep", "free"]["value"] == {"a": 1}
    assert rows["deep", "free"]["resources"] == ["c/deep"]
    assert rows["t", "size"]["description"] == "How many"
    assert rows["t", "size"]["give_in"] == "parameters"


def test_where_values_come_from_and_hidden_ones_are_masked(tell: Any) -> None:
    rows = tell(ROOT, ENVIRONMENT, **FILES)["by_name"]

    def origin(row: Any) -> tuple[Any, ...]:
        place = row["from_place"]
        where = place and f"{place['file']}:{place['line']}:{place['column']}"
        return (row["value"], row["default"], row["from"], where)

    assert origin(rows["t", "size"]) == (3, 3, "default", None)
    assert origin(rows["t", "password"]) == ("(hidden)", "(hidden)", "parameters", "e.yaml:2:14")
    assert origin(rows["puppet", "Zone"]) == (
        "(hidden)",
        "(hidden)",
        "parameter_defaults",
        "e.yaml:4:3",
    )


def test_the_other_choice_has_other_parameters(tell: Any) -> None:
    found = tell(ROOT, ENVIRONMENT.replace("puppet}", "docker}"), **FILES)

    assert ("docker", "other") in found["by_name"]
    assert ("puppet", "image") not in found["by_name"]


def test_what_templates_give_is_told_if_asked(tell: Any) -> None:
    rows = tell(ROOT, ENVIRONMENT, "--all", **FILES)["by_name"]

    assert rows["puppet", "flavor"]["from"] == "template"
    assert rows["puppet", "flavor"]["value"] == "m1"
    assert rows["deep", "given"]["from"] == "template"  # known only once the image is given


def test_what_is_given_may_differ_and_stays_hidden(tell: Any) -> None:
    template = """\
parameters: {pw: {type: string, hidden: true, default: s3cret}}
resources:
  a: {type: deep.yaml, properties: {given: {get_param: pw}}}
  b: {type: deep.yaml, properties: {given: {list_join: ['-', [x, {get_param: pw}]]}}}
  c: {type: deep.yaml, properties: {given: open}}
  d: {type: deep.yaml, properties: {given: open}}
"""
    found = tell(template, "", "--all", **FILES)

    assert "s3cret" not in str(found)
    given = [
        (row["value"], row["resources"]) for row in found["parameters"] if row["name"] == "given"
    ]
    assert given == [("(hidden)", ["a", "b"]), ("open", ["c", "d"])]


def test_only_what_is_missing(tell: Any) -> None:
    assert list(tell(ROOT, ENVIRONMENT, "--missing", **FILES)["by_name"]) == [("puppet", "image")]


STEPS = """\
parameters:
  steps: {type: json, default: {one: [db.yaml, "OS::Heat::None", web.yaml]}}
resources:
  first: {type: "OS::Heat::Value", properties: {value: x}}
  chain:
    type: My::Chain
    properties:
      resources: {get_param: [steps, one]}
      resource_properties: {servers: {get_attr: [first, value]}}
"""
MEMBER = "parameters:\n  servers: {type: json}\n  NAME: {type: string}\n"
MEMBERS = {name: MEMBER.replace("NAME", f"{name}_name") for name in ("db", "web", "cache")}


@pytest.mark.parametrize(
    ("environment", "names"),
    [
        pytest.param("", [("db", "db_name"), ("web", "web_name")], id="default"),
        pytest.param("parameters: {steps: {one: [cache.yaml]}}", [("cache", "cache_name")], id="e"),
    ],
)
def test_templates_that_a_chain_takes_from_a_parameter(
    tell: Any, environment: str, names: list[tuple[str, str]]
) -> None:
    found = tell(STEPS, environment, **MEMBERS)

    assert [key for key in found["by_name"] if key[0] != "t"] == names
    assert found["by_name"][names[0]]["resources"] == ["chain/0"]


GROUPS = """\
parameters:
  steps:
    type: json
    default: {one: [db.yaml], two: [db.yaml, web.yaml]}
resources:
  v: {type: "OS::Heat::Value", properties: {value: x}}
  one:
    type: OS::Heat::ResourceChain
    properties:
      resources: {get_param: [steps, two]}
      resource_properties: {servers: {get_attr: [v, value]}}
  many:
    type: OS::Heat::ResourceGroup
    properties:
      count: 20
      resource_def: {type: web.yaml, properties: {servers: {get_attr: [v, value]}}}
  each:
    type: Zonda::ForEach
    properties: {for_each: [left, right], resource_def: {type: cache.yaml}}
  apart:
    type: OS::Heat::Stack
    properties:
      template: {get_file: alone.yaml}
      parameters: {servers: {a: 1}}
"""


def test_members_of_groups_and_stacks_by_template_are_looked_into(tell: Any) -> None:
    found = tell(GROUPS, "", **MEMBERS, alone=MEMBER.replace("NAME", "alone_name"))

    rows = {key: row for key, row in found["by_name"].items() if key[0] != "t"}
    assert list(rows) == [
        ("db", "db_name"),
        ("web", "web_name"),
        ("cache", "servers"),
        ("cache", "cache_name"),
        ("alone", "alone_name"),
    ]
    ways = rows["web", "web_name"]["resources"]
    assert ways[0] == "one/1"
    assert {way.partition("/")[0] for way in ways} == {"one", "many"}
    assert rows["cache", "servers"]["resources"][0] == "each/left"
    assert rows["alone", "alone_name"]["resources"] == ["apart"]
    assert rows["alone", "alone_name"]["declared"]["line"] == 4
    assert found["not_looked_into"] == []


def test_what_a_stack_by_template_is_given_by_a_resource_is_known_later(tell: Any) -> None:
    template = GROUPS.replace("{servers: {a: 1}}", "{servers: {get_attr: [v, value]}}")

    found = tell(template, "", "--all", **MEMBERS, alone=MEMBER.replace("NAME", "alone_name"))

    servers = found["by_name"]["alone", "servers"]
    assert (servers["from"], servers["value"]) == ("template", None)


@pytest.mark.parametrize(
    ("members", "said"),
    [
        pytest.param(
            "{get_attr: [first, value]}",
            "chain: known later, so that it counts as not given: resources",
            id="of-a-resource",
        ),
        pytest.param("[crash]", "chain: RuntimeError: no such luck", id="a-plug-in-that-crashes"),
        pytest.param("[me.yaml]", "the template stands below itself", id="for-ever"),
    ],
)
def test_what_cannot_be_looked_into_is_told(tell: Any, members: str, said: str) -> None:
    template = STEPS.replace("{get_param: [steps, one]}", members)

    found = tell(template, "", **MEMBERS, me="resources: {again: {type: me.yaml}}\n")

    assert said in "\n".join(found["not_looked_into"])


def test_a_fault_deep_inside_names_its_place_and_the_way(
    zonda: Any, write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write("t.yaml", HEAD + "resources:\n  a: {type: b.yaml}\n")
    write("b.yaml", HEAD + "resources:\n  c: {type: d.yaml}\n")
    write("d.yaml", HEAD + "resources:\n  e: {type: OS::Heat::None, propertis: {}}\n")

    done = zonda("template", "parameters", "-t", "t.yaml", code=2)
    assert done.err.startswith("d.yaml:3:29: error:")

    app = build_app(load_settings({"home": str(tmp_path / "home")}))
    with pytest.raises(ValidationErrors) as caught:
        app.templates.list_parameters(load_bundle(Path("t.yaml")))
    (fault,) = caught.value.errors
    assert [str(step.place) for step in fault.way] == ["t.yaml:3:3", f"{tmp_path}/b.yaml:3:3"]


def test_every_choice_that_fails_is_told(
    zonda: Any, write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write("t.yaml", HEAD + ROOT)
    write("e.yaml", ENVIRONMENT.replace("puppet}", "salt}"))
    for name, text in FILES.items():
        write(f"{name}.yaml", HEAD + text)

    done = zonda("template", "parameters", "-t", "t.yaml", "-e", "e.yaml", code=2)

    assert "e.yaml:6:3: error: None of the 2 candidates" in done.err
    assert "| no: docker" in done.err


def test_a_table_for_people(
    zonda: Any, write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write("t.yaml", HEAD + ROOT.partition("resources")[0])

    done = zonda("template", "parameters", "-t", "t.yaml", "-c", "Parameter", "-c", "Declared")

    assert "| size      | t.yaml:3:3 |" in done.out
