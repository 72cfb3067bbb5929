"""Validation, previews, resource types, versions and functions, build info and services."""

from __future__ import annotations

import json
from typing import Any

import pytest

from zonda.core.api.heat.catalog import previews
from zonda.core.graph.digraph import map_dependents

EMPTY = {"heat_template_version": "2018-08-31"}
INNER = (
    "heat_template_version: 2014-10-16\ndescription: inner\n"
    "parameters: {aparam: {type: number, default: 10, description: a number}}\n"
    "resources: {r: {type: 'OS::Heat::RandomString', properties: {length: {get_param: aparam}}}}\n"
)
PARAMETER = {
    "Type": "Number",
    "Description": "a number",
    "NoEcho": "false",
    "Label": "aparam",
    "Default": 10,
}


def validate(api: Any, template: Any, **body: Any) -> Any:
    query = {"show_nested": body.pop("show_nested")} if "show_nested" in body else {}
    reply = api("POST", "/validate", {"template": template, **body}, **query)
    assert reply.status == 200, reply.body
    return reply.body


def test_validation_tells_description_parameters_and_environment(api: Any) -> None:
    assert validate(api, INNER) == {
        "Description": "inner",
        "Parameters": {"aparam": PARAMETER},
        "Environment": {
            "event_sinks": [],
            "parameter_defaults": {},
            "parameters": {},
            "resource_registry": {"resources": {}},
        },
    }
    assert validate(api, EMPTY)["Description"] == "No description"


@pytest.mark.parametrize(
    ("declared", "shown"),
    [
        ({"type": "string", "label": "L"}, {"Type": "String", "Label": "L"}),
        ({"type": "string", "hidden": True}, {"NoEcho": "true"}),
        ({"type": "comma_delimited_list"}, {"Type": "CommaDelimitedList"}),
        ({"type": "json"}, {"Type": "Json"}),
        ({"type": "boolean", "default": True}, {"Type": "Boolean", "Default": True}),
        (
            {"type": "string", "constraints": [{"length": {"min": 1, "max": 2}}]},
            {"MinLength": 1, "MaxLength": 2},
        ),
        (
            {"type": "number", "constraints": [{"range": {"min": 1, "max": 2}}]},
            {"MinValue": 1, "MaxValue": 2},
        ),
        (
            {"type": "string", "constraints": [{"allowed_values": ["a"], "description": "D"}]},
            {"AllowedValues": ["a"], "ConstraintDescription": "D"},
        ),
        ({"type": "string", "constraints": [{"allowed_pattern": "a+"}]}, {"AllowedPattern": "a+"}),
    ],
)
def test_a_parameter_is_described_in_words_of_cloudformation(
    api: Any, declared: Any, shown: Any
) -> None:
    found = validate(api, {**EMPTY, "parameters": {"p": declared}})["Parameters"]["p"]
    assert shown.items() <= found.items()
    assert "Value" not in found


def test_a_value_that_is_given_is_told_unless_it_is_hidden(api: Any) -> None:
    parameters = {"p": {"type": "number"}, "h": {"type": "string", "hidden": True}}
    found = validate(
        api,
        {**EMPTY, "parameters": parameters},
        environment={"parameters": {"p": 5, "h": "swordfish"}},
    )
    assert found["Parameters"]["p"]["Value"] == 5
    assert found["Parameters"]["h"]["Value"] == "******"
    assert found["Environment"]["parameters"]["p"] == 5


def test_groups_are_told_as_they_are_written(api: Any) -> None:
    groups = [{"label": "g", "description": "d", "parameters": ["p"]}]
    template = {**EMPTY, "parameters": {"p": {"type": "string"}}, "parameter_groups": groups}
    assert validate(api, template)["ParameterGroups"] == groups


