"""Whole templates as values: names in them mean what they mean in a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from zonda.core.engine.actions import CreateStack, UpdateStack
from zonda.core.template.files.reader import load_bundle
from zonda.core.template.source.bundle import Bundle
from zonda.core.testing.stack import InlineStack
from zonda.hooks.errors import ValidationErrors

VERSION = "heat_template_version: 2018-08-31\n"
TOP = """
resources:
  s: {type: OS::Heat::Stack, properties: {template: {get_file: sub/c.yaml}}}
outputs:
  o: {value: {get_attr: [s, outputs, o]}}
"""
MIDDLE = """
resources:
  f: {type: OS::Heat::Value, properties: {value: {get_file: data.txt}}}
  l: {type: leaf.yaml}
outputs:
  o: {value: [{get_attr: [f, value]}, {get_attr: [l, o]}]}
"""

Written = Callable[..., Bundle]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    def bundle(leaf: str = "one", middle: str = MIDDLE, data: str = "data") -> Bundle:
        (tmp_path / "sub").mkdir(exist_ok=True)
        (tmp_path / "top.yaml").write_text(VERSION + TOP)
        (tmp_path / "data.txt").write_text("not this one")
        (tmp_path / "sub" / "c.yaml").write_text(VERSION + middle)
        (tmp_path / "sub" / "data.txt").write_text(data)
        (tmp_path / "sub" / "leaf.yaml").write_text(f"{VERSION}outputs: {{o: {{value: {leaf}}}}}")
        return load_bundle(tmp_path / "top.yaml")

    return bundle


@pytest.fixture
def inline(tmp_path: Path) -> InlineStack:
    stack = InlineStack(tmp_path / "home")
    yield stack
    stack.close()


def test_a_template_by_get_file_uses_the_files_beside_it(
    inline: InlineStack, written: Written
) -> None:
    inline.engine.run(CreateStack("test", written()))
    assert inline.outputs == {"o": ["data", "one"]}


@pytest.mark.parametrize(
    ("changed", "shown"),
    [
        pytest.param({"leaf": "two"}, ["data", "two"], id="a type"),
        pytest.param({"data": "other"}, ["other", "one"], id="a file that is read"),
    ],
)
def test_an_update_of_what_it_uses_reaches_it(
    inline: InlineStack, written: Written, changed: dict[str, str], shown: list[str]
) -> None:
    inline.engine.run(CreateStack("test", written()))
    inline.engine.run(UpdateStack("test", written(**changed)))
    assert inline.outputs == {"o": shown}


def test_a_text_that_is_in_no_file_is_followed_as_well(inline: InlineStack) -> None:
    middle = VERSION + "resources: {l: {type: L}}\noutputs: {o: {value: {get_attr: [l, o]}}}"
    indented = middle.replace("\n", "\n          ")
    top = f"""{VERSION}
resources:
  s:
    type: OS::Heat::Stack
    properties:
      template: |
          {indented}
outputs:
  o: {{value: {{get_attr: [s, outputs, o]}}}}
"""
    leaves = {f"{name}.yaml": f"{VERSION}outputs: {{o: {{value: {name}}}}}" for name in ("a", "b")}
    first = Bundle(top, environment="resource_registry: {L: a.yaml}", files=leaves)
    inline.engine.run(CreateStack("test", first))
    assert inline.outputs == {"o": "a"}
    second = replace(first, environment="resource_registry: {L: b.yaml}")
    inline.engine.run(UpdateStack("test", second))
    assert inline.outputs == {"o": "b"}


def test_all_its_faults_stand_in_its_own_file(inline: InlineStack, written: Written) -> None:
    wrong = "resources:\n  a: {type: No::A}\n  b: {type: No::B}"
    with pytest.raises(ValidationErrors) as caught:
        inline.engine.run(CreateStack("test", written(middle=wrong)))
    places = [str(fault.place).rpartition("/")[2] for fault in caught.value.errors]
    assert places == ["c.yaml:3:7", "c.yaml:4:7"]


def test_a_text_in_cloudformations_notation_is_read_as_a_file_is(inline: InlineStack) -> None:
    text = """
    AWSTemplateFormatVersion: '2010-09-09'
    Resources: {v: {Type: OS::Heat::Value, Properties: {value: one}}}
    Outputs: {o: {Value: {'Fn::GetAtt': [v, value]}}}
    """
    properties = {"template": text}
    resources = {"s": {"type": "OS::Heat::Stack", "properties": properties}}
    outputs = {"o": {"value": {"get_attr": ["s", "outputs", "o"]}}}
    template = {"heat_template_version": "2018-08-31", "resources": resources, "outputs": outputs}
    inline.engine.run(CreateStack("test", Bundle(json.dumps(template))))
    assert inline.outputs == {"o": "one"}
