"""Root templates in CloudFormation's notation: every route takes them and answers as Heat does."""

from __future__ import annotations

import json
from typing import Any

import pytest

SECRET = "swordfish"
PARAMETERS: dict[str, Any] = {
    "Size": {"Type": "String", "Default": "small", "AllowedValues": ["small", "large"]},
    "Count": {"Type": "Number", "Default": "3", "MinValue": 1, "MaxValue": 9},
    "Secret": {"Type": "String", "NoEcho": "true"},
}
MAPPINGS = {"M": {"small": {"len": "4"}, "large": {"len": "9"}}}
LENGTH = {"Fn::FindInMap": ["M", {"Ref": "Size"}, "len"]}


def make_resource(value: Any, **more: Any) -> dict[str, Any]:
    return {"Type": "OS::Heat::TestResource", "Properties": {"value": value}, **more}


AWS: dict[str, Any] = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Parameters": PARAMETERS,
    "Mappings": MAPPINGS,
    "Conditions": {"big": {"Fn::Equals": [{"Ref": "Size"}, "large"]}},
    "Resources": {
        "a": make_resource({"Fn::Join": ["-", [LENGTH, {"Fn::If": ["big", "B", "S"]}]]}),
        "s": make_resource({"Ref": "Secret"}),
        "extra": make_resource({"Fn::GetAtt": ["a", "output"]}, Condition="big"),
    },
    "Outputs": {"o": {"Value": {"Fn::GetAtt": ["a", "output"]}}},
}
HEAT: dict[str, Any] = {
    "HeatTemplateFormatVersion": "2012-12-12",
    "Parameters": PARAMETERS,
    "Mappings": MAPPINGS,
    "Resources": {"a": make_resource({"Fn::Join": ["-", [LENGTH, {"Ref": "Size"}]]})},
    "Outputs": {"o": {"Value": {"Fn::GetAtt": ["a", "output"]}}},
}
GIVEN = {"Secret": SECRET}


def read_output(api: Any, path: str) -> Any:
    return api("GET", f"{path}/outputs/o").body["output"]["output_value"]


@pytest.mark.parametrize(
    ("name", "template", "values"),
    [("aws", AWS, ("4-S", "9-B", "4-S")), ("heat", HEAT, ("4-small", "9-large", "4-small"))],
)
def test_a_stack_is_made_and_changed_by_its_functions(
    api: Any, name: str, template: Any, values: tuple[str, ...]
) -> None:
    first, second, third = values
    path = api.create(name, template, parameters=GIVEN)
    assert read_output(api, path) == first
    large = {"template": template, "parameters": {**GIVEN, "Size": "large"}}
    changes = api("PUT", f"{path}/preview", large).body["resource_changes"]
    assert [row["properties"]["value"] for row in changes["updated"]] == [second]
    assert [row["resource_name"] for row in changes["added"]] == ["extra"] * (name == "aws")
    assert api("PUT", path, large).status == 202
    assert api.wait(path) == "UPDATE_COMPLETE"
    assert read_output(api, path) == second
    small = {"parameters": {"Size": "small"}}
    changes = api("PATCH", f"{path}/preview", small).body["resource_changes"]
    assert [row["resource_name"] for row in changes["deleted"]] == ["extra"] * (name == "aws")
    assert api("PATCH", path, small).status == 202
    assert api.wait(path) == "UPDATE_COMPLETE"
    assert read_output(api, path) == third
    assert api("GET", f"{path}/template").body == template
    reply = api("PATCH", path, {"parameters": {"Size": "huge"}})
    assert (reply.status, reply.kind) == (400, "StackValidationFailed")
    assert reply.message.startswith("Parameter 'Size' is invalid: ")


@pytest.mark.parametrize("template", [AWS, HEAT])
def test_the_parameters_shown_are_those_of_the_notation(api: Any, template: Any) -> None:
    name = "shown-aws" if template is AWS else "shown-heat"
    body = {"stack_name": name, "template": template, "parameters": GIVEN}
    replies = {"None": api("POST", "/stacks/preview", body)}
    path = api.create(name, template, parameters=GIVEN)
    replies[path.rpartition("/")[2]] = api("GET", path)
    for key, reply in replies.items():
        assert reply.body["stack"]["parameters"] == {
            "AWS::StackId": f"arn:openstack:heat::p1:stacks/{name}/{key}",
            "AWS::StackName": name,
            "AWS::Region": "ap-southeast-1",
            "Size": "small",
            "Count": "3",
            "Secret": "******",
        }
        assert SECRET not in json.dumps(reply.body)


@pytest.mark.parametrize("template", [AWS, HEAT])
def test_a_validation_says_what_the_parameters_take(api: Any, template: Any) -> None:
    found = api("POST", "/validate", {"template": template}).body["Parameters"]
    assert found["Size"]["AllowedValues"] == ["small", "large"]
    assert (found["Size"]["Default"], found["Size"]["NoEcho"]) == ("small", "false")
    assert (found["Count"]["Type"], found["Count"]["MaxValue"]) == ("Number", 9)
    assert (found["Secret"]["NoEcho"], "Default" in found["Secret"]) == ("true", False)


WRONG_VERSION = 'The template version is invalid: "{0}: {1}". "{0}" should be: {2}'
FAULTS: list[tuple[dict[str, Any], str]] = [
    (
        {"AWSTemplateFormatVersion": "2011-01-01"},
        WRONG_VERSION.format("AWSTemplateFormatVersion", "2011-01-01", "2010-09-09"),
    ),
    (
        {"HeatTemplateFormatVersion": "2010-09-09"},
        WRONG_VERSION.format("HeatTemplateFormatVersion", "2010-09-09", "2012-12-12"),
    ),
    (
        {"AWSTemplateFormatVersion": "2010-09-09", "Resorces": {}},
        "The template section is invalid: Resorces",
    ),
    (
        {"HeatTemplateFormatVersion": "2012-12-12", "Conditions": {}},
        "The template section is invalid: Conditions",
    ),
]


@pytest.fixture(scope="module")
def stack(api: Any) -> str:
    """The path of a stack whose updates are refused."""
    return str(api.create("kept", HEAT, parameters=GIVEN))


@pytest.mark.parametrize(("template", "message"), FAULTS)
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/validate"),
        ("POST", "/stacks"),
        ("POST", "/stacks/preview"),
        ("PUT", "{stack}"),
        ("PATCH", "{stack}"),
        ("PUT", "{stack}/preview"),
        ("PATCH", "{stack}/preview"),
    ],
)
def test_a_bad_version_or_section_is_refused_in_heats_words(
    api: Any, stack: str, method: str, path: str, template: dict[str, Any], message: str
) -> None:
    body = {"template": template, **({"stack_name": "bad"} if path.startswith("/stacks") else {})}
    reply = api(method, path.format(stack=stack), body)
    assert (reply.status, reply.message) == (400, message)
