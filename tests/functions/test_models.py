"""Functions against the simplest thing that could be right."""

from __future__ import annotations

import itertools
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from zonda.core.functions.size_limits import to_hashable
from zonda.core.functions.versions import build_function_table
from zonda.hooks.function import resolve_value

texts = st.text("ab,-", max_size=6)
scalars = st.none() | st.booleans() | st.integers(-2, 2) | texts
plain = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)
)
maps = st.dictionaries(st.sampled_from("abcd"), scalars, max_size=4)


class Scope:
    """Parses and resolves calls on plain data."""

    def parse(self, value: Any, path: Any = ()) -> Any:
        if isinstance(value, dict) and len(value) == 1:
            ((name, args),) = value.items()
            function = build_function_table("2021-04-16").functions.get(name)
            if function is not None:
                return function(self, name, args, (*path, name))
        return value

    def spend(self, values: int) -> None:
        pass


def value_of(name: str, args: Any) -> Any:
    scope = Scope()
    return resolve_value(scope.parse({name: args}), scope)


@given(st.lists(st.none() | st.lists(plain, max_size=3), max_size=4))
def test_list_concat(lists: list[list[Any] | None]) -> None:
    assert value_of("list_concat", lists) == list(
        itertools.chain.from_iterable(some or [] for some in lists)
    )


@given(st.lists(plain, max_size=5), st.lists(plain, max_size=8))
def test_filter(unwanted: list[Any], items: list[Any]) -> None:
    assert value_of("filter", [unwanted, items]) == [i for i in items if i not in unwanted]


@given(st.lists(st.none() | maps, max_size=4))
def test_map_merge(some: list[dict[str, Any] | None]) -> None:
    merged: dict[str, Any] = {}
    for item in some:
        merged = {**merged, **(item or {})}
    assert value_of("map_merge", some) == merged


@given(texts, st.lists(st.none() | texts | maps, max_size=5))
def test_list_join(delimiter: str, items: list[Any]) -> None:
    shown = [json.dumps(i, sort_keys=True) if isinstance(i, dict) else i or "" for i in items]
    assert value_of("list_join", [delimiter, items]) == delimiter.join(shown)


@given(st.lists(st.lists(st.sampled_from("xyz"), max_size=3), min_size=1, max_size=3))
def test_repeat(lists: list[list[str]]) -> None:
    names = [f"%{number}%" for number in range(len(lists))]
    call = {"for_each": dict(zip(names, lists, strict=True)), "template": "".join(names)}
    assert value_of("repeat", call) == ["".join(row) for row in itertools.product(*lists)]


@given(plain, st.lists(plain, max_size=6))
def test_contains(value: Any, items: list[Any]) -> None:
    assert value_of("contains", [value, items]) == (value in items)


@given(plain, plain)
def test_what_is_looked_up_is_equal_for_equal_values_only(one: Any, other: Any) -> None:
    assert (to_hashable(one) == to_hashable(other)) == (one == other)


@given(plain)
def test_plain_data_resolves_to_itself(tree: Any) -> None:
    assert resolve_value(tree, Scope()) == tree
