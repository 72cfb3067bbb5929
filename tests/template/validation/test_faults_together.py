"""Every fault at once, with its place, and the one that Heat would raise in front."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from zonda.core.functions.versions import build_function_table
from zonda.core.plugins.manager import Plugins
from zonda.core.template.load import Bundle, Identity, load
from zonda.hooks.errors import TemplateError, ValidationErrors

Faults = Callable[..., tuple[TemplateError, ...]]

FIVE_MISTAKES = """\
parameters:
  size: {type: numbr}
resources:
  web:
    type: Thing
    properties:
      vaule: 1
      number: many
  db:
    type: Thingy
    depends_on: wbe
outputs:
  o:
    value: {get_attr: [web, nothing]}
"""


def test_five_mistakes_and_one_more_are_all_told_with_their_places(faults: Faults) -> None:
    found = faults(FIVE_MISTAKES)

    assert [(str(fault.place), fault.hint) for fault in found] == [
        ("t.yaml:3:10", "Did you mean number?"),
        ("t.yaml:11:5", "Did you mean Thing?"),
        ("t.yaml:12:5", "Did you mean web?"),
        ("t.yaml:8:7", "Did you mean value?"),
        ("t.yaml:9:7", ""),
        ("t.yaml:15:13", ""),
    ]
    assert [str(fault) for fault in found] == [
        "Invalid type (numbr)",
        "The Resource Type (Thingy) could not be found.",
        'The specified reference "wbe" (in db) is incorrect.',
        "Property error: resources.web.properties: Unknown Property vaule",
        "Property error: resources.web.properties.number: "
        "could not convert string to float: 'many'",
        "outputs.o.value.get_attr: The Referenced Attribute (web nothing) is incorrect.",
    ]


def test_the_error_as_a_whole_reads_like_the_first_fault(loaded: Any) -> None:
    with pytest.raises(ValidationErrors) as caught:
        loaded(FIVE_MISTAKES)

    error = caught.value
    assert str(error) == "Invalid type (numbr)"
    assert error.heat_type == "InvalidSchemaError"
    assert error.place == error.errors[0].place
    assert error.stage == "validate"


ORDER = [
    # One line per phase of Heat's checks; each template holds a fault of this phase and the next.
    ("sections", "foo: 1\nparameters: {p: {type: x}}", "The template section is invalid: foo"),
    (
        "parameter-schemas",
        "parameters: {p: {type: x}, q: {type: string}}",
        "Invalid type (x)",
    ),
    (
        "parameter-values",
        "parameters: {p: {type: string}}\nparameter_groups: [{parameters: [z]}]",
        "The Parameter (p) was not provided.",
    ),
    (
        "groups",
        "parameter_groups: [{parameters: [z]}]\nconditions: {c: 1}",
        "Parameter Groups error: parameter_groups.: "
        "The grouped parameter z does not reference a valid parameter.",
    ),
    (
        "conditions",
        "conditions: {c: 1}\nresources: {a: {type: Thing, metadata: {x: {get_attr: 1}}}}",
        'Condition validation error: The definition of condition "c" is invalid: 1',
    ),
    (
        "functions-before-types",
        "resources: {a: {type: Gone}, b: {type: Thing, properties: {value: {get_attr: 1}}}}",
        'resources.b.properties.value.get_attr: Argument to "get_attr" must be a list',
    ),
    (
        "types-before-names",
        "parameters: {a: {type: string, default: x}}\nresources: {a: {type: Gone}}",
        "The Resource Type (Gone) could not be found.",
    ),
    (
        "names-before-outputs",
        "parameters: {a: {type: string, default: x}}\n"
        "resources: {a: {type: Thing}}\noutputs: {o: 1}",
        "Duplicate names {'a'}",
    ),
    (
        "outputs-before-references",
        "resources: {a: {type: Thing, depends_on: z}}\noutputs: {o: 1}",
        "Output validation error: outputs.o: Output definitions must be a map. Found a int instead",
    ),
    (
        "references-before-properties",
        "resources: {a: {type: Thing, properties: {x: 1}}, b: {type: Thing, depends_on: z}}",
        'The specified reference "z" (in b) is incorrect.',
    ),
    (
        "dependency-order-of-properties",
        "resources: {a: {type: Thing, depends_on: b, properties: {x: 1}},"
        " b: {type: Thing, properties: {y: 1}}}",
        "Property error: resources.b.properties: Unknown Property y",
    ),
    (
        "properties-before-outputs",
        "resources: {a: {type: Thing, properties: {x: 1}}}\n"
        "outputs: {o: {value: {get_attr: [a, none]}}}",
        "Property error: resources.a.properties: Unknown Property x",
    ),
]


@pytest.mark.parametrize(
    ("template", "first"), [pytest.param(*row[1:], id=row[0]) for row in ORDER]
)
def test_the_first_fault_is_the_one_heat_checks_first(
    faults: Faults, template: str, first: str
) -> None:
    found = faults(template)

    assert str(found[0]) == first
    assert len(found) > 1


@pytest.mark.parametrize(
    ("template", "version", "stage", "heat_type"),
    [
        pytest.param("resources: [", "2018-08-31", "parse", "ValueError", id="text"),
        pytest.param("", "2018-09-01", "parse", "InvalidTemplateVersion", id="version"),
        pytest.param("resources: {}", "", "parse", "ValueError", id="no-version"),
    ],
)
def test_a_text_that_cannot_be_read_ends_it(
    faults: Faults, template: str, version: str, stage: str, heat_type: str
) -> None:
    (fault,) = faults(template, version=version)

    assert (fault.stage, fault.heat_type) == (stage, heat_type)
    assert fault.place is not None


def test_a_circle_names_its_shortest_ring(faults: Faults) -> None:
    (fault,) = faults(
        "resources: {a: {type: Thing, depends_on: b}, b: {type: Thing, depends_on: a}}"
    )

    assert fault.heat_type == "CircularDependencyException"
    assert fault.ring == ("a", "b", "a")  # type: ignore[attr-defined]


def test_what_depends_on_a_wrong_parameter_is_no_fault_of_its_own(faults: Faults) -> None:
    found = faults(
        "parameters: {p: {type: number}}\n"
        "resources: {a: {type: Thing, properties: {number: {get_param: p}}}}\n"
        "outputs: {o: {value: {list_join: [',', [{get_param: p}]]}}}"
    )

    assert [str(fault) for fault in found] == ["The Parameter (p) was not provided."]


def test_a_name_that_is_unknown_in_one_place_is_told_once(faults: Faults) -> None:
    found = faults("resources: {a: {type: Thing, properties: {value: {get_attr: [z, value]}}}}")

    assert [fault.heat_type for fault in found] == ["InvalidTemplateReference"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        pytest.param("bad", "bad is not good", id="its-own-error"),
        pytest.param("crash", "RuntimeError: resources.p: no such luck", id="a-crash"),
    ],
)
def test_what_a_plugin_finds_is_a_fault(faults: Faults, value: str, shown: str) -> None:
    (fault,) = faults(f"resources: {{p: {{type: Picky, properties: {{value: {value}}}}}}}")

    assert str(fault) == shown
    assert str(fault.place) == "t.yaml:2:13"


def test_properties_may_be_checked_apart_from_loading(types: Any, context: Any) -> None:
    stack = load(
        Bundle(
            "heat_template_version: rocky\n"
            "resources:\n"
            "  a: {type: Thing, properties: {number: x}}\n"
            "outputs: {o: {value: {get_attr: [a, none]}}}\n"
        ),
        identity=Identity("5eb1", "stack", "pr0j"),
        plugins=Plugins(resource_types={"Thing": types["Thing"]}),
        functions=build_function_table,
    )

    with pytest.raises(ValidationErrors) as caught:
        stack.validate(lambda node: context)

    assert [str(fault.place) for fault in caught.value.errors] == ["template:3:33", "template:4:23"]


def test_functions_are_checked_in_a_resource_whose_type_is_not_known(loaded: Any) -> None:
    text = """\
