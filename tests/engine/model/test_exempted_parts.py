"""Parts of values that a repair leaves as they are."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.core.engine.model.exempted_parts import CannotStay, overlay


@pytest.mark.parametrize(
    ("wanted", "live", "parts", "found"),
    [
        pytest.param({"a": 1, "b": 2}, {"a": 8, "b": 9}, ["b"], {"a": 1, "b": 9}, id="a key"),
        pytest.param({"a": 1, "b": 2}, {"a": 8}, ["b"], {"a": 1}, id="gone: stays away"),
        pytest.param({"a": 1}, {"a": 8, "b": 9}, ["b"], {"a": 1, "b": 9}, id="more: stays"),
        pytest.param({"a": 1}, {"a": 8}, ["b"], {"a": 1}, id="nowhere"),
        pytest.param(
            {"a": {"x": 1, "y": 2}}, {"a": {"x": 8, "y": 9}}, ["a.y"], {"a": {"x": 1, "y": 9}},
            id="deeper",
        ),
        pytest.param({"a": {"x": 1, "y": 2}}, {}, ["a.y"], {"a": {"x": 1}}, id="its map is gone"),
        pytest.param({}, {"a": {"x": 8, "y": 9}}, ["a.y"], {"a": {"y": 9}}, id="its map is more"),
        pytest.param({"b": 1}, {"b": 2, "a": {"x": 8}}, ["a.y"], {"b": 1}, id="no map for nothing"),
        pytest.param({"a.b": 1, "c": 1}, {"a.b": 9, "c": 9}, ["a.b"], {"a.b": 9, "c": 1}, id="dot"),
        pytest.param({1: 1, "c": 1}, {1: 9, "c": 9}, ["1"], {1: 9, "c": 1}, id="a number as key"),
        pytest.param([1, 2], [8, 9], ["1"], [1, 9], id="an item"),
        pytest.param([{"x": 1}, {"x": 2}], [{"x": 8}, {"x": 9}], ["0.x"], [{"x": 8}, {"x": 2}],
                     id="inside of an item"),
        pytest.param([1, 2, 3], [8, 9], ["0"], [8, 2, 3], id="lists that are not as long"),
        pytest.param([1], [8], ["7"], [1], id="no such item"),
        pytest.param({"a": 1, "b": 2}, {"a": 8, "b": 9}, ["a", "b"], {"a": 8, "b": 9}, id="two"),
        pytest.param({"a": 1}, {"a": 8}, [""], {"a": 8}, id="all"),
        pytest.param({"a": 1, "b": 2}, None, ["b"], {"a": 1}, id="null is nothing"),
    ],
)  # fmt: skip
def test_what_is_left_is_as_it_is_there(
    wanted: Any, live: Any, parts: list[str], found: Any
) -> None:
    before = repr((wanted, live))
    assert overlay(wanted, live, parts) == found
    assert repr((wanted, live)) == before, "neither is changed"


@pytest.mark.parametrize(
    ("wanted", "live", "part"),
    [
        pytest.param({"a": 1}, "text", "a", id="text for a map"),
        pytest.param({"a": {"x": 1}}, {"a": 3}, "a.x", id="deeper"),
        pytest.param([1, 2], {"0": 1}, "0", id="a map for a list"),
        pytest.param([1, 2], [8], "1", id="an item that is gone"),
        pytest.param([1], [8, 9], "1", id="an item more"),
    ],
)
def test_what_has_no_place_is_an_error(wanted: Any, live: Any, part: str) -> None:
    with pytest.raises(CannotStay):
        overlay(wanted, live, [part])


def test_an_index_of_thousands_of_digits_is_of_no_item() -> None:
    assert overlay([1], [2], ["9" * 5000]) == [1]
