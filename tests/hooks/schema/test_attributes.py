"""Attributes: resolved once, selected by path."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.hooks.schema.attributes import Attributes, Schema, select

DEEP = {"k": {"m": ["x", {"deep": 1}], "0": "zero"}, "n": None, "l": ["a", "b"], "1": "one"}


@pytest.mark.parametrize(
    ("value", "path", "found"),
    [
        pytest.param(DEEP, (), DEEP, id="no-path"),
        pytest.param(DEEP, ("k", "m", 1, "deep"), 1, id="deep"),
        pytest.param(DEEP, ("l", -1), "b", id="negative-index"),
        pytest.param(DEEP, ("l", "0"), None, id="text-is-no-index"),
        pytest.param(DEEP, ("l", 9), None, id="index-out-of-range"),
        pytest.param(DEEP, ("l", True), "b", id="true-is-one"),
        pytest.param(DEEP, ("l", 0.0), None, id="a-float-is-no-index"),
        pytest.param(DEEP, (1,), None, id="a-number-is-no-key-of-text"),
        pytest.param(DEEP, ("1",), "one", id="key-of-digits"),
        pytest.param(DEEP, ("n", "x"), None, id="below-null"),
        pytest.param(DEEP, ("k", "0", 1), "e", id="character"),
        pytest.param(DEEP, ("x", "y"), None, id="no-such-key"),
        pytest.param(DEEP, ([],), None, id="a-list-is-no-key"),
        pytest.param(5, ("x",), None, id="below-a-number"),
    ],
)
def test_select(value: Any, path: tuple[Any, ...], found: Any) -> None:
    assert select(value, path) == found


def make(values: dict[str, list[Any]], **schemata: Schema) -> tuple[Attributes, list[str]]:
    asked: list[str] = []

    def resolver(name: str) -> Any:
        asked.append(name)
        return values[name].pop(0)

    return Attributes("r", schemata, resolver), asked


def test_a_value_is_asked_for_once() -> None:
    attributes, asked = make({"a": [1, 2]}, a=Schema())
    assert [attributes["a"], attributes["a"]] == [1, 1]
    assert asked == ["a"]
    attributes.reset()
    assert attributes["a"] == 2


def test_a_value_that_changes_by_itself_is_asked_for_each_time() -> None:
    attributes, _ = make({"a": [1, 2]}, a=Schema(cache_mode=Schema.CACHE_NONE))
    assert [attributes["a"], attributes["a"]] == [1, 2]


def test_null_is_asked_for_again() -> None:
    attributes, asked = make({"a": [None, 1, 2]}, a=Schema())
    assert [attributes["a"], attributes["a"], attributes["a"]] == [None, 1, 1]
    assert len(asked) == 2


def test_it_is_a_mapping_of_declared_names() -> None:
    attributes, asked = make({}, a=Schema(), b=Schema())
    assert list(attributes) == ["a", "b"]
    assert len(attributes) == 2
    assert "c" not in attributes
    with pytest.raises(KeyError):
        attributes["c"]
    assert asked == []
    assert repr(attributes) == "Attributes('r': a, b)"


def test_what_is_hidden_is_sealed_too() -> None:
    assert Schema(hidden=True).sealed
    assert not Schema(sealed=True).hidden


def test_an_unknown_type_shows_when_it_is_declared() -> None:
    with pytest.raises(ValueError, match="cannot have the type 'Text'"):
        Schema(type="Text")


@pytest.mark.parametrize(
    ("declared", "value", "fits"),
    [
        pytest.param(Schema.STRING, "x", True, id="text"),
        pytest.param(Schema.STRING, 5, False, id="text-number"),
        pytest.param(Schema.NUMBER, 1.5, True, id="number"),
        pytest.param(Schema.NUMBER, "7", True, id="number-as-text"),
        pytest.param(Schema.NUMBER, "seven", False, id="number-word"),
        pytest.param(Schema.BOOLEAN, False, True, id="boolean"),
        pytest.param(Schema.BOOLEAN, "maybe", False, id="boolean-word"),
        pytest.param(Schema.MAP, {"a": 1}, True, id="map"),
        pytest.param(Schema.MAP, [], False, id="map-list"),
        pytest.param(Schema.LIST, [], True, id="list"),
        pytest.param(Schema.LIST, "ab", False, id="list-text"),
        pytest.param(Schema.MAP, None, True, id="not-known-yet"),
        pytest.param(None, object(), True, id="undeclared"),
    ],
)
def test_a_value_of_another_type_is_warned_of_and_given(
    declared: str | None, value: Any, fits: bool, caplog: pytest.LogCaptureFixture
) -> None:
    found = Attributes("web", {"a": Schema(type=declared)}, lambda name: value)
    assert found["a"] is value
    assert [record.levelname for record in caplog.records] == ([] if fits else ["WARNING"])
    assert str(value) not in caplog.text.replace("attributes.py", "") or fits
