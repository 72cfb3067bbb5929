"""Static marks of secrets, and secrets in messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from zonda.hooks.errors import TemplateError, ValidationErrors

SECRET = "hunter2-hunter2"
HEAD = f"""\
parameters:
  secret: {{type: string, hidden: true, default: {SECRET}}}
  plain: {{type: string, default: visible}}
  named: {{type: string, default: n}}
"""


@pytest.mark.parametrize(
    ("properties", "expression", "mark"),
    [
        pytest.param("{}", "{get_param: secret}", "hidden", id="hidden-parameter"),
        pytest.param("{}", "{get_param: plain}", "open", id="plain-parameter"),
        pytest.param(
            "{}",
            "{list_join: [',', [{str_replace: {template: x, params: {x: {get_param: secret}}}}]]}",
            "hidden",
            id="through-functions",
        ),
        pytest.param("{}", "{get_param: named}", "sealed", id="encrypted-parameter"),
        pytest.param("{}", "{get_attr: [a, sealed]}", "sealed", id="sealed-attribute"),
        pytest.param("{}", "{get_attr: [a, covered]}", "hidden", id="hidden-attribute"),
        pytest.param("{}", "{get_attr: [a]}", "hidden", id="all-attributes"),
        pytest.param("{}", "{get_resource: a}", "sealed", id="reference-that-repeats-a-secret"),
        pytest.param("{secret: x}", "{get_attr: [a, secret]}", "hidden", id="hidden-property"),
        pytest.param(
            "{value: {get_param: secret}}", "{get_attr: [a, value]}", "hidden", id="transitive"
        ),
        pytest.param(
            "{text: {get_param: secret}}", "{get_attr: [a, echo]}", "hidden", id="revealed"
        ),
        pytest.param(
            "{value: {get_param: secret}}",
            "{get_attr: [a, other]}",
            "sealed",
            id="another-attribute",
        ),
        pytest.param(
            "{value: {get_param: plain}}", "{get_attr: [a, other]}", "open", id="no-secret-at-all"
        ),
        pytest.param(
            "{}", "{if: [true, {get_param: plain}, {get_param: secret}]}", "open", id="not-taken"
        ),
    ],
)
def test_an_expression_is_as_secret_as_what_it_reads(
    loaded: Any, properties: str, expression: str, mark: str
) -> None:
    stack = loaded(
        f"{HEAD}resources:\n"
        f"  a: {{type: Thing, properties: {properties}}}\n"
        f"  b: {{type: Thing, properties: {{value: {expression}, number: 1}}}}\n"
        f"outputs: {{o: {{value: {expression}}}}}\n",
        environment="encrypted_param_names: [named]",
    )

    assert stack.resources["b"].secrecy == {"value": mark, "number": "open"}
    assert stack.outputs["o"].secrecy == mark


@pytest.mark.parametrize(
    ("entry", "is_open"),
    [
        pytest.param("{type: Thing, properties: {value: {get_param: plain}}}", False, id="sealed"),
        pytest.param("{type: Picky, properties: {value: x}}", True, id="open"),
        pytest.param(
            "{type: Picky, properties: {value: {get_param: named}}}",
            False,
            id="property",
        ),
        pytest.param(
            "{type: Picky, properties: {value: {get_attr: [z, value]}}}",
            False,
            id="through-another",
        ),
    ],
)
def test_nothing_of_an_open_resource_is_secret(loaded: Any, entry: str, is_open: bool) -> None:
    secret = "{type: Thing, properties: {value: {get_param: secret}}}"
    stack = loaded(
        f"{HEAD}resources:\n  a: {entry}\n  z: {secret}\n",
        environment="encrypted_param_names: [named]",
    )
    marks, names = stack.secrecy, stack.resources["a"].cls.attributes_schema
    assert marks.is_open("a") is is_open
    found = [marks.classify_attribute("a", name) for name in (*names, "show", "unknown")]
    assert ({*found, marks.classify_reference("a")} == {"open"}) is is_open


def test_marks_go_down_a_chain_that_is_longer_than_the_stack_is_deep(loaded: Any) -> None:
    links = "".join(
        f"  r{n}: {{type: Thing, properties: {{value: {{get_attr: [r{n + 1}, other]}}}}}}\n"
        for n in range(1500)
    )
    end = "  r1500: {type: Thing, properties: {value: {get_param: secret}}}\n"
    stack = loaded(f"{HEAD}resources:\n{links}{end}")

    assert stack.resources["r0"].secrecy == {"value": "sealed"}


def test_hidden_parameters_are_masked_when_shown(loaded: Any) -> None:
    stack = loaded(HEAD)

    assert stack.parameters.hidden == {"secret"}
    assert stack.parameters.redact_values() == {
        "OS::stack_name": "stack",
        "OS::stack_id": "5eb1",
        "OS::project_id": "pr0j",
        "secret": "(hidden)",
        "plain": "visible",
        "named": "n",
    }


TELLTALES = [
    pytest.param("{number: {get_param: secret}}", id="conversion"),
    pytest.param("{text: [{get_param: secret}]}", id="type"),
    pytest.param("{value: {list_join: [{get_param: secret}, [[1], 2]]}}", id="function"),
    pytest.param(
        "{value: {if: [{equals: [1, 2]}, 1, {get_file: {get_param: secret}}]}}", id="file"
    ),
    pytest.param("{value: {get_attr: [{get_param: secret}, value]}}", id="name"),
    pytest.param("{nested: {colour: [{get_param: secret}]}}", id="nested"),
]


@pytest.mark.parametrize("properties", TELLTALES)
def test_no_fault_tells_a_hidden_value(
    faults: Callable[..., tuple[TemplateError, ...]], properties: str
) -> None:
    found = faults(f"{HEAD}resources: {{a: {{type: Thing, properties: {properties}}}}}")

    assert found
    told = " ".join(f"{fault} {fault!r} {fault.hint} {fault.args}" for fault in found)
    assert SECRET not in told


@pytest.mark.parametrize(
    ("constraint", "sentence"),
    [
        pytest.param(
            "length: {max: 3}",
            f"length ({len(SECRET)}) is out of range (min: None, max: 3)",
            id="length",
        ),
        pytest.param(
            "allowed_values: [a]", '"(hidden)" is not an allowed value ["a"]', id="allowed-values"
        ),
        pytest.param(
            'allowed_pattern: "[a-z]"', '"(hidden)" does not match pattern "[a-z]"', id="pattern"
        ),
    ],
)
def test_the_broken_constraint_of_a_hidden_parameter_is_named_its_value_masked(
    faults: Callable[..., tuple[TemplateError, ...]], constraint: str, sentence: str
) -> None:
    rule = f"type: string, hidden: true, constraints: [{{{constraint}}}]"
    (given,) = faults(f"parameters: {{p: {{{rule}}}}}", parameters={"p": SECRET})
    assert str(given) == f"Parameter 'p' is invalid: {sentence}"

    default = faults(f"parameters: {{p: {{{rule}, default: {SECRET}}}}}")[0]
    assert str(default) == f"Parameter 'p' is invalid: Invalid default (hidden) ({sentence})"


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("number", "could not convert string to float: '(hidden)'"),
        ("json", "Value must be valid JSON: Expecting value: line 1 column 1 (char 0)"),
    ],
)
def test_the_wrong_type_of_a_hidden_parameter_is_named_its_value_masked(
    faults: Callable[..., tuple[TemplateError, ...]], kind: str, sentence: str
) -> None:
    (fault,) = faults(
        f"parameters: {{p: {{type: {kind}, hidden: true}}}}", parameters={"p": SECRET}
    )
    assert str(fault) == f"Parameter 'p' is invalid: {sentence}"


def test_a_condition_does_not_tell_a_hidden_value(loaded: Any) -> None:
    with pytest.raises(ValidationErrors) as caught:
        loaded(
            f"{HEAD}conditions: {{c: {{get_param: secret}}}}\n"
            "resources: {a: {type: Thing, condition: c}}"
        )

    assert SECRET not in str(caught.value)


def test_an_output_that_fails_does_not_tell_a_hidden_value(loaded: Any) -> None:
    stack = loaded(f"{HEAD}outputs: {{o: {{value: {{get_file: {{get_param: secret}}}}}}}}")

    with pytest.raises(TemplateError) as caught:
        stack.outputs["o"].resolve(stack.scope(None))

    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