def test_nested_parameters_are_told_when_asked_for(api: Any) -> None:
    outer = "heat_template_version: 2014-10-16\nresources: {n: {type: inner.yaml, PROPERTIES}}\n"
    files = {"inner.yaml": INNER}
    plain = outer.replace(", PROPERTIES", "")
    assert "NestedParameters" not in validate(api, plain, files=files)
    found = validate(api, plain, files=files, show_nested="true")
    assert found["NestedParameters"] == {
        "n": {"Type": "inner.yaml", "Description": "inner", "Parameters": {"aparam": PARAMETER}}
    }
    assert found["Environment"]["resource_registry"]["inner.yaml"] == "inner.yaml"
    given = outer.replace("PROPERTIES", "properties: {aparam: 5}")
    found = validate(api, given, files=files, show_nested="true")
    assert found["NestedParameters"]["n"]["Parameters"]["aparam"] == {**PARAMETER, "Value": 5}


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({}, "No template specified"),
        ({"template": {"heat_template_version": "x"}}, "The template version is invalid"),
        ({"template": {**EMPTY, "bogus": 1}}, "The template section is invalid: bogus"),
        ({"template": "}"}, "Template not in valid format"),
    ],
)
def test_a_faulty_template_is_a_bad_request(api: Any, body: Any, says: str) -> None:
    reply = api("POST", "/validate", body)
    assert (reply.status, reply.kind) == (400, "HTTPBadRequest")
    assert says in reply.message


def test_a_creation_is_previewed_with_its_resources(api: Any) -> None:
    before = api("GET", "/stacks", with_count="true").body["count"]
    template = {
        **EMPTY,
        "parameters": {"text": {"type": "string"}},
        "resources": {
            "one": {"type": "OS::Heat::TestResource", "properties": {"value": "fred"}},
            "two": {
                "type": "OS::Heat::TestResource",
                "properties": {"value": {"get_param": "text"}},
                "depends_on": "one",
            },
            "nest": {"type": "inner.yaml"},
        },
    }
    body = {"stack_name": "pre", "template": template, "parameters": {"text": "abc"}}
    reply = api("POST", "/stacks/preview", {**body, "files": {"inner.yaml": INNER}})
    stack = reply.body["stack"]
    assert (reply.status, stack["id"], stack["stack_name"]) == (200, "None", "pre")
    assert "stack_status" not in stack
    assert stack["parameters"]["OS::stack_id"] == "None"
    flat = {each["resource_name"]: each for each in stack["resources"] if isinstance(each, dict)}
    assert flat["one"]["required_by"] == ["two"]
    assert flat["two"]["properties"]["value"] == "abc"
    assert flat["two"]["properties"]["wait_secs"] == 0
    assert (flat["one"]["resource_action"], flat["one"]["resource_status"]) == ("INIT", "COMPLETE")
    assert flat["one"]["resource_identity"] == {
        "tenant": "p1",
        "stack_name": "pre",
        "stack_id": "None",
        "path": "/resources/one",
    }
    (nested,) = [each for each in stack["resources"] if isinstance(each, list)]
    assert (nested[0]["resource_name"], nested[0]["parent_resource"]) == ("r", "nest")
    assert nested[0]["stack_name"] == "pre-nest"
    assert api("GET", "/stacks", with_count="true").body["count"] == before


def test_a_template_without_resources_can_be_previewed(api: Any) -> None:
    template = {**EMPTY, "description": "nothing"}
    reply = api("POST", "/stacks/preview", {"stack_name": "pre", "template": template})
    stack = reply.body["stack"]
    assert (stack["description"], stack["resources"]) == ("nothing", [])
    path = api.create("previewed", {**EMPTY, "resources": {"a": {"type": "OS::Heat::None"}}})
    changes = api("PUT", f"{path}/preview", {"template": template}).body["resource_changes"]
    assert [each["resource_name"] for each in changes["deleted"]] == ["a"]


def test_a_preview_masks_what_is_hidden(api: Any) -> None:
    template = {
        **EMPTY,
        "parameters": {"h": {"type": "string", "hidden": True, "default": "swordfish"}},
        "resources": {
            "a": {"type": "OS::Heat::TestResource", "properties": {"value": {"get_param": "h"}}}
        },
    }
    reply = api("POST", "/stacks/preview", {"stack_name": "pre", "template": template})
    assert reply.status == 200
    assert "swordfish" not in str(reply.body)


