"""Root templates in CloudFormation's notation on the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Zonda

BODY = """\
Parameters:
  Size: {Type: String, Default: small, AllowedValues: [small, large]}
  Secret: {Type: String, NoEcho: 'true', Default: swordfish}
Mappings: {M: {small: {len: '4'}, large: {len: '9'}}}
Resources:
  a:
    Type: OS::Heat::TestResource
    Properties:
      value: {"Fn::Join": ['-', [{Ref: Size}, {"Fn::FindInMap": [M, {Ref: Size}, len]}]]}
Outputs:
  o: {Value: {"Fn::GetAtt": [a, output]}}
  secret: {Value: {Ref: Secret}}
"""
HEADS = ["AWSTemplateFormatVersion: '2010-09-09'\n", "HeatTemplateFormatVersion: '2012-12-12'\n"]


@pytest.mark.parametrize("head", HEADS)
def test_a_stack_is_planned_made_and_changed(
    zonda: Zonda, write: Callable[[str, str], Path], head: str
) -> None:
    file = write("t.yaml", head + BODY)
    large = ("s", "-t", file, "-P", "Size=large")
    shown = [
        zonda("template", "validate", file, "-f", "table"),
        zonda("stack", "plan", "s", "-t", file, "-f", "table"),
        zonda("stack", "create", "s", "-t", file),
        zonda("stack", "plan", *large, "-f", "table"),
        zonda("stack", "update", *large),
        zonda("stack", "show", "s"),
    ]
    assert '+ properties.value: "small-4"' in shown[1].out
    assert '~ properties.value: "small-4" -> "large-9"' in shown[3].out
    assert zonda("stack", "output", "show", "s", "o", "-f", "value", "-c", "output_value").out == (
        "large-9\n"
    )
    assert not any("swordfish" in each.out + each.err for each in shown)
    refused = zonda("stack", "update", "s", "-t", file, "-P", "Size=huge", code=2)
    assert "Parameter 'Size' is invalid" in refused.err


@pytest.mark.parametrize(
    ("text", "place", "sentence"),
    [
        (HEADS[0].replace("2010", "2011"), "1:1", "should be: 2010-09-09"),
        (HEADS[1].replace("2012", "2013"), "1:1", "should be: 2012-12-12"),
        (HEADS[0] + "Resorces: {}\n", "2:1", "The template section is invalid: Resorces"),
        (HEADS[1] + "Conditions: {}\n", "2:1", "The template section is invalid: Conditions"),
    ],
)
def test_a_bad_version_or_section_is_refused_with_its_place(
    zonda: Zonda, write: Callable[[str, str], Path], text: str, place: str, sentence: str
) -> None:
    file = write("t.yaml", text)
    for words in (("template", "validate"), ("stack", "plan", "s"), ("stack", "create", "s")):
        refused = zonda(*words, "-t", file, code=2)
        assert f"t.yaml:{place}: error: " in refused.err
        assert sentence in refused.err
