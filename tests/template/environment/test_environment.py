"""Environments: sections, files in order, merge strategies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from zonda.core.template.parameters.merge import MergeConflict, merge_value
from zonda.hooks.errors import TemplateError

Faults = Callable[..., tuple[TemplateError, ...]]

PARAMETERS = (
    "parameters: {l: {type: comma_delimited_list, default: x}, j: {type: json, default: {}}}"
)


def files(*texts: str) -> dict[str, Any]:
    return {"environment_files": tuple((f"env{at}.yaml", text) for at, text in enumerate(texts))}


@pytest.mark.parametrize(
    ("environment", "message", "place"),
    [
        pytest.param("a: b", 'environment has wrong section "a"', "1:1", id="flat"),
        pytest.param(
            "parameter_default: {}", 'environment has wrong section "parameter_default"', "1:1",
            id="misspelt",
        ),
        pytest.param(
            "requires: {}\nparameters:", 'environment has empty section "parameters"', "2:1",
            id="null",
        ),
        pytest.param(
            "parameters: [a]", 'The environment section "parameters" must be a map, not a list',
            "1:1", id="list",
        ),
        pytest.param(
            "[a]", "The environment is not a valid YAML mapping data type.", "1:1", id="no-map"
        ),
        pytest.param("a: [", None, "2:1", id="text"),
    ],
)  # fmt: skip
def test_what_is_no_environment(
    faults: Faults, environment: str, message: str | None, place: str
) -> None:
    fault = faults("", environment=environment)[0]

    assert message is None or str(fault) == message
    assert fault.stage == "environment"
    assert str(fault.place).startswith(f"environment:{place.split(':')[0]}:")


@pytest.mark.parametrize(
    "environment",
    [
        pytest.param("", id="empty"),
        pytest.param("requires: {deployment: puppet}", id="requires"),
        pytest.param("zonda: {timeouts: {web: 5}}", id="our-own-section"),
        pytest.param("event_sinks: []", id="no-sinks"),
        pytest.param("parameters: []\nresource_registry: ''\nevent_sinks: 0", id="empty-sections"),
    ],
)
def test_what_is_an_environment(loaded: Any, environment: str) -> None:
    assert loaded("", environment=environment).environment.parameters == {}


def test_our_own_section_of_later_files_wins(loaded: Any) -> None:
    stack = loaded("", **files("zonda: {timeouts: {a: 1, b: 1}}", "zonda: {timeouts: {b: 2}}"))

    assert stack.environment.own == {"timeouts": {"a": {"*": 1.0}, "b": {"*": 2.0}}}


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        pytest.param(
            ["parameters: {l: a}", "parameters: {l: b}"], {"l": ["b"], "j": {}}, id="later-wins"
        ),
        pytest.param(
            ["parameters: {l: a}", "parameters: {l: null}"], {"l": ["a"], "j": {}}, id="null-is-not"
        ),
        pytest.param(
            ["parameter_merge_strategies: {l: merge}\nparameters: {l: a}", "parameters: {l: b}"],
            {"l": ["a", "b"], "j": {}},
            id="the-first-strategy-is-used-again",
        ),
        pytest.param(
            [
                "parameter_merge_strategies: {default: deep_merge}\nparameters: {j: {m: {a: x}}}",
                "parameter_merge_strategies: {default: deep_merge}\n"
                "parameters: {j: {m: {a: y, b: 1}}}",
            ],
            {"l": ["x"], "j": {"m": {"a": "xy", "b": 1}}},
            id="deep",
        ),
        pytest.param(
            [
                "parameter_merge_strategies: {l: merge}\nparameter_defaults: {l: [a]}",
                "parameter_merge_strategies: {l: merge}\nparameter_defaults: {l: [b]}",
            ],
            {"l": ["a", "b"], "j": {}},
            id="defaults-are-merged-too",
        ),
    ],
)
def test_files_are_merged_in_order(loaded: Any, texts: list[str], values: dict[str, Any]) -> None:
    assert loaded(PARAMETERS, **files(*texts)).parameters.values == values


def test_another_strategy_in_a_later_file_is_refused(faults: Faults) -> None:
    (fault,) = faults(
        PARAMETERS,
        **files("parameters: {l: a}", "parameter_merge_strategies: {l: merge}\nparameters: {l: b}"),
    )

    assert fault.heat_type == "ConflictingMergeStrategyForParam"
    assert str(fault.place) == "env1.yaml:2:14"


@pytest.mark.parametrize(
    ("old", "new", "strategy", "kind", "merged"),
    [
        pytest.param("a", "b", "merge", "string", "ab", id="strings"),
        pytest.param("5", "6", "merge", "number", "56", id="numbers-as-text"),
        pytest.param("a,b", "c", "merge", "comma_delimited_list", "a,b,c", id="text-lists"),
        pytest.param([1], [2], "merge", "comma_delimited_list", [1, 2], id="lists"),
        pytest.param({"a": 1}, '{"b": 2}', "merge", "json", {"a": 1, "b": 2}, id="json-text"),
        pytest.param({}, {"b": 2}, "merge", "json", {"b": 2}, id="into-an-empty-map"),
        pytest.param([], "c", "merge", "comma_delimited_list", "c", id="into-an-empty-list"),
        pytest.param(
            {"a": {"b": 1}},
            {"a": {"b": None}},
            "deep_merge",
            "json",
            {"a": {"b": 1}},
            id="deep-null",
        ),
        pytest.param({"a": "x"}, {"a": "y"}, "deep_merge", "json", {"a": "xy"}, id="deep-text"),
        pytest.param({"a": "x"}, {"a": "y"}, "merge", "json", {"a": "y"}, id="shallow-text"),
        pytest.param({"a": "x"}, {"a": {}}, "deep_merge", "json", {"a": "x"}, id="deep-empty-map"),
        pytest.param({"a": 1}, {"a": None}, "merge", "json", {"a": 1}, id="null-leaf"),
        pytest.param({"m": {"a": 1}}, {"m": {}}, "merge", "json", {"m": {}}, id="shallow"),
        pytest.param({"l": [1]}, {"l": [2]}, "deep_merge", "json", {"l": [1, 2]}, id="deep-list"),
        pytest.param({"n": 1}, {"n": 2}, "deep_merge", "json", {"n": 2}, id="deep-number"),
        pytest.param(1, 2, "overwrite", "number", 2, id="overwrite"),
    ],
)
def test_merged_value(old: Any, new: Any, strategy: str, kind: str, merged: Any) -> None:
    assert merge_value({"p": old}, "p", new, strategy, kind) == merged


@pytest.mark.parametrize(
    ("new", "kind", "merged"),
    [("a", "string", "a"), (["a"], "comma_delimited_list", ["a"]), ({"a": 1}, "json", {"a": 1})],
)
def test_a_value_merged_into_nothing(new: Any, kind: str, merged: Any) -> None:
    assert merge_value({"other": 1}, "p", new, "merge", kind) == merged


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        pytest.param(1, 2, "number", id="numbers"),
        pytest.param(True, False, "boolean", id="booleans"),
        pytest.param("a", ["b"], "comma_delimited_list", id="text-and-list"),
        pytest.param("true", "false", "boolean", id="booleans-as-text"),
        pytest.param({}, "{", "json", id="no-json"),
        pytest.param('{"a": 1}', {"b": 2}, "json", id="json-text-first"),
        pytest.param({"a": 1}, [1], "json", id="json-list"),
        pytest.param(1, "2", "number", id="number-and-text"),
        pytest.param(["a"], "b", "comma_delimited_list", id="list-and-text"),
        pytest.param("a", ["b"], "string", id="list-for-a-text"),
        pytest.param(5, "b", "string", id="number-for-a-text"),
    ],
)
def test_values_that_do_not_go_together(old: Any, new: Any, kind: str) -> None:
    with pytest.raises(MergeConflict):
        merge_value({"p": old}, "p", new, "merge", kind)


def test_a_number_as_text_cannot_be_merged_into_nothing() -> None:
    with pytest.raises(MergeConflict):
        merge_value({"other": 1}, "p", "5", "merge", "number")


@pytest.mark.parametrize(
    ("bundle", "values"),
    [
        pytest.param(
            {"parameters": {"l": "u"}}
            | files("parameter_merge_strategies: {l: merge}\nparameters: {l: a}"),
            {"l": ["u", "a"], "j": {}},
            id="what-the-user-gave-is-merged-too",
        ),
        pytest.param(
            files("parameters: {l: a}", "parameters: {unknown: b, j: {k: 1}}"),
            {"l": ["a"], "j": {"k": 1}},
            id="unknown-names-of-later-files-are-dropped",
        ),
        pytest.param(
            {"parameters": {"l": "u"}} | files("parameters: {unknown: b}"),
            {"l": ["u"], "j": {}},
            id="unknown-names-are-dropped-beside-what-the-user-gave",
        ),
        pytest.param(
            files("parameters: {l: a}", "parameters: {j: null}"),
            {"l": ["a"], "j": {}},
            id="null-is-nothing",
        ),
    ],
)
def test_values_of_environment_files(
    loaded: Any, bundle: dict[str, Any], values: dict[str, Any]
) -> None:
    assert loaded(PARAMETERS, **bundle).parameters.values == values


def test_an_unknown_name_in_the_only_file_is_refused(faults: Faults) -> None:
    (fault,) = faults(PARAMETERS, **files("parameters: {unknown: b}"))
    assert fault.heat_type == "UnknownUserParameter"


def test_a_parameter_that_no_template_declares_stands_where_it_was_given(faults: Faults) -> None:
    (fault,) = faults(PARAMETERS, environment="parameters:\n  l: a\n  jj: {}\n")

    assert fault.heat_type == "UnknownUserParameter"
    assert str(fault.place) == "environment:3:3"
