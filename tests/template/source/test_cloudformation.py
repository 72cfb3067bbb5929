"""Templates in CloudFormation's notation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from zonda.core.template import redaction
from zonda.core.template.source.document import Document, load_document
from zonda.hooks.errors import TemplateError

TEXT = """HeatTemplateFormatVersion: '2012-12-12'
Description: A word.
Parameters:
  Size:
    Type: Number
    Default: 3
    MinValue: 1
    MaxValue: 5
    AllowedValues: [1, 3]
    ConstraintDescription: between 1 and 5
  Word: {Type: String, NoEcho: 'true'}
  List: {Type: CommaDelimitedList, Default: 'a,b'}
Mappings:
  Sizes: {small: {ram: 1}}
Resources:
  T:
    Type: Thing
    DependsOn: U
    DeletionPolicy: Retain
    Properties: {value: {'Fn::Join': ['-', [{Ref: Word}, {Ref: 'AWS::StackName'}]]}}
  U: {Type: Thing, Properties: {value: {'Fn::FindInMap': [Sizes, small, ram]}}}
Outputs:
  O: {Value: {'Fn::GetAtt': [T, value]}, Description: It.}
  P: {Value: {'Fn::FindInMap': [Sizes, small, ram]}}
"""
SECRET = "xyzzy-plugh"
Faults = Callable[..., tuple[TemplateError, ...]]


def read(text: str) -> Document:
    return load_document(text, "c.template")


def test_sections_and_keys_have_the_names_of_hot() -> None:
    data: dict[str, Any] = read(TEXT).data
    told = {"description": "between 1 and 5"}
    assert data["parameters"] == {
        "Size": {
            "type": "number",
            "default": 3,
            "constraints": [
                {"range": {"min": 1, "max": 5}, **told},
                {"allowed_values": [1, 3], **told},
            ],
        },
        "Word": {"type": "string", "hidden": True},
        "List": {"type": "comma_delimited_list", "default": "a,b"},
    }
    assert data["resources"]["T"]["depends_on"] == "U"
    assert data["resources"]["T"]["deletion_policy"] == "Retain"
    assert data["outputs"]["O"] == {"value": {"Fn::GetAtt": ["T", "value"]}, "description": "It."}
    assert read(TEXT).written["Resources"]["T"]["DependsOn"] == "U"


def test_such_a_template_may_be_a_type(tree: Callable[..., Any]) -> None:
    root = tree(
        "resources: {c: {type: c.template, properties: {Word: w}}}",
        files={},
        more={"c.template": TEXT},
    )
    node = root.resources["c"]
    assert [*node.cls.properties_schema] == ["Size", "Word", "List"]
    assert node.cls.properties_schema["Word"].hidden
    assert [*node.cls.attributes_schema] == ["O", "P"]


def test_places_are_those_of_the_text() -> None:
    document = read(TEXT)
    assert document.place(("resources", "T", "properties", "value"), key=True).line == 20  # type: ignore[union-attr]
    assert document.place(("parameters", "Word", "hidden"), key=True).column == 24  # type: ignore[union-attr]
    assert document.place(("outputs", "O", "value"), key=True).line == 23  # type: ignore[union-attr]


def test_a_section_that_there_is_not_is_refused_with_its_place(faults: Faults) -> None:
    (fault,) = faults("HeatTemplateFormatVersion: '2012-12-12'\nResource: {}", version="")
    assert str(fault.place) == "t.yaml:2:1"
    assert fault.hint == "Did you mean Resources?"


def test_faults_stand_in_the_text_under_its_own_names(faults: Faults) -> None:
    text = """HeatTemplateFormatVersion: '2012-12-12'
Resources:
  a:
    Type: Thing
    Properties:
      number: many
"""
    (fault,) = faults(text, version="")
    assert str(fault) == (
        "Property error: Resources.a.Properties.number: could not convert string to float: 'many'"
    )
    assert str(fault.place) == "t.yaml:6:7"


def test_any_other_text_is_what_it_is() -> None:
    document = read("heat_template_version: 2018-08-31\nParameters: {}")
    assert document.data is document.written
    assert document.place(("parameters",), key=True) is not None


def test_the_default_of_a_parameter_without_echo_is_not_shown(tree: Callable[..., Any]) -> None:
    child = f"""HeatTemplateFormatVersion: '2012-12-12'
Parameters: {{P: {{Type: String, Default: "{SECRET}", NoEcho: true}}}}
"""
    root = tree("resources: {c: {type: c.template}}", more={"c.template": child})
    bundle = root.family.load_context.bundle
    shown = redaction.redact_bundle(bundle, root, redaction.find_secrets(bundle, root))
    assert "NoEcho" in shown.files["c.template"]
    assert SECRET not in shown.files["c.template"]


def test_a_template_is_exported_as_it_is_written_without_its_secrets(loaded: Any) -> None:
    text = f"""AWSTemplateFormatVersion: '2010-09-09'
Parameters: {{P: {{Type: String, Default: "{SECRET}", NoEcho: true}}}}
Resources: {{a: {{Type: Thing, Properties: {{value: {{Ref: P}}}}}}}}
"""
    stack = loaded(text, version="")
    bundle = stack.family.load_context.bundle
    shown = redaction.redact_bundle(bundle, stack, redaction.find_secrets(bundle, stack))
    assert SECRET not in shown.template + str(shown.written) + str(shown.data)
    assert shown.written["Resources"]["a"]["Type"] == "Thing"


@pytest.mark.parametrize(
    "text",
    [
        "Parameters: {P: {Type: [1], AllowedValues: 5}}",
        "Parameters: [1]",
        "Resources: {R: 5}",
    ],
)
def test_whatever_is_wrong_is_left_to_the_checks(text: str) -> None:
    assert read(f"HeatTemplateFormatVersion: '2012-12-12'\n{text}").data
