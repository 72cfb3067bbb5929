"""A stack within a stack, by template."""

from __future__ import annotations

import pytest

from zonda.builtin_resources.stack import CfnStack, Stack
from zonda.hooks.errors import InvalidTemplateAttribute, TemplateError
from zonda.hooks.resources.nested_stack import ChildTemplate
from zonda.hooks.testing import FakeChild, NestedLifecycle

TEXT = "heat_template_version: 2018-08-31\n"


def child() -> FakeChild:
    made = FakeChild()
    outputs = {"o": {"value": {"k": 1}}, "a.b": {"value": 2}}
    made.become(ChildTemplate({"resources": {}, "outputs": outputs}))
    return made


def test_the_text_and_the_parameters_are_what_it_is_made_of() -> None:
    life = NestedLifecycle(Stack, {"template": TEXT, "parameters": {"p": 1}})
    life.validate()
    stack = life.instance()
    assert isinstance(stack, Stack)
    assert stack.next_template(None, 0) == ChildTemplate(text=TEXT, parameters={"p": 1})
    assert stack.template_for_validation() == ChildTemplate(text=TEXT, parameters={"p": 1})
    assert stack.next_template(child(), 1) is None


def test_its_name_and_its_outputs_are_attributes() -> None:
    life = NestedLifecycle(Stack, {"template": TEXT})
    assert life.attribute("outputs") is None
    life.context.nested = child()
    assert life.attribute("stack_name") == "teststack-group-0123456789ab"
    assert life.attribute("outputs") == {"o": {"k": 1}, "a.b": 2}
    assert life.attribute("outputs", "o", "k") == 1
    assert life.attribute("outputs", "nothing") is None


def test_it_cannot_be_elsewhere() -> None:
    here = {"template": TEXT, "context": {"insecure": True}}
    NestedLifecycle(Stack, here).validate()
    there = {"template": TEXT, "context": {"region_name": "far"}}
    with pytest.raises(TemplateError, match='at region "far"'):
        NestedLifecycle(Stack, there).validate()


def test_cloudformations_takes_a_file() -> None:
    life = NestedLifecycle(CfnStack, {"TemplateURL": "child.yaml", "Parameters": {"p": 1}})
    stack = life.instance()
    assert isinstance(stack, CfnStack)
    expected = ChildTemplate(file="child.yaml", parameters={"p": 1})
    assert stack.next_template(None, 0) == expected


def test_cloudformations_outputs_are_attributes() -> None:
    life = NestedLifecycle(CfnStack, {"TemplateURL": "child.yaml"})
    assert life.attribute("Outputs.o") is None
    life.context.nested = child()
    assert life.attribute("Outputs.o", "k") == 1
    assert life.attribute("Outputs.a.b") == 2
    for key in ("Outputs.zzz", "o", "Outputs."):
        with pytest.raises(InvalidTemplateAttribute):
            life.attribute(key)
