"""The registry of types: aliases, wildcards, precedence, rules for single resources."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.core.template.types.registry import Registry
from zonda.hooks.errors import TemplateError
from zonda.hooks.resources.resource import Resource


class One(Resource):
    pass


class Two(Resource):
    pass


TYPES: dict[str, type[Resource]] = {
    "Acme::One": One,
    "Acme::Two": Two,
    "Acme::files.template": Two,
}


def registry(data: dict[str, Any]) -> Registry:
    made, errors = Registry(TYPES), []  # type: ignore[var-annotated]
    made.read(data, errors)
    assert errors == []
    return made


@pytest.mark.parametrize(
    ("data", "type_", "found"),
    [
        pytest.param({}, "Acme::One", One, id="built-in"),
        pytest.param({"My::T": "Acme::One"}, "My::T", One, id="alias"),
        pytest.param({}, "Acme::files.template", Two, id="a-type-that-ends-like-a-file"),
        pytest.param(
            {"My::T": "Acme::files.template"}, "My::T", Two, id="alias-of-one-that-ends-like-a-file"
        ),
        pytest.param({"My::T": "My::U", "My::U": "Acme::Two"}, "My::T", Two, id="chain"),
        pytest.param({"Acme::One": "Acme::Two"}, "Acme::One", Two, id="before-built-in-types"),
        pytest.param({"My::*": "Acme::*"}, "My::Two", Two, id="wildcard-both"),
        pytest.param({"*": "Acme::One"}, "Acme::Two", One, id="everything"),
        pytest.param({"My::*": "Acme::One", "My::T": "Acme::Two"}, "My::T", One, id="alphabet"),
        pytest.param(
            {"My::*": "Acme::One", "resources": {"r": {"My::T": "Acme::Two"}}},
            "My::T",
            Two,
            id="the-resource's-own-entry",
        ),
        pytest.param({"Acme::One": None}, "Acme::One", One, id="null-is-no-entry"),
        pytest.param(
            {"Acme::*": "Gone::*"}, "Acme::One", One, id="a-dead-end-leaves-it-to-the-next"
        ),
        pytest.param(
            {"My::*": "Gone::*", "My::T": "Acme::Two"},
            "My::T",
            Two,
            id="a-dead-end-before-an-alias",
        ),
        pytest.param(
            {"Acme::T": "Acme::Two", "Acme::*": None, "Acme::One": "Acme::Two"},
            "Acme::One",
            Two,
            id="null-removes-only-what-stands-before-it",
        ),
    ],
)
def test_resolve(data: dict[str, Any], type_: str, found: type[Resource]) -> None:
    assert registry(data).resolve(type_, "r") is found


@pytest.mark.parametrize(
    ("data", "type_", "said"),
    [
        pytest.param({}, "My::T", "could not be found", id="unknown"),
        pytest.param({"My::T": "No::Such"}, "My::T", "(My::T) could not be found", id="dead-end"),
        pytest.param({"My::T": "My::T"}, "My::T", "ring", id="itself"),
        pytest.param({"A": "B", "B": "A"}, "A", "ring", id="ring"),
        pytest.param({"My::*x": "Acme::One"}, "My::Tx", "could not be found", id="star-inside"),
        pytest.param(
            {"resources": {"s": {"My::T": "Acme::One"}}}, "My::T", "could not", id="other-resource"
        ),
        pytest.param(
            {"resources": {"r*": {"My::T": "Acme::One"}}}, "My::T", "could not", id="name-pattern"
        ),
        pytest.param({"My::T": "Acme::One", "My::*": None}, "My::T", "could", id="null-pattern"),
        pytest.param({"My::*": "My::New::*"}, "My::T", "ring", id="growing"),
        pytest.param({"My::T": "Acme::*"}, "My::T", "could not", id="star-in-the-target-only"),
        pytest.param(
            {"resources": {"r": {"My::*": "Acme::One"}}}, "My::T", "could not", id="own-pattern"
        ),
        pytest.param(
            {f"L{n}{end}": f"L{n + 1}" for n in range(40) for end in ("", "*")},
            "L0",
            "could not be found",
            id="many-ways-to-nowhere",
        ),
        pytest.param({"My::T": {"a": "b"}}, "My::T", "could not be found", id="map"),
        pytest.param({"My::T": "t.yaml"}, "My::T", "cannot be used here", id="template"),
        pytest.param({}, "t.template", "cannot be used here", id="type-that-is-a-file"),
        pytest.param({"My::T": ["a.yaml", "b.yaml"]}, "My::T", "None of the 2", id="choice"),
        pytest.param({"My::*": "t.yaml"}, "My::T", "could not", id="pattern-for-a-template"),
    ],
)
def test_resolve_refuses(data: dict[str, Any], type_: str, said: str) -> None:
    with pytest.raises(TemplateError) as caught:
        registry(data).resolve(type_, "r")

    assert said in f"{caught.value}"
    assert caught.value.heat_type == "StackValidationFailed"


def test_a_near_name_is_hinted_at() -> None:
    with pytest.raises(TemplateError) as caught:
        registry({}).resolve("Acme::Onne", "r")

    assert caught.value.hint == "Did you mean Acme::One?"


def test_rules_of_resources_take_patterns() -> None:
    rules = registry(
        {
            "resources": {
                "web*": {"restricted_actions": "replace", "hooks": ["pre-update", "pre-delete"]},
                "web1": {"restricted_actions": ["update"]},
            }
        }
    )

    assert rules.list_restricted_actions("web1") == {"replace", "update"}
    assert rules.list_restricted_actions("web2") == {"replace"}
    assert rules.breakpoints == {"web*": ("pre-update", "pre-delete")}


@pytest.mark.parametrize(
    ("data", "at"),
    [
        pytest.param({"My::T": 5}, ("resource_registry", "My::T"), id="number"),
        pytest.param({"resources": []}, ("resource_registry", "resources"), id="resources"),
        pytest.param(
            {"resources": {"r": {"hooks": "pre-creat"}}},
            ("resource_registry", "resources", "r", "hooks"),
            id="hook",
        ),
        pytest.param(
            {"resources": {"nested": {"deeper": {"r": {"hooks": ["pre-creat"]}}}}},
            ("resource_registry", "resources", "nested", "deeper", "r", "hooks"),
            id="hook-of-a-nested-stack",
        ),
        pytest.param(
            {"resources": {"r": {"restricted_actions": ["delete"]}}},
            ("resource_registry", "resources", "r", "restricted_actions"),
            id="action",
        ),
        pytest.param({"base_url": 5}, ("resource_registry", "base_url"), id="base-url"),
    ],
)
def test_malformed_entries(data: dict[str, Any], at: tuple[str, ...]) -> None:
    errors: list[TemplateError] = []
    Registry(TYPES).read(data, errors)

    assert [error.at for error in errors] == [at]


@pytest.mark.parametrize("said", [None, "pre-create", ["pre-create", "post-delete"]])
def test_hooks_of_nested_stacks_and_null_are_accepted(said: Any) -> None:
    errors: list[TemplateError] = []
    registry = Registry(TYPES)

    registry.read({"resources": {"r": {"hooks": said}, "nested": {"x": {"hooks": said}}}}, errors)

    assert errors == []
    assert ("r" in registry.breakpoints) is (said is not None)
    assert "nested" not in registry.breakpoints


def test_an_entry_is_wrong_in_the_environment_that_says_it(faults: Any) -> None:
    (fault,) = faults("", environment="requires: {}\nresource_registry:\n  My::T: 5\n")

    assert fault.stage == "environment"
    assert str(fault.place) == "environment:3:3"


@pytest.mark.parametrize(
    ("rules", "heat_type", "said"),
    [
        (
            {"hooks": "bogus"},
            "InvalidBreakPointHook",
            'Invalid hook type "bogus" for resource breakpoint, acceptable hook types are: '
            "('pre-create', 'pre-update', 'pre-delete', 'post-create', 'post-update', "
            "'post-delete')",
        ),
        (
            {"restricted_actions": ["update", "x"]},
            "InvalidRestrictedAction",
            "Invalid restricted_action type \"['update', 'x']\" for resource, acceptable "
            "restricted_action types are: ('update', 'replace')",
        ),
    ],
    ids=["hook", "action"],
)
def test_wrong_rules_are_told_in_heats_words(
    rules: dict[str, Any], heat_type: str, said: str
) -> None:
    errors: list[TemplateError] = []
    Registry(TYPES).read({"resources": {"r": rules}}, errors)

    assert [(error.heat_type, error.message) for error in errors] == [(heat_type, said)]
