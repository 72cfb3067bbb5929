from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zonda.core.graph.digraph import (
    CycleError,
    count_waiting,
    find_reachable,
    find_shortest_cycle,
    group_targets,
    map_dependents,
    sort_topologically,
)

graphs = st.dictionaries(st.integers(0, 9), st.lists(st.integers(0, 9), max_size=4), max_size=10)


@pytest.mark.parametrize(
    ("requires", "expected"),
    [
        pytest.param({}, [], id="nothing"),
        pytest.param({"b": ["a"], "a": []}, ["a", "b"], id="requirement-first"),
        pytest.param({"b": [], "a": []}, ["b", "a"], id="ties-keep-the-order"),
        pytest.param({"c": ["b"], "b": ["a"]}, ["a", "b", "c"], id="only-on-the-right"),
        pytest.param({"a": ["b", "b"], "b": []}, ["b", "a"], id="repeats"),
        # a is ready first; d, freed by it, stands before c in the mapping
        pytest.param({"d": ["a"], "a": [], "c": []}, ["a", "d", "c"], id="freed-early-comes-early"),
    ],
)
def test_order(requires: dict[str, list[str]], expected: list[str]) -> None:
    assert sort_topologically(requires) == expected


def test_order_names_a_shortest_ring() -> None:
    requires = {"a": ["b"], "b": ["c"], "c": ["a", "d"], "d": ["c"], "e": ["a"]}

    with pytest.raises(CycleError) as caught:
        sort_topologically(requires)

    assert caught.value.keys == ["c", "d", "c"]
    assert str(caught.value) == "c -> d -> c"


@pytest.mark.parametrize(
    ("requires", "ring"),
    [
        pytest.param({"a": []}, [], id="none"),
        pytest.param({"a": ["a"]}, ["a", "a"], id="itself"),
        pytest.param({"a": ["b"], "b": ["a"]}, ["a", "b", "a"], id="two"),
        pytest.param({"x": ["a"], "a": ["b"], "b": ["a"]}, ["a", "b", "a"], id="behind-another"),
    ],
)
def test_shortest_ring(requires: dict[str, list[str]], ring: list[str]) -> None:
    assert find_shortest_cycle(requires) == ring


def test_dependents_turn_the_edges_round() -> None:
    assert map_dependents({"a": ["b", "c"], "d": ["c", "c"]}) == {"b": ["a"], "c": ["a", "d"]}


def test_cone_reaches_what_can_be_reached() -> None:
    edges = {"a": ["b"], "b": ["c", "a"], "x": ["y"]}
    assert find_reachable(["a"], edges) == {"a", "b", "c"}
    assert find_reachable([], edges) == set()


@given(graphs)
def test_order_puts_requirements_first_or_finds_a_real_ring(graph: dict[int, list[int]]) -> None:
    try:
        found = sort_topologically(graph)
    except CycleError as ring:
        keys = ring.keys
        assert keys[0] == keys[-1]
        assert all(other in graph[key] for key, other in pairwise(keys))  # type: ignore[index]
        return
    place = {key: index for index, key in enumerate(found)}
    assert set(found) == {*graph, *(other for needs in graph.values() for other in needs)}
    assert all(place[other] < place[key] for key, needs in graph.items() for other in needs)


def test_a_long_chain_needs_no_recursion() -> None:
    requires = {index: [index + 1] for index in range(20_000)}
    assert sort_topologically(requires)[0] == 20_000


def test_group_keeps_the_order_of_the_edges() -> None:
    assert group_targets([("b", "z"), ("a", "y"), ("b", "x")]) == {"b": ["z", "x"], "a": ["y"]}


def test_count_waiting_goes_up_or_down() -> None:
    edges = [("b", "a"), ("c", "a"), ("c", "z")]
    assert count_waiting(["a", "b", "c"], edges, up=True) == {"a": 0, "b": 1, "c": 1}
    assert count_waiting(["a", "b", "c"], edges, up=False) == {"a": 2, "b": 0, "c": 0}
