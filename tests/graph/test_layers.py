"""Layouts: requirements above, nothing over anything else, large graphs in time."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from zonda.core.graph.digraph import CycleError
from zonda.core.graph.layout import WIDEST, Layout, compute_layout

HEIGHT, GAPS = 10.0, (4.0, 20.0)


def laid(requires: dict[str, list[str]], width: float = 30.0) -> Layout:
    keys = {*requires, *(other for needs in requires.values() for other in needs)}
    return compute_layout(requires, dict.fromkeys(keys, width), height=HEIGHT, gaps=GAPS)


def check(requires: dict[str, list[str]], found: Layout) -> None:
    for key, needs in requires.items():
        for other in needs:
            assert found.at[other][1] < found.at[key][1]
    rows: dict[float, list[float]] = {}
    for x, y in found.at.values():
        rows.setdefault(y, []).append(x)
    for row in rows.values():
        for left, right in pairwise(sorted(row)):
            assert right - left >= 30.0 + GAPS[0] - 1e-6
    for x, y in found.at.values():
        assert 15.0 - 1e-6 <= x <= found.size[0] - 15.0 + 1e-6
        assert 5.0 <= y <= found.size[1] - 5.0


def some(count: int, seed: int) -> dict[str, list[str]]:
    source = random.Random(seed)
    return {
        f"k{index}": [f"k{source.randrange(index)}" for _ in range(source.randrange(3)) if index]
        for index in range(count)
    }


@pytest.mark.parametrize(
    "requires",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"a": []}, id="one"),
        pytest.param({"a": ["b"], "b": ["c"], "c": []}, id="chain"),
        pytest.param({"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []}, id="diamond"),
        pytest.param({"a": ["d"], "b": ["a", "d"], "c": ["b", "d"], "d": []}, id="long edges"),
        pytest.param({f"k{index}": [] for index in range(3 * WIDEST + 1)}, id="wide"),
        pytest.param(some(200, 1), id="some of many"),
    ],
)
def test_requirements_stand_above_and_nothing_overlaps(requires: dict[str, list[str]]) -> None:
    check(requires, laid(requires))


def test_long_edges_have_bends_between() -> None:
    found = laid({"a": ["b", "c"], "b": ["c"], "c": []})
    ((_, y),) = found.bends["a", "c"]
    assert found.at["c"][1] < y < found.at["a"][1]


def test_crossings_are_avoided() -> None:
    found = laid({"a": [], "b": [], "x": ["b"], "y": ["a"]})
    at = found.at
    assert (at["x"][0] - at["y"][0]) * (at["b"][0] - at["a"][0]) > 0


def test_a_key_stands_under_the_middle_of_its_requirements() -> None:
    at = laid({"a": [], "b": [], "c": ["a", "b"]}).at
    assert at["c"][0] == pytest.approx((at["a"][0] + at["b"][0]) / 2)


@pytest.mark.parametrize(
    "requires",
    [
        pytest.param({f"k{i}": ["k0"] if i else [] for i in range(1000)}, id="star"),
        pytest.param(
            {f"k{i}": [f"k{i - 1}", "k0"] if i > 1 else [] for i in range(1000)}, id="chain"
        ),
        pytest.param(some(1000, 2), id="some"),
    ],
)
def test_a_thousand_keys(requires: dict[str, list[str]]) -> None:
    check(requires, laid(requires))


def test_a_circle_is_refused() -> None:
    with pytest.raises(CycleError):
        laid({"a": ["b"], "b": ["a"]})
