"""Parameters: types, sources of values, refusals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from zonda.core.template.parameters.types import CONVERSIONS, to_json
from zonda.hooks.errors import TemplateError

Faults = Callable[..., tuple[TemplateError, ...]]


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [
        pytest.param("string", True, "True", id="string-bool"),
        pytest.param("string", ["a", 1], "['a', 1]", id="string-list"),
        pytest.param("number", " 5 ", 5, id="number-blanks"),
        pytest.param("number", "1_000", 1000, id="number-underscore"),
        pytest.param("number", "1e3", 1000.0, id="number-exponent"),
        pytest.param("number", "inf", math.inf, id="number-inf"),
        pytest.param("number", True, True, id="number-bool-unchanged"),
        pytest.param("boolean", " Yes ", True, id="boolean-word"),
        pytest.param("boolean", 0, False, id="boolean-int"),
        pytest.param("comma_delimited_list", "", [], id="list-empty"),
        pytest.param("comma_delimited_list", "a, b,", ["a", " b", ""], id="list-not-trimmed"),
        pytest.param("comma_delimited_list", [None, True], ["None", "True"], id="list-items"),
        pytest.param("json", '{"a": [1]}', {"a": [1]}, id="json-text"),
        pytest.param("json", {1: 2}, {"1": 2}, id="json-keys-become-text"),
        pytest.param("json", "", "", id="json-empty-text"),
    ],
)
def test_conversion(kind: str, given: Any, value: Any) -> None:
    converted = CONVERSIONS[kind](given)

    assert converted == value
    assert type(converted) is type(value)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        pytest.param("number", "0x10", id="number-hex"),
        pytest.param("number", [], id="number-list"),
        pytest.param("boolean", 1.0, id="boolean-float"),
        pytest.param("boolean", 2, id="boolean-two"),
        pytest.param("comma_delimited_list", 5, id="list-int"),
        pytest.param("comma_delimited_list", {}, id="list-map"),
        pytest.param("json", "{a: b}", id="json-yaml"),
    ],
)
def test_conversion_refuses(kind: str, given: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        CONVERSIONS[kind](given)


DECLARED = "parameters: {p: {type: string, default: template}}"


@pytest.mark.parametrize(
    ("bundle", "value"),
    [
        pytest.param({}, "template", id="default"),
        pytest.param({"environment": "parameter_defaults: {p: d}"}, "d", id="parameter-default"),
        pytest.param(
            {"environment": "{parameters: {p: e}, parameter_defaults: {p: d}}"}, "e", id="env"
        ),
        pytest.param(
            {"environment": "parameters: {p: e}", "parameters": {"p": "u"}}, "u", id="user-wins"
        ),
        pytest.param(
            {"environment_files": (("e", "parameters: {p: f}"),), "parameters": {"p": "u"}},
            "f",
            id="files-merged-on-the-server-win",
        ),
        pytest.param(
            {
                "environment_files": (("e", "parameters: {p: f}"),),
                "parameters": {"p": "u"},
                "parameters_win": True,
            },
            "u",
            id="the-command-line-wins",
        ),
        pytest.param({"parameters": {"p": None}}, "template", id="null-is-not-given"),
    ],
)
def test_where_a_value_comes_from(loaded: Any, bundle: dict[str, Any], value: str) -> None:
    assert loaded(DECLARED, **bundle).parameters.values == {"p": value}


@pytest.mark.parametrize(
    ("schema", "given", "message", "heat_type"),
    [
        pytest.param(
            "{typ: string}", {}, "Invalid key 'typ' for parameter (p)", "InvalidSchemaError",
            id="unknown-key",
        ),
        pytest.param(
            "{default: a}", {}, "Missing parameter type for parameter: p", "InvalidSchemaError",
            id="no-type",
        ),
        pytest.param(
            "{type: number, constraints: [{length: {max: 1}}]}", {"p": 5},
            "Parameter 'p' is invalid: Length constraint invalid for number",
            "InvalidSchemaError", id="constraint-does-not-fit",
        ),
        pytest.param(
            "{type: string, default: a, constraints: [{length: {min: 3}}]}", {"p": "good"},
            "Parameter 'p' is invalid: Invalid default a "
            "(length (1) is out of range (min: 3, max: None))",
            "InvalidSchemaError", id="default-is-checked-though-a-value-is-given",
        ),
        pytest.param(
            "{type: number, constraints: [{range: {max: 1}, description: small}]}", {"p": 3},
            "Parameter 'p' is invalid: small", "StackValidationFailed", id="description",
        ),
        pytest.param(
            "{type: string}", {"q": 1, "p": "x"},
            "The Parameter (q) was not defined in template.", "UnknownUserParameter",
            id="unknown-name",
        ),
        pytest.param(
            "{type: string, constraints: [{length: {max: 2}}]}", {"p": 12345}, None,
            "StackValidationFailed", id="length-of-a-number",
        ),
    ],
)  # fmt: skip
def test_what_is_refused(
    faults: Faults, schema: str, given: dict[str, Any], message: str | None, heat_type: str
) -> None:
    (fault,) = faults(f"parameters: {{p: {schema}}}", parameters=given)

    assert message is None or str(fault) == message
    assert fault.heat_type == heat_type
    by_the_caller = fault.heat_type in ("StackValidationFailed", "UnknownUserParameter")
    assert (fault.place is None) == by_the_caller


@pytest.mark.parametrize(
    ("version", "schema"),
    [
        pytest.param("2017-09-01", "{type: string, default: a, tags: [x]}", id="tags"),
        pytest.param(
            "2016-10-14",
            "{type: number, default: 1, constraints: [{modulo: {step: 2, offset: 1}}]}",
            id="modulo",
        ),
    ],
)
def test_what_an_older_version_does_not_know(
    faults: Faults, loaded: Any, version: str, schema: str
) -> None:
    template = f"parameters: {{p: {schema}}}"

    assert faults(template, version=version)[0].heat_type == "InvalidSchemaError"
    assert loaded(template).parameters.values


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        pytest.param({"p": 7}, False, id="same"),
        pytest.param({"p": "7"}, True, id="given-as-text-counts-as-changed"),
        pytest.param({"p": 8}, True, id="changed"),
        pytest.param({}, True, id="the-new-default"),
    ],
)
def test_an_immutable_parameter_may_not_change(
    loaded: Any, faults: Faults, given: dict[str, Any], refused: bool
) -> None:
    template = "parameters: {p: {type: number, default: 1, immutable: true}}"

    if not refused:
        assert loaded(template, parameters=given, previous={"p": 7}).parameters.values
        return
    (fault,) = faults(template, parameters=given, previous={"p": 7})
    assert fault.heat_type == "ImmutableParameterModified"
    assert fault.message == "The following parameters are immutable and may not be updated: p"


def test_a_declared_pseudo_parameter_wins(loaded: Any) -> None:
    stack = loaded("parameters: {'OS::stack_name': {type: string, default: mine}}")

    assert stack.parameters.value("OS::stack_name") == "mine"
    assert stack.parameters.value("OS::project_id") == "pr0j"


def _nest(levels: int) -> Any:
    value: Any = {}
    for level in range(levels - 1):
        value = [value] if level % 2 else {"k": value}
    return value


def _call_from(depth: int, value: Any) -> Any:
    """The value of a JSON parameter, converted where the stack is ``depth`` calls deeper."""
    return _call_from(depth - 1, value) if depth else to_json(value)


@pytest.mark.parametrize("levels", [1, 16, 17, 200])
def test_a_map_is_copied_however_deep_it_is(levels: int) -> None:
    given = _nest(levels)
    made = _call_from(500, given)
    assert made == given
    assert made is not given


def test_a_map_is_refused_deeper_than_a_text_may_be() -> None:
    with pytest.raises(ValueError, match="nested deeper than 200 levels"):
        to_json(_nest(201))


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("given", ["[" * 201 + "]" * 201, _nest(201)], ids=["text", "map"])
def test_json_beyond_the_limit_has_the_code_of_what_is_too_large(
    faults: Faults, given: Any, hidden: bool
) -> None:
    schema = f"parameters: {{p: {{type: json, hidden: {hidden}}}}}"

    (fault,) = faults(schema, parameters={"p": given})

    assert str(fault) == "Parameter 'p' is invalid: it is nested deeper than 200 levels"
    assert fault.code == "ZON119"


@pytest.mark.parametrize(
    ("given", "made"),
    [
        pytest.param({1: (2, None)}, {"1": [2, None]}, id="keys-and-tuples"),
        pytest.param({"a": {True: 1.5}}, {"a": {"true": 1.5}}, id="below"),
    ],
)
def test_what_json_writes_in_another_way_is_read_so(given: Any, made: Any) -> None:
    assert to_json(given) == made
