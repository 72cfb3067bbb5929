"""Secrets on their way into nested stacks and out of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from zonda.core.template.load import ChildSpec, Identity, StackDefinition
from zonda.hooks.resources.definition import ResourceDefinition

Tree = Callable[..., StackDefinition]

FILES = {
    "echo.yaml": "parameters: {p: {type: string, default: x}, q: {type: string, default: y}}\n"
    "resources:\n  t: {type: Thing, properties: {value: {get_param: p}}}\n"
    "  deep: {type: deep.yaml, properties: {d: {get_param: p}}}\n"
    "outputs:\n"
    "  p: {value: {get_param: p}}\n"
    "  q: {value: {get_param: q}}\n"
    "  both: {value: {list_join: ['', [{get_param: [p]}, {get_param: q}]]}}\n"
    "  of_thing: {value: {get_attr: [t, other]}}\n"
    "  covered: {value: {get_attr: [t, covered]}}\n"
    "  sealed: {value: {get_attr: [t, sealed]}}\n"
    "  deep: {value: {get_attr: [deep, d]}}\n"
    "  fixed: {value: 1}\n"
    "  facade: {value: {resource_facade: metadata}}",
    "deep.yaml": "parameters: {d: {type: string}}\noutputs: {d: {value: {get_param: d}}}",
    "maker.yaml": "parameters: {word: {type: string, hidden: true, default: w}}\n"
    "outputs: {word: {value: {get_param: word}}, open: {value: 1}}",
    "chain.yaml": "parameters: {types: {type: comma_delimited_list}}\n"
    "resources: {g: {type: Group, properties: {types: {get_param: types}}}}\n"
    "outputs: {word: {value: {get_attr: [g, word]}}, open: {value: {get_attr: [g, open]}}}",
}
SECRET = (
    "parameters: {s: {type: string, hidden: true, default: secret}, o: {type: string, default: o}}"
)


def marks(root: StackDefinition, name: str, *attributes: str | None) -> list[str]:
    return [root.secrecy.classify_attribute(name, each) for each in attributes]


def child_of(root: StackDefinition, name: str) -> StackDefinition:
    node = root.resources[name]
    resolved: ResourceDefinition = node.resolve(root.scope(None))
    instance: Any = node.cls(name, resolved, None)  # type: ignore[arg-type]
    spec = root.build_child_spec(name, instance.next_template(None, 0), resolved)
    kept = ChildSpec.from_json(json.loads(json.dumps(spec.to_json())))
    return root.family.load(kept, Identity("i", "n", "p"))


EXPECTED = {
    "p": "hidden",
    "q": "open",
    "both": "hidden",
    "of_thing": "sealed",
    "covered": "hidden",
    "sealed": "sealed",
    "deep": "hidden",
    "fixed": "open",
    "facade": "open",
}


def test_a_hidden_property_hides_the_outputs_that_repeat_it(tree: Tree) -> None:
    root = tree(
        f"{SECRET}\nresources: {{c: {{type: echo.yaml, properties: {{p: {{get_param: s}}, "
        "q: {get_param: o}}}}",
        FILES,
    )
    assert dict(zip(EXPECTED, marks(root, "c", *EXPECTED), strict=True)) == EXPECTED
    outputs = child_of(root, "c").outputs
    assert {name: output.secrecy for name, output in outputs.items()} == EXPECTED
    assert marks(root, "c", "show", None) == ["hidden"] * 2


def test_what_a_nested_template_hides_is_hidden_above(tree: Tree) -> None:
    root = tree(
        "resources: {c: {type: maker.yaml}}\noutputs: {o: {value: {get_attr: [c, word]}}}", FILES
    )
    assert marks(root, "c", "word", "open") == ["hidden", "open"]
    assert root.outputs["o"].secrecy == "hidden"


def test_hidden_parameters_of_a_nested_stack_are_masked(tree: Tree) -> None:
    root = tree(
        f"{SECRET}\nresources: {{c: {{type: echo.yaml, properties: {{p: {{get_param: s}}}}}}}}",
        FILES,
    )
    child = child_of(root, "c")
    assert child.parameters.redact_values()["p"] == "(hidden)"
    assert child.resources["t"].secrecy == {"value": "hidden"}


@pytest.mark.parametrize(
    ("properties", "attribute", "mark"),
    [
        ("member: {type: echo.yaml, properties: {p: {get_param: s}}}", "p", "hidden"),
        ("member: {type: echo.yaml, properties: {p: {get_param: s}}}", "q", "open"),
        ("member: {type: echo.yaml, properties: {p: {get_param: o}}}", "p", "open"),
        ("member: {type: maker.yaml}", "word", "hidden"),
        ("member: {type: maker.yaml}", "open", "open"),
        ("member: {type: Thing}", "covered", "hidden"),
        ("member: {type: Thing}", "value", "open"),
        ("member: {type: echo.yaml}, secret: x", "q", "open"),
        ("member: {type: Thing, properties: {text: {get_param: s}}}", "value", "sealed"),
        ("member: {type: Thing, properties: {text: {get_param: s}}}", "echo", "hidden"),
        ("types: [maker.yaml, echo.yaml]", "word", "hidden"),
        ("types: [{get_attr: [other, value]}]", "word", "hidden"),
        ("member: {type: Thing}", "refs", "sealed"),
        ("member: {type: echo.yaml}", "refs", "open"),
    ],
)
def test_a_group_shows_what_its_members_show(
    tree: Tree, properties: str, attribute: str, mark: str
) -> None:
    root = tree(
        f"{SECRET}\nresources:\n  other: {{type: Thing}}\n"
        f"  g: {{type: Group, properties: {{{properties}}}}}",
        FILES,
    )
    assert marks(root, "g", attribute) == [mark]


UNKNOWN = object()


@pytest.mark.parametrize(
    ("attribute", "path", "mark"),
    [
        ("resource.t", (), "sealed"),
        ("resource.t", ("covered",), "hidden"),
        ("resource.t", ("other",), "sealed"),
        ("resource.t.covered", (), "hidden"),
        ("resource.deep", (), "open"),
        ("resource.deep", ("d",), "hidden"),
        ("resource.deep.d", (), "hidden"),
        ("resource.deep", (UNKNOWN,), "hidden"),
        ("resource.none", (), "hidden"),
    ],
)
def test_one_resource_of_a_nested_template_shows_what_it_shows_there(
    tree: Tree, attribute: str, path: tuple[Any, ...], mark: str
) -> None:
    root = tree(
        f"{SECRET}\nresources: {{c: {{type: echo.yaml, properties: {{p: {{get_param: s}}}}}}}}",
        FILES,
    )
    assert root.secrecy.classify_attribute("c", attribute, path) == mark


@pytest.mark.parametrize(
    ("read", "mark"),
    [
        ("attributes, q", "open"),
        ("attributes, p", "hidden"),
        ("attributes, fixed, x", "open"),
        ("attributes, {get_param: o}", "hidden"),
        ("attributes, {get_attr: [other, value]}", "hidden"),
        ("attributes", "hidden"),
        ("attributes, nothing", "hidden"),
        ("resource.0, q", "open"),
        ("resource.0.q", "open"),
        ("resource.0, p", "hidden"),
        ("resource.0.p", "hidden"),
        ("resource.a.b, q", "hidden"),
        ("resource.a.p, q", "hidden"),
        ("resource.0", "open"),
        ("resource.0, {get_attr: [other, value]}", "hidden"),
        ("resource.0, resource.deep, d", "hidden"),
        ("resource.0, resource.t, other", "sealed"),
        ("resource.0, resource.t, covered", "hidden"),
    ],
)
def test_what_stands_behind_an_attribute_of_a_group_decides_too(
    tree: Tree, read: str, mark: str
) -> None:
    """The same value by another path: what [g, q] shows, [g, resource.0, q] shows as well."""
    root = tree(
        f"{SECRET}\nresources:\n  other: {{type: Thing}}\n"
        "  g: {type: Group, properties: {member: {type: echo.yaml, properties: "
        "{p: {get_param: s}, q: {get_param: o}}}}}\n"
        f"outputs: {{x: {{value: {{get_attr: [g, {read}]}}}}}}",
        FILES,
    )
    assert root.outputs["x"].secrecy == mark
    # inside of a file, too, which is told from its text
    nested = tree(
        f"{SECRET}\nresources: {{c: {{type: c.yaml, properties: {{s: {{get_param: s}}}}}}}}",
        {
            **FILES,
            "c.yaml": "parameters: {s: {type: string}, o: {type: string, default: o}}\n"
            "resources:\n  other: {type: Thing}\n"
            "  g: {type: Group, properties: {member: {type: echo.yaml, properties: "
            "{p: {get_param: s}, q: {get_param: o}}}}}\n"
            f"outputs: {{x: {{value: {{get_attr: [g, {read}]}}}}}}",
        },
    )
    assert nested.secrecy.classify_attribute("c", "x") == mark


def test_the_members_of_a_group_have_the_marks_of_what_they_are_given(tree: Tree) -> None:
    root = tree(
        f"{SECRET}\nresources: {{g: {{type: Group, properties: {{member: {{type: echo.yaml, "
        "properties: {p: {get_param: s}, q: {get_param: o}}}}}}",
        FILES,
    )
    members = child_of(root, "g")
    assert members.resources["0"].secrecy == {"p": "hidden", "q": "open"}
    assert members.secrecy.classify_attribute("0", "deep") == "hidden"
    assert members.secrecy.classify_attribute("0", "q") == "open"


def test_types_that_come_by_a_parameter_are_looked_into(tree: Tree) -> None:
    root = tree(
        "resources:\n  a: {type: chain.yaml, properties: {types: [maker.yaml]}}\n"
        "  b: {type: chain.yaml, properties: {types: [deep.yaml]}}",
        {**FILES, "deep.yaml": "outputs: {word: {value: 1}}"},
    )
    assert marks(root, "a", "word", "open") == ["hidden", "open"]
    assert marks(root, "b", "word") == ["open"]


def test_hidden_metadata_is_hidden_in_the_facade(tree: Tree) -> None:
    root = tree(
        f"{SECRET}\nresources: {{c: {{type: echo.yaml, metadata: {{m: {{get_param: s}}}}}}}}", FILES
    )
    assert child_of(root, "c").outputs["facade"].secrecy == "hidden"
    assert marks(root, "c", "facade") == ["hidden"]


def test_a_long_chain_of_nested_stacks_is_no_trouble(tree: Tree) -> None:
    lines = [
        f"  r{n}: {{type: deep.yaml, properties: {{d: {{get_attr: [r{n - 1}, d]}}}}}}"
        for n in range(1, 800)
    ]
    text = "\n".join(
        [SECRET, "resources:", "  r0: {type: deep.yaml, properties: {d: {get_param: s}}}", *lines]
    )
    root = tree(text, FILES)
    assert marks(root, "r799", "d") == ["hidden"]


def test_many_threads_find_the_same_marks_and_signatures(tree: Tree) -> None:
    root = tree(
        f"{SECRET}\nresources:\n"
        + "".join(
            f"  c{n}: {{type: echo.yaml, properties: {{p: {{get_param: s}}, q: v{n}}}}}\n"
            f"  g{n}: {{type: Group, properties: {{member: {{type: maker.yaml}}}}}}\n"
            for n in range(20)
        ),
        FILES,
    )
    names = list(root.resources)

    def asked(start: int) -> set[tuple[str, str]]:
        turned = names[start:] + names[:start]
        return {
            (name, f"{root.fingerprint(name)} {root.secrecy.classify_attribute(name, each)}")
            for name in turned
            for each in ("p", "word")
        }

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(asked, range(8)))
    assert all(each == found[0] for each in found)
