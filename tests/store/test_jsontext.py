"""What goes in comes out."""

from __future__ import annotations

import datetime
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zonda.core.store.values.jsontext import dumps, loads

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text() | st.integers(), inner)
        | st.tuples(inner, inner)
    ),
)


@given(PLAIN)
def test_every_value_comes_back(value: Any) -> None:
    assert loads(dumps(value)) == value


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"$map": [1]}, id="our own mark"),
        pytest.param({1: "a", "1": "b", None: 2}, id="keys that are no text"),
        pytest.param({"at": datetime.datetime(2020, 1, 2, 3)}, id="time"),
        pytest.param([datetime.date(2020, 1, 2)], id="date"),
        pytest.param((1, (b"x",)), id="tuples"),
    ],
)
def test_odd_values_come_back(value: Any) -> None:
    assert loads(dumps(value)) == value
    assert loads(dumps(value).encode()) == value


def test_sets_become_lists_and_nan_stays() -> None:
    assert loads(dumps({"a": {2, 1}})) == {"a": [1, 2]}
    assert math.isnan(loads(dumps(math.nan)))


def test_what_is_no_data_is_refused() -> None:
    with pytest.raises(TypeError):
        dumps({"a": object()})


@pytest.mark.parametrize("text", ["", "{", '{"a": 1}x', '{"$map": []}x', "[1] [2]"])
def test_what_was_not_written_here_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"line 1|Extra data"):
        loads(text)
    with pytest.raises(ValueError, match=r"line 1|Extra data"):
        loads(text.encode())
