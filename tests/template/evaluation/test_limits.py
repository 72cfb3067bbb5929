"""Limits of templates: each with a small value, and the error when it is reached."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from zonda.core.functions.versions import build_function_table
from zonda.core.functions.yaql_call import make_evaluator
from zonda.core.plugins.manager import Plugins
from zonda.core.template.load import StackDefinition, load
from zonda.core.template.parameters import parameters as parameters_module
from zonda.core.template.source.bundle import Bundle, Identity, Limits
from zonda.core.template.validation.resource import NullValues
from zonda.hooks.errors import TemplateError, ValidationErrors
from zonda.hooks.resources.resource import Resource
from zonda.hooks.testing.fakes import FakeContext

HEAD = "heat_template_version: 2021-04-16\n"
TEN = "[a, b, c, d, e, f, g, h, i, j]"


def loaded(
    text: str, types: dict[str, type[Resource]] | None = None, **limits: Any
) -> StackDefinition:
    bounds = Limits(**limits)
    return load(
        Bundle(HEAD + text),
        identity=Identity("id", "stack", "project"),
        plugins=Plugins(resource_types=types or {}),
        functions=build_function_table,
        limits=bounds,
        context_for=lambda node: FakeContext(),
        yaql=make_evaluator(bounds),
    )


def resolved(value: str, parameters: str = "{}", **limits: Any) -> Any:
    definition = loaded(f"parameters: {parameters}\noutputs: {{o: {{value: {value}}}}}", **limits)
    return definition.outputs["o"].resolve(definition.scope(NullValues()))


BIG = "{p: {type: json, default: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}}"


@pytest.mark.parametrize(
    ("value", "count"),
    [
        # what is walked through and given, each call: 10 of for_each, 1, 10 copies, 10 results
        pytest.param(f"{{repeat: {{for_each: {{x: {TEN}}}, template: x}}}}", 31, id="repeat"),
        pytest.param("{list_concat: [{get_param: p}, {get_param: p}]}", 42, id="list_concat"),
        pytest.param("{map_merge: [{a: 1}, {b: {get_param: p}}]}", 26, id="map_merge"),
        pytest.param("{str_split: [',', 'a,b,c,d,e,f,g,h,i,j']}", 12, id="str_split"),
        pytest.param("[{get_param: p}, {get_param: p}, {get_param: p}]", 33, id="copies"),
        pytest.param("{yaql: {expression: $.data, data: {get_param: p}}}", 230, id="yaql"),
        pytest.param(f"{{list_join: ['{'x' * 64}', [a, b, c, d]]}}", 24, id="list_join"),
        pytest.param(
            f"{{str_replace: {{template: xxxxxxxxxx, params: {{x: {'y' * 64}}}}}}}",
            90,
            id="replace",
        ),
    ],
)
def test_what_functions_make_is_counted(value: str, count: int) -> None:
    resolved(value, BIG, max_nodes=count)
    with pytest.raises(TemplateError, match=r"make more than \d+ values") as caught:
        resolved(value, BIG, max_nodes=count // 2)
    assert caught.value.code == "ZON119"
    assert caught.value.at[:2] == ("outputs", "o")


def test_each_resource_or_output_has_its_own_allowance() -> None:
    outputs = "".join(f"  o{n}: {{value: {{get_param: p}}}}\n" for n in range(5))
    definition = loaded(f"parameters: {BIG}\noutputs:\n{outputs}", max_nodes=30)
    scope = definition.scope(NullValues())
    assert len([output.resolve(scope) for output in definition.outputs.values()]) == 5


def test_all_together_have_an_allowance_too(types: dict[str, type[Resource]]) -> None:
    text = f"parameters: {BIG}\nresources:\n" + "".join(
        f"  r{n}: {{type: Thing, properties: {{value: {{get_param: p}}}}}}\n" for n in range(9)
    )
    loaded(text, types, max_nodes_in_all=300)
    with pytest.raises(ValidationErrors, match="max_nodes_in_all") as caught:
        loaded(text, types, max_nodes_in_all=50)
    assert {error.code for error in caught.value.errors} == {"ZON119"}


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("&a [1, *a]", id="an-alias-inside-itself"),
        pytest.param("{x: &a [1, 1, 1, 1], y: &b [*a, *a, *a, *a], z: [*b, *b, *b]}", id="laughs"),
        pytest.param(
            "{a: &a {x: '123456789'}, b: {<<: [*a, *a, *a, *a, *a, *a, *a]}}", id="merged"
        ),
    ],
)
def test_aliases_cannot_multiply_without_end(value: str) -> None:
    with pytest.raises(TemplateError, match=r"written out, the aliases|inside what it refers to"):
        loaded(f"outputs: {{o: {{value: {value}}}}}", max_template_bytes=120)


@pytest.mark.parametrize("opening", ["[", "{a: ", '{"a":', "{not: "])
def test_deep_nesting_is_an_error_with_a_place(opening: str) -> None:
    closing = "]" if opening == "[" else "}"
    with pytest.raises(TemplateError, match="nested deeper than 200") as caught:
        loaded(f"outputs: {{o: {{value: {opening * 5000}1{closing * 5000}}}}}")
    assert caught.value.place is not None


def test_no_more_faults_are_told_than_anybody_reads() -> None:
    calls = ", ".join(["{repeat: 1}"] * 50)
    with pytest.raises(ValidationErrors) as caught:
        loaded(f"outputs: {{o: {{value: [{calls}]}}}}", max_faults=7)
    assert len(caught.value.errors) == 7


def _parameter(name: str, pattern: str = "(a|aa)+$") -> str:
    text = "a" * 60 + "b"
    return (
        f"  {name}: {{type: string, default: {text}, "
        f"constraints: [{{allowed_pattern: '{pattern}'}}]}}\n"
    )


def test_a_pattern_that_explodes_is_stopped_and_named() -> None:
    with pytest.raises(ValidationErrors) as caught:
        loaded(f"parameters:\n{_parameter('p')}", pattern_seconds=0.02)
    (fault,) = caught.value.errors
    assert "Parameter 'p'" in str(fault)
    assert "allowed_pattern constraint: matching the pattern (a|aa)+$ took longer" in str(fault)
    assert fault.at[:2] == ("parameters", "p")


def test_all_patterns_of_a_template_together_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = itertools.count(step=3)  # each look at the processor's clock takes three seconds
    monkeypatch.setattr(parameters_module, "_CPU", lambda: float(next(seconds)))
    parameters = "".join(_parameter(f"p{n}", "a+b") for n in range(3))
    loaded(f"parameters:\n{parameters}", patterns_seconds=100.0)
    with pytest.raises(ValidationErrors, match="too long together") as caught:
        loaded(f"parameters:\n{parameters}", patterns_seconds=5.0)
    assert caught.value.errors[-1].at[:2] == ("parameters", "p2")
    assert all(fault.at[1] != "p0" for fault in caught.value.errors)


def test_a_pattern_too_large_to_compile_is_refused_and_named() -> None:
    pattern = "(?:" * 14 + "a" + "){2}" * 14
    with pytest.raises(ValidationErrors, match=r"allowed_pattern constraint: .* is too large"):
        loaded(f"parameters:\n{_parameter('p', pattern)}")


def test_many_unknown_names_are_told_without_guessing_each(
    types: dict[str, type[Resource]], faults: Callable[..., Any]
) -> None:
    calls = ", ".join(f"{{get_resource: server{n}}}" for n in range(150))
    found = faults(f"resources: {{server: {{type: Thing, properties: {{value: [{calls}]}}}}}}")
    hinted = [bool(fault.hint) for fault in found]
    assert (hinted[0], hinted[-1], len(hinted)) == (True, False, 150)
