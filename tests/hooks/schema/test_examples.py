"""Example values: of every type, within every kind of constraint."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

import pytest

from zonda.builtin_resources.plugin import zonda_constraints
from zonda.hooks.schema import examples
from zonda.hooks.schema.constraints import (
    AllowedPattern,
    AllowedValues,
    Constraint,
    CustomConstraint,
    Length,
    Modulo,
    Range,
)
from zonda.hooks.schema.properties import Schema
from zonda.hooks.testing import FakeContext


def schema(kind: str, *constraints: Constraint, **more: Any) -> Schema:
    return Schema(kind, constraints=constraints, **more)


NESTED = {
    "name": Schema(Schema.STRING, required=True, constraints=[Length(3, 5)]),
    "size": Schema(Schema.INTEGER),
}


@pytest.mark.parametrize(
    ("declared", "first"),
    [
        pytest.param(schema(Schema.STRING), "example", id="text"),
        pytest.param(schema(Schema.STRING, default="d"), "d", id="default"),
        pytest.param(schema(Schema.STRING, Length(12, 14)), "exampleexample", id="long"),
        pytest.param(schema(Schema.STRING, Length(max=3)), "exa", id="short"),
        pytest.param(schema(Schema.STRING, AllowedValues(["p", "q"])), "p", id="one-of"),
        pytest.param(schema(Schema.STRING, AllowedPattern("(Ba[rc]?)+")), "Ba", id="pattern"),
        pytest.param(
            schema(Schema.STRING, AllowedPattern("[a-z]+"), Length(5, 6)), None, id="two-rules"
        ),
        pytest.param(schema(Schema.INTEGER), 1, id="integer"),
        pytest.param(schema(Schema.INTEGER, Range(5, 10)), 5, id="range"),
        pytest.param(schema(Schema.INTEGER, Range(max=-3)), -3, id="below"),
        pytest.param(schema(Schema.INTEGER, Modulo(10, 3), Range(20, 40)), 23, id="modulo"),
        pytest.param(schema(Schema.NUMBER, Range(0.5, 0.75)), 0.5, id="fraction"),
        pytest.param(schema(Schema.BOOLEAN), True, id="boolean"),
        pytest.param(schema(Schema.LIST, Length(3)), ["one", "two", "one"], id="list"),
        pytest.param(
            Schema(Schema.LIST, schema=schema(Schema.INTEGER, Range(7))), [7], id="list-of"
        ),
        pytest.param(schema(Schema.LIST, AllowedValues(["p"])), ["p"], id="list-of-these"),
        pytest.param(schema(Schema.MAP), {"key1": "value"}, id="map"),
        pytest.param(Schema(Schema.MAP, schema=NESTED), {"name": "examp"}, id="nested"),
        pytest.param(schema(Schema.ANY), "example", id="any"),
    ],
)
def test_a_first_value_and_another_one(declared: Schema, first: Any) -> None:
    found = list(islice(examples.list_values(declared), 2))
    assert found[0] == first if first is not None else examples.is_valid_value(declared, found[0])
    assert all(examples.is_valid_value(declared, value) for value in found)


def test_an_impossible_schema_has_no_value() -> None:
    nothing = schema(Schema.STRING, AllowedPattern("a"), AllowedPattern("b"))
    assert list(examples.list_values(nothing)) == []


@pytest.mark.parametrize("name", sorted(zonda_constraints()))
def test_a_constraint_of_ours_shows_good_values(name: str) -> None:
    context = FakeContext(constraints=dict(zonda_constraints()))
    declared = schema(Schema.STRING, CustomConstraint(name))
    assert len(list(islice(examples.list_values(declared, context), 2))) == 2


@pytest.mark.parametrize(
    "pattern",
    [
        r"[a-z][a-z0-9-]{0,62}",
        r"^\d{1,3}(\.\d{1,3}){3}$",
        r"(?P<q>['\"]).*(?P=q)",
        r"[^\s/]+\.(tar\.gz|zip)",
        r"(?:0|[1-9]\d*)[KMG]?",
        r"\S+@\w+",
        r"é+x*?",
    ],
)
def test_texts_that_a_pattern_matches(pattern: str) -> None:
    declared = Schema(Schema.STRING, constraints=[AllowedPattern(pattern)])
    texts = list(islice(examples.list_values(declared), 3))
    assert len(texts) >= 2
    assert all(re.fullmatch(pattern, text) for text in texts)
    assert texts == list(islice(examples.list_values(declared), 3))


def test_a_pattern_that_nothing_matches_has_no_values() -> None:
    nothing = Schema(Schema.STRING, constraints=[AllowedPattern("a(?!a)a")])
    assert list(examples.list_values(nothing)) == []


def test_without_hypothesis_a_pattern_has_no_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examples, "find_spec", lambda name: None)
    declared = Schema(Schema.STRING, constraints=[AllowedPattern("q[0-9]+q")])
    assert list(examples.list_values(declared)) == []


def test_properties_of_a_whole_class() -> None:
    schemata = {
        "name": Schema(Schema.STRING, required=True),
        "kind": Schema(Schema.STRING, required=True, default="k"),
        "size": Schema(Schema.INTEGER),
        "path": Schema(Schema.STRING),
    }
    assert examples.build_properties(schemata, {"path": "/x"}) == {"name": "example", "path": "/x"}
    assert list(examples.build_properties(schemata, {}, optional=True)) == [
        "name",
        "kind",
        "size",
        "path",
    ]
