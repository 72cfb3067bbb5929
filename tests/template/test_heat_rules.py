"""Rules of Heat's language that only show in a whole template: tables from snippet to value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from zonda.core.template.validation.resource import NullValues
from zonda.hooks.errors import TemplateError

Faults = Callable[..., tuple[TemplateError, ...]]


def output(loaded: Any, expression: str, version: str = "2018-08-31", rest: str = "") -> Any:
    """The value of one output."""
    definition = loaded(f"{rest}\noutputs: {{o: {{value: {expression}}}}}", version=version)
    return definition.outputs["o"].resolve(definition.scope(NullValues()))


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        pytest.param("!!binary aGk=", [104, 105], id="binary"),
        pytest.param("!!omap [a: 1, b: !!binary aQ==]", [["a", 1], ["b", [105]]], id="omap"),
        pytest.param("!!pairs [a: 1, a: 2]", [["a", 1], ["a", 2]], id="pairs"),
        pytest.param("!!set {b, a}", ["a", "b"], id="set"),
        pytest.param("!!omap [a: {list_join: ['', [x, y]]}]", [["a", "xy"]], id="call-in-omap"),
        pytest.param("{list_join: ['', !!set {x}]}", "x", id="set-as-argument"),
    ],
)
def test_what_only_tags_make_is_a_list(loaded: Any, expression: str, value: Any) -> None:
    assert output(loaded, expression) == value


def test_the_text_of_a_binary_default_is_pythons(loaded: Any) -> None:
    definition = loaded("parameters: {p: {type: string, default: !!binary aGk=}}")
    assert definition.parameters.values == {"p": "b'hi'"}


_OLD = "2013-05-23"


@pytest.mark.parametrize(
    ("version", "expression", "value"),
    [
        pytest.param(_OLD, "{'Fn::Select': ['a', {a: 1}]}", 1, id="select-key"),
        pytest.param(_OLD, "{'Fn::Select': ['1', [a, b]]}", "b", id="select-text-index"),
        pytest.param(_OLD, "{'Fn::Select': [5, [a, b]]}", "", id="select-outside"),
        pytest.param(
            _OLD,
            "{'Fn::MemberListToMap': [N, V, ['.member.1.N=b', '.member.1.V=2', 'x.y=1',"
            " '.member.0.N=a', '.member.0.V=1=1', '.member.2.N=c']]}",
            {"a": "1=1", "b": "2"},
            id="members-of-another-form-are-ignored",
        ),
        pytest.param("2017-02-24", "{filter: [[], [a]]}", ["a"], id="filter-nothing"),
        pytest.param("2017-02-24", "{filter: [[a], null]}", None, id="filter-null"),
        pytest.param(
            "2017-09-01",
            "{repeat: {template: '%a%', permutations: false, for_each: {'%a%': [x], '%b%': null}}}",
            [],
            id="null-lists-side-by-side",
        ),
    ],
)
def test_function(loaded: Any, version: str, expression: str, value: Any) -> None:
    assert output(loaded, expression, version) == value


@pytest.mark.parametrize(
    ("version", "expression", "heat_type"),
    [
        pytest.param(_OLD, "{'Fn::Select': [1, {'1': a}]}", "TypeError", id="select-number"),
        pytest.param(
            _OLD, "{'Fn::MemberListToMap': [N, V, ['.member.0.N']]}", "ValueError", id="member"
        ),
        pytest.param("2017-02-24", "{filter: [[], abc]}", "TypeError", id="filter-text"),
        pytest.param("2017-02-24", "{filter: [a, [abc]]}", "TypeError", id="filter-by-text"),
        pytest.param(
            "2017-09-01",
            "{repeat: {template: '%a%', permutations: false,"
            " for_each: {'%a%': [x, y], '%b%': [z], '%c%': null}}}",
            "ValueError",
            id="null-does-not-excuse-other-lengths",
        ),
    ],
)
def test_function_that_fails_when_resolved(
    loaded: Any, version: str, expression: str, heat_type: str
) -> None:
    with pytest.raises(TemplateError) as caught:
        output(loaded, expression, version)
    assert caught.value.heat_type == heat_type


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("{make_url: {port: 0}}", id="make_url"),
        pytest.param("{yaql: {expression: '$['}}", id="yaql"),
        pytest.param("{repeat: {template: a, for_each: b}}", id="repeat"),
    ],
)
def test_some_wrong_arguments_do_not_matter_in_a_disabled_resource(
    loaded: Any, faults: Faults, expression: str
) -> None:
    entry = f"{{type: Thing, condition: %s, properties: {{value: {expression}}}}}"
    loaded(f"resources: {{a: {entry % 'false'}}}", version="2017-09-01")
    (fault,) = faults(f"resources: {{a: {entry % 'true'}}}", version="2017-09-01")
    assert str(fault.place).startswith("t.yaml:2:")


def test_a_name_behind_the_deciding_operand_is_not_looked_up(loaded: Any) -> None:
    text = "conditions: {a: {or: [true, nowhere]}, b: {and: [false, {not: false}]}}"
    assert loaded(text).conditions() == {"a": True, "b": False}


def test_a_function_behind_the_deciding_operand_is_resolved(loaded: Any) -> None:
    text = "conditions: {a: {or: [true, {equals: [{get_param: nowhere}, 1]}]}}"
    assert isinstance(loaded(text).conditions()["a"], TemplateError)
