"""Templates as types: classes made from files, and nested stacks loaded from their specs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from zonda.core.template.load import ChildSpec, Identity, StackDefinition
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.nested_stack import ChildTemplate

Tree = Callable[..., StackDefinition]

CHILD = """
parameters:
  s: {type: string}
  n: {type: number, default: 3}
  l: {type: comma_delimited_list, default: "a,b"}
  j: {type: json, default: {}}
  b: {type: boolean, default: false, description: A switch.}
resources:
  t: {type: Thing, properties: {value: {get_param: s}}}
outputs:
  s: {value: {get_attr: [t, value]}, description: What was given.}
  name: {value: {get_param: "OS::stack_name"}}
"""


def child_of(
    definition: StackDefinition, name: str, properties: Mapping[str, Any] | None = None
) -> StackDefinition:
    """The nested stack of a resource, through what is kept of it."""
    node = definition.resources[name]
    if properties is None:
        properties = node.resolve(definition.scope(None)).properties
    resolved = ResourceDefinition(name, node.type, properties)
    instance: Any = node.cls(name, resolved, None)  # type: ignore[arg-type]
    made = instance.next_template(None, 0)
    spec = definition.build_child_spec(name, made, resolved)
    kept = ChildSpec.from_json(json.loads(json.dumps(spec.to_json())))
    return definition.family.load(kept, Identity(f"id-{name}", f"stack-{name}", "project"))


def test_parameters_are_properties_and_outputs_attributes(tree: Tree) -> None:
    cls = (
        tree("resources: {c: {type: c.yaml, properties: {s: x}}}", {"c.yaml": CHILD})
        .resources["c"]
        .cls
    )
    schema = {name: each.type for name, each in cls.properties_schema.items()}
    assert schema == {"s": "String", "n": "Number", "l": "List", "j": "Map", "b": "Boolean"}
    assert cls.properties_schema["s"].required
    assert not cls.properties_schema["n"].required
    assert cls.properties_schema["b"].description == "A switch."
    assert all(each.update_allowed for each in cls.properties_schema.values())
    assert [*cls.attributes_schema] == ["s", "name"]
    assert cls.is_nested_stack


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("n: 5", {"n": 5}),
        ('n: "5"', {"n": 5}),
        ("n: null", {"n": 0}),
        ("s: null", {"s": ""}),
        ("l: null", {"l": []}),
        ("l: [a, null, 3]", {"l": ["a", "", "3"]}),
        ("l: [{a: 1, b: 2}]", {"l": [".member.0.a=1", ".member.0.b=2"]}),
        ('l: "x, y"', {"l": ["x", " y"]}),
        ("j: [1]", {"j": [1]}),
        ("""j: '{"k": 1}'""", {"j": {"k": 1}}),
        ("j: null", {"j": {}}),
        ('b: "True"', {"b": True}),
        ("s: 5", {"s": "5"}),
    ],
)
def test_properties_become_parameters_as_in_heat(
    tree: Tree, given: str, expected: dict[str, Any]
) -> None:
    s = "" if given.startswith("s:") else "s: x, "
    root = tree(
        f"resources: {{c: {{type: c.yaml, properties: {{{s}{given}}}}}}}", {"c.yaml": CHILD}
    )
    values = child_of(root, "c").parameters.values
    assert {name: values[name] for name in expected} == expected


def test_a_nested_stack_is_loaded_from_what_is_kept_of_it(tree: Tree) -> None:
    files = {
        "mid.yaml": "parameters: {x: {type: string}}\n"
        "resources: {b: {type: leaf.yaml, properties: {x: {get_param: x}}}}",
        "leaf.yaml": "parameters: {x: {type: string}}\noutputs: {y: {value: {get_param: x}}}",
    }
    root = tree("resources: {a: {type: mid.yaml, properties: {x: top}}}", files)
    mid = child_of(root, "a")
    leaf = child_of(mid, "b")
    assert (root.depth, mid.depth, leaf.depth) == (0, 1, 2)
    assert leaf.spec is not None
    assert leaf.spec.names == ("a", "b")
    assert leaf.outputs["y"].resolve(leaf.scope(None)) == "top"
    assert leaf.parameters.value("OS::stack_name") == "stack-b"


@pytest.fixture
def generated(tree: Tree) -> Callable[..., StackDefinition]:
    def made(template: Mapping[str, Any], **bundle: Any) -> StackDefinition:
        root = tree("resources: {g: {type: Thing}}", **bundle)
        resolved = root.resources["g"].resolve(root.scope(None))
        spec = root.build_child_spec("g", ChildTemplate({**HOT, **template}), resolved)
        return root.family.load(spec, Identity("i", "n", "p"))

    return made


HOT = {"heat_template_version": "2018-08-31"}


def test_what_stands_in_the_resources_of_a_generated_template_is_no_function(
    generated: Callable[..., StackDefinition],
) -> None:
    data = {"get_param": "OS::stack_name"}
    child = generated(
        {
            "resources": {"0": {"type": "Thing", "properties": {"value": data}, "metadata": data}},
            "outputs": {"name": {"value": data}},
        }
    )
    resolved = child.resources["0"].resolve(child.scope(None))
    assert resolved.properties == {"value": data}
    assert resolved.metadata == data
    assert child.outputs["name"].resolve(child.scope(None)) == "n"