resources:
  a:
    type: No::Such
    properties: {value: {get_param: nothing}}
"""
    with pytest.raises(ValidationErrors) as caught:
        loaded(text)

    assert [error.message for error in caught.value.errors] == [
        "The Resource Type (No::Such) could not be found.",
        "The Parameter (nothing) was not provided.",
    ]


def test_a_condition_on_a_wrong_parameter_is_no_fault_of_its_own(loaded: Any) -> None:
    text = """\
parameters:
  p: {type: string}
conditions:
  c: {equals: [{get_param: p}, x]}
resources:
  a:
    type: Thing
    condition: c
    properties: {value: {if: [c, 1, 2]}}
outputs:
  o: {condition: c, value: {if: [c, 1, 2]}}
"""
    with pytest.raises(ValidationErrors) as caught:
        loaded(text)

    assert [error.message for error in caught.value.errors] == [
        "The Parameter (p) was not provided."
    ]


def test_ref_to_a_parameter_without_a_value_is_no_fault(loaded: Any) -> None:
    text = """\
parameters:
  p: {type: string}
resources:
  a: {type: Thing, properties: {value: {Ref: p}}}
"""
    assert loaded(text, version="2013-05-23", all_given=False).resources


def test_values_of_parameters_can_be_left_for_later(loaded: Any) -> None:
    text = """\
parameters:
  p: {type: string}
  q: {type: number, default: many}
resources:
  a: {type: Thing, properties: {value: {get_param: p}, number: few}}
"""
    with pytest.raises(ValidationErrors) as caught:
        loaded(text, all_given=False)

    found = [str(error) for error in caught.value.errors]
    assert len(found) == 2
    assert "Parameter 'q' is invalid" in found[0]
    assert "resources.a.properties.number" in found[1]
