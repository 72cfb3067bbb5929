"""What the encoders that are made once write is what ``json.dumps`` writes."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zonda.hooks.text.json_encoder import make_encoder

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
CANONICAL: dict[str, Any] = {"sort_keys": True, "separators": (",", ":"), "default": repr}


@given(VALUES)
def test_they_write_what_dumps_writes(value: Any) -> None:
    assert make_encoder()(value) == json.dumps(value)
    assert make_encoder(**CANONICAL)(value) == json.dumps(value, **CANONICAL)


@pytest.mark.parametrize(
    "value", [object(), {"a": {1, 2}}, {(1,): 1}], ids=["object", "set", "key"]
)
def test_they_refuse_what_dumps_refuses(value: Any) -> None:
    with pytest.raises(TypeError):
        json.dumps(value)
    with pytest.raises(TypeError):
        make_encoder()(value)


def test_a_default_is_asked() -> None:
    assert make_encoder(**CANONICAL)({"b": {1}, "a": None}) == '{"a":null,"b":"{1}"}'


def test_a_strict_one_writes_numbers_that_json_lacks_as_texts() -> None:
    value = {"a": [math.nan, -math.inf, 1.5, None, (math.inf,)], "b": "NaN"}
    written = json.loads(make_encoder(strict=True)(value), parse_constant=pytest.fail)
    assert written == {"a": ["nan", "-inf", 1.5, None, ["inf"]], "b": "NaN"}


@given(VALUES)
def test_a_strict_one_writes_all_else_as_it_is(value: Any) -> None:
    written = make_encoder(strict=True)(value)
    if "NaN" not in json.dumps(value) and "Infinity" not in json.dumps(value):
        assert written == json.dumps(value)
    json.loads(written, parse_constant=pytest.fail)