def test_a_faulty_creation_is_refused_when_it_is_previewed(api: Any) -> None:
    reply = api("POST", "/stacks/preview", {"stack_name": "pre", "template": {**EMPTY, "x": 1}})
    assert reply.status == 400


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_an_update_is_previewed_in_five_lists(api: Any, method: str) -> None:
    def build(**resources: Any) -> dict[str, Any]:
        kind = "OS::Heat::TestResource"
        rows = {name: {"type": kind, "properties": each} for name, each in resources.items()}
        return {**EMPTY, "resources": rows}

    old = build(same={"value": "x"}, changed={"value": "x"}, other={"value": "x"}, gone={})
    replaced = {"value": "y", "update_replace": True}
    new = build(same={"value": "x"}, changed={"value": "y"}, other=replaced, added={})
    path = api.create(f"preview{method.lower()}", old)
    reply = api(method, f"{path}/preview", {"template": new})
    assert reply.status == 200, reply.body
    found = {
        name: [each["resource_name"] for each in rows]
        for name, rows in reply.body["resource_changes"].items()
    }
    assert found == {
        "unchanged": ["same"],
        "updated": ["changed"],
        "replaced": ["other"],
        "added": ["added"],
        "deleted": ["gone"],
    }
    assert api.state(path) == "CREATE_COMPLETE"


def test_types_are_listed_by_name(api: Any) -> None:
    found = api("GET", "/resource_types").body["resource_types"]
    assert found == sorted(found)
    assert {"OS::Heat::TestResource", "OS::Heat::RandomString", "OS::Heat::Stack"} <= {*found}


@pytest.mark.parametrize(
    ("query", "has", "lacks"),
    [
        ({"name": "OS::Heat::R"}, "OS::Heat::RandomString", "OS::Heat::Stack"),
        ({"name": ".*String$"}, "OS::Heat::RandomString", "OS::Heat::ResourceGroup"),
        ({"version": "2014.1"}, "OS::Heat::RandomString", "OS::Heat::Value"),
        ({"support_status": "SUPPORTED"}, "OS::Heat::RandomString", "OS::Heat::DeployedServer2"),
    ],
)
def test_types_are_filtered(api: Any, query: Any, has: str, lacks: str) -> None:
    found = api("GET", "/resource_types", **query).body["resource_types"]
    assert has in found
    assert lacks not in found


def test_types_are_listed_with_descriptions(api: Any) -> None:
    rows = api("GET", "/resource_types", with_description="true").body["resource_types"]
    assert all(set(row) == {"resource_type", "description"} for row in rows)


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("/resource_types", {"support_status": "NICE"}, 400),
        ("/resource_types", {"name": "("}, 400),
        ("/resource_types/OS::No::Such", {}, 404),
        ("/resource_types/OS::No::Such/template", {}, 404),
        ("/resource_types/OS::Heat::Value/template", {"template_type": "x"}, 400),
        ("/template_versions/nope/functions", {}, 404),
    ],
)
def test_what_is_refused(api: Any, path: str, query: Any, status: int) -> None:
    assert api("GET", path, **query).status == status


def test_a_type_is_its_schema(api: Any) -> None:
    shown = api("GET", "/resource_types/OS::Heat::RandomString").body
    assert set(shown) == {"resource_type", "properties", "attributes", "support_status"}
    length = shown["properties"]["length"]
    assert (length["type"], length["required"], length["default"]) == ("integer", False, 32)
    assert {"range": {"min": 1, "max": 512}} in length["constraints"]
    assert {"update_allowed", "immutable", "description"} <= set(length)
    assert shown["properties"]["character_classes"]["schema"]["*"]["type"] == "map"
    assert set(shown["attributes"]) == {"show", "value"}
    assert set(shown["support_status"]) == {"status", "version", "message", "previous_status"}
    more = api("GET", "/resource_types/OS::Heat::RandomString", with_description="true").body
    assert more["description"]


def test_a_template_of_a_type_can_be_validated(api: Any) -> None:
    names = api("GET", "/resource_types").body["resource_types"]
    for name in names:
        hot = api("GET", f"/resource_types/{name}/template", template_type="hot")
        assert hot.status == 200, name
        assert hot.body["heat_template_version"] == "2016-10-14"
        assert hot.body["description"].startswith("Initial template of ")
        cfn = api("GET", f"/resource_types/{name}/template")
        assert cfn.body["HeatTemplateFormatVersion"] == "2012-12-12"
        assert {"Parameters", "Resources", "Outputs"} <= set(cfn.body)
    reply = api("POST", "/validate", {"template": hot.body})
    assert reply.status == 200, reply.body


