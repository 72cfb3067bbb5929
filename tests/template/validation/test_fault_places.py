"""Places and hints of faults: environments, circles, declarations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from zonda.core.template.load import StackDefinition
from zonda.hooks.errors import TemplateError

Faults = Callable[..., tuple[TemplateError, ...]]

NUMBER = "parameters:\n  size: {type: number, constraints: [{range: {max: 5}}]}\n"


@pytest.mark.parametrize(
    ("environment", "code", "place"),
    [
        pytest.param("parameters:\n  size: x\n", "ZON111", "e.yaml:2:3", id="type"),
        pytest.param("parameters:\n\n  size: 9\n", "ZON133", "e.yaml:3:3", id="constraint"),
        pytest.param("parameter_defaults:\n  size: 9\n", "ZON133", "e.yaml:2:3", id="default"),
        pytest.param("parameters: {size: 1, sise: 1}\n", "ZON113", "e.yaml:1:23", id="unknown"),
        pytest.param("parameter:\n  size: 1\n", "ZON136", "e.yaml:1:1", id="section"),
        pytest.param("parameters: {size: 1}\nparameters_defaults: 1", "ZON136", "e.yaml:2:1",
                     id="another-section"),
        pytest.param("resource_registry: {A: 1}", "ZON124", "e.yaml:1:21", id="registry"),
        pytest.param("parameters: [", "ZON102", "e.yaml:2:1", id="text"),
    ],
)  # fmt: skip
def test_a_fault_of_an_environment_points_into_it(
    faults: Faults, environment: str, code: str, place: str
) -> None:
    fault = faults(NUMBER, environment_files=(("e.yaml", environment),))[0]

    assert (fault.code, str(fault.place)) == (code, place)


def test_the_environment_that_gave_the_value_last_is_to_blame(faults: Faults) -> None:
    files = (
        ("one.yaml", "parameters: {size: 1}"),
        ("two.yaml", "\nparameters: {size: 9}"),
        ("three.yaml", "parameters: {size: null}"),
    )
    (fault,) = faults(NUMBER, environment_files=files)

    assert str(fault.place) == "two.yaml:2:14"
    assert [str(each.place) for each in fault.related] == ["t.yaml:3:3"]


@pytest.mark.parametrize(
    ("wins", "place"),
    [pytest.param(True, "None", id="ours"), pytest.param(False, "e.yaml:1:14", id="server")],
)
def test_who_gave_the_value_that_counts_is_to_blame(faults: Faults, wins: bool, place: str) -> None:
    (fault,) = faults(
        NUMBER,
        environment_files=(("e.yaml", "parameters: {size: 9}"),),
        parameters={"size": 8},
        parameters_win=wins,
    )

    assert str(fault.place) == place
    assert [str(each.place) for each in fault.related] == ["t.yaml:3:3"]


def test_an_alias_that_leads_nowhere_points_into_the_environment(faults: Faults) -> None:
    (fault,) = faults(
        "resources:\n  a:\n    type: My::Thing\n",
        environment_files=(("e.yaml", "resource_registry:\n  My::Thing: Thingy\n"),),
    )

    assert (fault.code, str(fault.place)) == ("ZON122", "e.yaml:2:3")
    assert fault.hint == "Did you mean Thing?"
    assert [str(each.place) for each in fault.related] == ["t.yaml:4:5"]


def test_a_circle_says_what_makes_each_step(faults: Faults) -> None:
    (fault,) = faults(
        """\
resources:
  a:
    type: Thing
    depends_on: [d, b]
  b:
    type: Thing
    properties:
      value: {list_join: ["-", [{get_attr: [c, other]}]]}
  c:
    type: Thing
    metadata:
      of: {get_resource: a}
  d: {type: Thing}
