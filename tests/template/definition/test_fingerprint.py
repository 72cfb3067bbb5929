"""Fingerprints change with the definition, and only with it."""

from __future__ import annotations

from typing import Any

import pytest

TEMPLATE = """\
parameters:
  p: {{type: string, default: {p}}}
  q: {{type: string, default: {q}}}
conditions: {{c: {{equals: [{{get_param: q}}, one]}}}}
resources:
  a: {{type: Thing}}
  b: {{type: Thing}}
  r: {entry}
"""


def fingerprint(loaded: Any, entry: str, p: str = "x", q: str = "one") -> str:
    stack = loaded(TEMPLATE.format(entry=entry, p=p, q=q), files={"f": p})
    text: str = stack.resources["r"].fingerprint
    return text


ENTRIES = [
    pytest.param("{type: Thing, properties: {text: {get_param: p}}}", id="resolved"),
    pytest.param("{type: Thing, metadata: {m: {get_param: p}}}", id="metadata"),
    pytest.param(
        "{type: Thing, properties: {text: {list_join: [{get_param: p}, [{get_resource: a}, y]]}}}",
        id="beside-a-reference",
    ),
    pytest.param("{type: Thing, properties: {text: {get_file: f}}}", id="file"),
]


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_parameter_shows_where_it_matters(loaded: Any, entry: str) -> None:
    assert fingerprint(loaded, entry) == fingerprint(loaded, entry)
    assert fingerprint(loaded, entry, p="y") != fingerprint(loaded, entry)
    assert fingerprint(loaded, entry, q="two") == fingerprint(loaded, entry)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("{get_resource: a}", "{get_resource: b}", id="reference"),
        pytest.param("{get_attr: [a, value]}", "{get_attr: [a, other]}", id="attribute"),
        pytest.param("{get_attr: [a, value, 0]}", "{get_attr: [a, value, 1]}", id="path"),
        pytest.param("a", "{get_resource: a}", id="text"),
        pytest.param("1", "'1'", id="type"),
        pytest.param("[1, 2]", "[2, 1]", id="order"),
    ],
)
def test_different_definitions_differ(loaded: Any, one: str, other: str) -> None:
    entry = "{{type: Thing, properties: {{value: {}}}}}"

    assert fingerprint(loaded, entry.format(one)) != fingerprint(loaded, entry.format(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("{a: 1, b: 2}", "{b: 2, a: 1}", id="order-of-keys"),
        pytest.param("x", "{get_param: p}", id="a-function-with-the-same-result"),
        pytest.param("{1: a, b: c}", "{b: c, 1: a}", id="keys-of-two-types"),
    ],
)
def test_equal_definitions_are_equal(loaded: Any, one: str, other: str) -> None:
    entry = "{{type: Thing, properties: {{value: {}}}}}"

    assert fingerprint(loaded, entry.format(one)) == fingerprint(loaded, entry.format(other))


@pytest.mark.parametrize(
    "condition",
    [pytest.param("c", id="named"), pytest.param("{equals: [{get_param: q}, one]}", id="inline")],
)
def test_a_condition_that_turns_shows_though_both_branches_read_the_same(
    loaded: Any, condition: str
) -> None:
    branch = "{list_join: [',', [{get_attr: [a, value]}, %s]]}"
    value = f"{{if: [{condition}, {branch % 'yes_'}, {branch % 'no_'}]}}"
    entry = f"{{type: Thing, properties: {{value: {value}}}}}"

    assert fingerprint(loaded, entry, q="two") != fingerprint(loaded, entry, q="one")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(
            "{type: Thing, depends_on: [a, b]}", "{type: Thing, depends_on: b}", id="depends"
        ),
        pytest.param("{type: Thing, deletion_policy: Retain}", "{type: Thing}", id="policy"),
        pytest.param("{type: Thing, external_id: x}", "{type: Thing}", id="external"),
    ],
)
def test_the_other_keys_count(loaded: Any, one: str, other: str) -> None:
    assert fingerprint(loaded, one) != fingerprint(loaded, other)


def test_another_name_for_the_class_counts(loaded: Any) -> None:
    template = "resources: {r: {type: My::Thing}}"
    alias = loaded(template, environment="resource_registry: {'My::Thing': Thing}")
    plain = loaded("resources: {r: {type: Thing}}")

    assert alias.resources["r"].cls is plain.resources["r"].cls
    assert alias.resources["r"].fingerprint != plain.resources["r"].fingerprint