def test_versions_have_aliases_and_functions(api: Any) -> None:
    rows = api("GET", "/template_versions").body["template_versions"]
    found = {row["version"]: row for row in rows}
    assert len(found) == 13
    assert found["AWSTemplateFormatVersion.2010-09-09"]["type"] == "cfn"
    rocky = found["heat_template_version.2018-08-31"]
    assert rocky == {
        "version": "heat_template_version.2018-08-31",
        "type": "hot",
        "aliases": ["heat_template_version.rocky"],
    }
    for version in (*found, "heat_template_version.rocky"):
        rows = api("GET", f"/template_versions/{version}/functions").body["template_functions"]
        assert all(set(row) == {"functions", "description"} for row in rows)
        assert all(row["description"] for row in rows), version


def test_functions_of_conditions_are_told_when_asked_for(api: Any) -> None:
    place = "/template_versions/heat_template_version.2018-08-31/functions"
    plain = {row["functions"] for row in api("GET", place).body["template_functions"]}
    more = api("GET", place, with_condition_func="true").body["template_functions"]
    assert {"get_attr", "get_param", "list_join"} <= plain
    assert {"equals", "not", "and", "or"} <= {row["functions"] for row in more}


def test_build_info_and_services(api: Any) -> None:
    unknown = {"revision": "unknown"}
    assert api("GET", "/build_info").body == {"api": unknown, "engine": unknown}
    (row,) = api.become("p1/admin")("GET", "/services").body["services"]
    assert row["status"] == "up"
    assert set(row) == {
        "id",
        "hostname",
        "host",
        "binary",
        "engine_id",
        "topic",
        "status",
        "created_at",
        "updated_at",
        "deleted_at",
        "report_interval",
    }


@pytest.mark.parametrize(
    ("inner", "wanted"),
    [
        pytest.param({}, [("updated", "o", None), ("unchanged", "i", "o")], id="unchanged"),
        pytest.param(
            {"j": {"type": "OS::Heat::None"}},
            [("updated", "o", None), ("unchanged", "i", "o"), ("added", "j", "o")],
            id="added",
        ),
    ],
)
def test_a_preview_of_an_update_shows_what_is_nested(
    api: Any, inner: dict[str, Any], wanted: list[Any]
) -> None:
    def build(**more: Any) -> str:
        resources = {"i": {"type": "OS::Heat::RandomString"}, **more}
        return json.dumps({"heat_template_version": "2018-08-31", "resources": resources})

    template = {"heat_template_version": "2018-08-31", "resources": {"o": {"type": "inner.yaml"}}}
    path = api.create(f"nested-{len(inner)}", template, files={"inner.yaml": build()})
    body = {"template": template, "files": {"inner.yaml": build(**inner)}}
    changes = api("PUT", f"{path}/preview", body, show_nested="True").body["resource_changes"]
    found = [
        (place, each["resource_name"], each.get("parent_resource"))
        for place, rows in changes.items()
        for each in rows
    ]
    assert sorted(found, key=str) == sorted(wanted, key=str)
    changes = api("PUT", f"{path}/preview", body).body["resource_changes"]
    assert [each["resource_name"] for rows in changes.values() for each in rows] == ["o"]


def test_a_preview_reads_the_requirements_of_each_resource_once(
    api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    maps: list[int] = []

    def count(requires: dict[str, Any]) -> dict[str, list[str]]:
        maps.append(len(requires))
        return map_dependents(requires)

    monkeypatch.setattr(previews, "map_dependents", count)
    row = {"type": "OS::Heat::TestResource"}
    rows: dict[str, Any] = {"first": row}
    rows |= {f"r{number}": {**row, "depends_on": "first"} for number in range(9)}
    template = {"heat_template_version": "2018-08-31", "resources": rows}
    reply = api("POST", "/stacks/preview", {"stack_name": "wide", "template": template})
    users = {
        each["resource_name"]: each["required_by"] for each in reply.body["stack"]["resources"]
    }
    assert users == {name: [] for name in rows} | {"first": [f"r{number}" for number in range(9)]}
    assert maps == [10]
