"""Nested templates in CloudFormation's notation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from zonda.core.template import cfn_documents
from zonda.core.template.source import Document, load_document
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
  P: {Value: {'Fn::GetAtt': T.value}}
"""


def read(text: str) -> Document:
    return cfn_documents.read(load_document(text, "c.template"))


def test_sections_and_keys_have_the_names_of_hot() -> None:
    data: dict[str, Any] = read(TEXT).data
    assert data["heat_template_version"] == "2013-05-23"
    told = {"description": "between 1 and 5"}
    assert data["parameters"] == {
        "Size": {
            "type": "number",
            "default": 3,
            "constraints": [
                {"allowed_values": [1, 3], **told},
                {"range": {"min": 1, "max": 5}, **told},
            ],
        },
        "Word": {"type": "string", "hidden": True},
        "List": {"type": "comma_delimited_list", "default": "a,b"},
    }
    assert data["resources"]["T"]["depends_on"] == "U"
    assert data["resources"]["T"]["deletion_policy"] == "Retain"
    assert data["outputs"]["P"] == {"value": {"get_attr": ["T", "value"]}}


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


def test_a_section_that_hot_has_not_is_refused_with_its_place() -> None:
    with pytest.raises(TemplateError) as caught:
        read("HeatTemplateFormatVersion: '2012-12-12'\nResource: {}")
    assert str(caught.value.place) == "c.template:2:1"
    assert caught.value.hint == "Did you mean Resources?"


def test_any_other_text_is_what_it_is() -> None:
    document = load_document("heat_template_version: 2018-08-31", "t")
    assert cfn_documents.read(document) is document


@pytest.mark.parametrize(
    "text",
    [
        "Outputs: {O: {Value: {Ref: [1]}}}",
        "Outputs: {O: {Value: {'Fn::GetAtt': 5}}}",
        "Outputs: {O: {Value: {'Fn::FindInMap': [a, {Ref: b}, c]}}}\nMappings: 5",
        "Parameters: {P: {Type: [1], AllowedValues: 5}}",
        "Parameters: [1]",
        "Resources: {R: 5}",
    ],
)
def test_whatever_is_wrong_is_left_to_the_checks(text: str) -> None:
    assert read(f"HeatTemplateFormatVersion: '2012-12-12'\n{text}").data