"""
    )

    assert [each.message for each in fault.related] == [
        "a needs b: resources.a.depends_on[1]",
        "b needs c: resources.b.properties.value.list_join[1][0].get_attr",
        "c needs a: resources.c.metadata.of.get_resource",
    ]
    assert [str(each.place) for each in fault.related] == [
        "t.yaml:5:21",
        "t.yaml:9:34",
        "t.yaml:13:12",
    ]


RIGHT = """\
parameters: {size: {type: string, default: small, constraints: [{allowed_values: [small, large]}]}}
conditions: {is_large: true}
resources:
  web: {type: Thing}
"""


@pytest.mark.parametrize(
    ("text", "code", "meant"),
    [
        ("resources: {a: {type: thing}}", "ZON122", "Thing"),
        ("resources: {a: {type: Thing, Depends-On: []}}", "ZON138", "depends_on"),
        ("resources: {a: {type: Thing, propertys: {}}}", "ZON138", "properties"),
        ("resources: {web: {type: Thing, depends_on: wbe}}", "ZON120", "web"),
        ("resources: {web: {type: Thing},"
         " b: {type: Thing, properties: {value: {get_resource: wbe}}}}", "ZON120", "web"),
        ("resources: {web: {type: Thing}}\noutputs: {o: {value: {get_attr: [web, valeu]}}}",
         "ZON121", "value"),
        ("resources: {a: {type: Thing, properties: {vlaue: 1}}}", "ZON141", "value"),
        ("resources: {a: {type: Thing, properties: {nested: {color: red}}}}", "ZON141", "colour"),
        ("parameters: {size: {type: string, default: x}}\n"
         "resources: {a: {type: Thing, properties: {value: {get_param: sise}}}}", "ZON128", "size"),
        ("resources: {a: {type: Thing, properties: {value: {get_param: 'OS::stack-name'}}}}",
         "ZON128", "OS::stack_name"),
        ("conditions: {is_large: true}\nresources: {a: {type: Thing, condition: islarge}}",
         "ZON131", "is_large"),
        ("conditions: {c: {equal: [1, 1]}}", "ZON115", "equals"),
        ("outputs: {o: {vlaue: 1}}", "ZON105", "value"),
        ("paramters: {}", "ZON103", "parameters"),
        ("parameters: {p: {type: strnig, default: x}}", "ZON110", "string"),
        ("parameters: {p: {type: string, defualt: x}}", "ZON110", "default"),
        ("parameters: {p: {type: string, default: x, constraints: [{allowed_value: [x]}]}}",
         "ZON110", "allowed_values"),
        ("parameters: {p: {type: string, default: smal,"
         " constraints: [{allowed_values: [small, large]}]}}", "ZON135", "small"),
        ("resources: {a: {type: Thing, deletion_policy: Retian}}", "ZON126", "Retain"),
        ("parameters: {p: {type: string, default: x}}\nparameter_groups: [{parameters: [P]}]",
         "ZON106", "p"),
    ],
)  # fmt: skip
def test_an_unknown_name_is_told_with_the_one_that_was_meant(
    faults: Faults, text: str, code: str, meant: str
) -> None:
    fault = faults(text)[0]

    assert (fault.code, fault.hint) == (code, f"Did you mean {meant}?")


def test_a_value_that_is_not_allowed_is_told_with_the_one_that_was_meant(faults: Faults) -> None:
    (fault,) = faults(RIGHT, parameters={"size": "smal"}, parameters_win=True)

    assert (fault.code, fault.hint) == ("ZON133", "Did you mean small?")


def test_a_hidden_value_is_not_given_away_by_a_hint(faults: Faults) -> None:
    (fault,) = faults(
        RIGHT.replace("type: string", "type: string, hidden: true"),
        parameters={"size": "smal"},
        parameters_win=True,
    )

    assert fault.hint == ""
    assert "smal" not in str(fault)


def test_a_hidden_value_in_a_property_is_not_given_away_by_a_hint(faults: Faults) -> None:
    (fault,) = faults(
        "parameters: {size: {type: string, hidden: true}}\n"
        "resources: {a: {type: Choosy, properties: {size: {get_param: size}}}}",
        parameters={"size": "smal"},
        parameters_win=True,
    )

    assert (fault.code, fault.hint) == ("ZON143", "")
    assert "smal" not in str(fault)


def test_a_resource_that_its_condition_leaves_out_is_told_so(faults: Faults) -> None:
    (fault,) = faults(
        "resources:\n"
        "  a: {type: Thing, condition: false}\n"
        "  b: {type: Thing, properties: {value: {get_resource: a}}}\n"
    )

    assert (fault.code, fault.hint) == ("ZON120", "a is left out by its condition.")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("resources: {p: {type: Picky, properties: {value: bad}}}", "ZON145", id="own"),
        pytest.param("resources: {p: {type: Picky, properties: {value: crash}}}", "ZON145",
                     id="crash"),
        pytest.param("resources: {p: {type: Picky}}", "ZON142", id="missing"),
        pytest.param("resources: {p: {type: Thing, properties: {number: x}}}", "ZON140", id="kind"),
        pytest.param("outputs: {o: {value: {list_join: 3}}}", "ZON116", id="call"),
        pytest.param("outputs: {o: {value: {'Fn::Base64': x}}}", "ZON117", id="removed"),
        pytest.param("conditions: {c: {get_file: x}}", "ZON117", id="not-in-a-condition"),
        pytest.param("conditions: {a: {not: b}, b: {not: a}}\n"
                     "resources: {r: {type: Thing, condition: a}}", "ZON132", id="circle"),
    ],
)  # fmt: skip
def test_a_kind_of_fault_has_its_code(faults: Faults, text: str, code: str) -> None:
    found = faults(text)

    assert [fault.code for fault in found] == [code]


def test_a_check_of_a_plug_in_that_cannot_ask_is_a_warning(
    loaded: Callable[..., StackDefinition],
) -> None:
    found = loaded("resources: {p: {type: Picky, properties: {value: remote}}}").warnings

    assert [(each.code, each.message) for each in found] == [("ZON616", "nobody to ask")]


def test_a_plug_in_that_raises_without_a_text_is_told_by_the_class_of_what_it_raised(
    faults: Faults,
) -> None:
    (fault,) = faults("resources: {p: {type: Picky, properties: {value: silent}}}")

    assert str(fault) == "AssertionError: resources.p: raised without a text"


@pytest.mark.parametrize(
    ("value", "call"),
    [
        pytest.param("{get_param: none}", "get_param", id="call"),
        pytest.param("[1, {a: {get_param: none}}]", "get_param", id="inside-data"),
        pytest.param("{list_join: ['-', [x, {get_file: none}]]}", "get_file", id="inside-a-call"),
        pytest.param("{list_join: ['-', [{str_split: [1, 2]}]]}", "str_split", id="its-own-fault"),
        pytest.param("{list_join: [7, [{get_param: 'OS::stack_id'}]]}", "list_join", id="outer"),
    ],
)
def test_a_fault_of_a_value_points_to_the_call_that_fails(
    faults: Faults, value: str, call: str
) -> None:
    line = f"resources: {{a: {{type: Thing, properties: {{value: {value}}}}}}}"

    assert str(faults(line)[0].place) == f"t.yaml:2:{line.index(call) + 1}"


def test_no_fault_of_a_template_is_without_a_kind(faults: Faults) -> None:
    text: Any = """\
sectoin: 1
parameters: {p: {type: x}, q: {type: number, default: many}}
parameter_groups: [1]
conditions: {c: 1, d: {equals: 1}}
resources:
  a: {type: Gone, depends_on: [z], properties: {v: {get_attr: [z]}}}
  b: {type: Thing, metadata: 1, condition: nope, deletion_policy: {get_param: none}}
  c: {type: Thing, properties: {x: 1, number: y, value: {get_file: f}, text: {digest: [a]}}}
  d: 7
outputs: {o: 1, n: {value: {str_split: 3}}}
"""
    found = faults(text)

    assert len(found) > 12
    assert {fault.code for fault in found}.isdisjoint({"ZON000", "ZON100"})
