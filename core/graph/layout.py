"""Layout of a graph: keys in layers, requirements above those that need them.

The way of Sugiyama: keys are put into layers, edges over several layers get bends, each layer is
put into an order with few crossings (by barycentres), and every key near the middle of its
neighbours. Called by who draws; knows sizes and keys, and nothing of what they stand for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from zonda.hooks.records import dataclass, field

from .digraph import sort_topologically

#: Keys that stand side by side at most; what is wider goes on in a layer below.
WIDEST = 24
#: Bends in all at most; a graph that needs more gets straight edges.
MOST_BENDS = 6000
_SWEEPS = 12


@dataclass(frozen=True, slots=True)
class Layout:
    """A layout. ``at``: the center of each key. ``bends``: edge -> points between its ends.

    ``size`` is width and height of the whole; everything lies within it.
    """

    at: Mapping[str, tuple[float, float]]
    bends: Mapping[tuple[str, str], Sequence[tuple[float, float]]]
    size: tuple[float, float]


@dataclass(slots=True)
class _Vertex:
    """A key or a bend: its layer, its neighbours above and below, and its position."""

    width: float
    layer: int
    above: list[_Vertex] = field(default_factory=list)
    below: list[_Vertex] = field(default_factory=list)
    x: float = 0.0
    place: int = 0


def compute_layout(
    requires: Mapping[str, Collection[str]],
    widths: Mapping[str, float],
    *,
    height: float,
    gaps: tuple[float, float],
    widest: int = WIDEST,
) -> Layout:
    """Compute the layout of ``requires`` (each key with its requirements); raises CycleError.

    ``widths`` of keys, which are all ``height`` high; ``gaps``: between neighbours, between layers;
    ``widest``: keys that stand side by side at most.
    """
    layers = _assign_layers(requires, widest)
    spots = {key: _Vertex(widths[key], layer) for key, layer in layers.items()}
    trails = _connect_neighbours(requires, spots)
    everything = [*spots.values(), *(bend for trail in trails.values() for bend in trail)]
    rows = _group_by_layer(everything)
    _reduce_crossings(rows)
    _place_vertices(rows, gaps[0])
    return _build_layout(spots, trails, everything, height, gaps[1])


def _assign_layers(requires: Mapping[str, Collection[str]], widest: int) -> dict[str, int]:
    """Assign a layer to each key: below all its requirements; wide layers are broken."""
    depth: dict[str, int] = {}
    for key in sort_topologically(requires):
        depth[key] = 1 + max((depth[other] for other in requires.get(key, ())), default=-1)
    members: dict[int, list[str]] = {}
    for key, layer in depth.items():
        members.setdefault(layer, []).append(key)
    found, number = {}, 0
    for layer in sorted(members):
        keys = members[layer]
        for start in range(0, len(keys), widest):
            found.update(dict.fromkeys(keys[start : start + widest], number))
            number += 1
    return found


def _connect_neighbours(
    requires: Mapping[str, Collection[str]], spots: Mapping[str, _Vertex]
) -> dict[tuple[str, str], list[_Vertex]]:
    """Connect neighbours; return the bends of each edge, from the dependant to the requirement."""
    edges = [(key, other) for key, needs in requires.items() for other in needs]
    count = sum(spots[key].layer - spots[other].layer - 1 for key, other in edges)
    trails: dict[tuple[str, str], list[_Vertex]] = {}
    for key, other in edges:
        low, high = spots[key], spots[other]
        layers = range(low.layer - 1, high.layer, -1) if count <= MOST_BENDS else range(0)
        trail = [_Vertex(0.0, layer) for layer in layers]
        chain = [low, *trail, high]
        for lower, upper in pairwise(chain):
            lower.above.append(upper)
            upper.below.append(lower)
        trails[key, other] = trail
    return trails


def _group_by_layer(everything: Sequence[_Vertex]) -> list[list[_Vertex]]:
    rows: list[list[_Vertex]] = [
        [] for _ in range(1 + max((s.layer for s in everything), default=0))
    ]
    for spot in everything:
        rows[spot.layer].append(spot)
    _number_places(rows)
    return rows


def _number_places(rows: Sequence[Sequence[_Vertex]]) -> None:
    for row in rows:
        for place, spot in enumerate(row):
            spot.place = place


def _reduce_crossings(rows: list[list[_Vertex]]) -> None:
    """Sort each layer by the mean place of its neighbours, downwards and upwards in turn."""
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for row in rows if down else reversed(rows):
            row.sort(key=lambda spot: _compute_barycentre(spot, spot.above if down else spot.below))
            for place, spot in enumerate(row):
                spot.place = place


def _compute_barycentre(spot: _Vertex, neighbours: Sequence[_Vertex]) -> float:
    if not neighbours:
        return float(spot.place)
    return sum(other.place for other in neighbours) / len(neighbours)


def _place_vertices(rows: Sequence[Sequence[_Vertex]], gap: float) -> None:
    """Place each vertex as near to the middle of its neighbours as its layer's order allows."""
    for row in rows:
        _place_row(row, [0.0] * len(row), gap)
    for sweep in range(_SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            _place_row(row, [_compute_middle(spot) for spot in row], gap)


def _compute_middle(spot: _Vertex) -> float:
    near = [*spot.above, *spot.below]
    return sum(other.x for other in near) / len(near) if near else spot.x


def _place_row(row: Sequence[_Vertex], wanted: Sequence[float], gap: float) -> None:
    """Set each position: nearest to ``wanted`` by least squares, without overlaps.

    Spots that want to be too near become one block at their common mean (pool adjacent violators).
    """
    offset, offsets = 0.0, []
    for index, spot in enumerate(row):
        if index:
            offset += (row[index - 1].width + spot.width) / 2 + gap
        offsets.append(offset)
    blocks: list[tuple[float, int]] = []
    for want, shift in zip(wanted, offsets, strict=True):
        total, count = want - shift, 1
        while blocks and blocks[-1][0] / blocks[-1][1] >= total / count:
            before, number = blocks.pop()
            total, count = total + before, count + number
        blocks.append((total, count))
    starts = [total / count for total, count in blocks for _ in range(count)]
    for spot, start, shift in zip(row, starts, offsets, strict=True):
        spot.x = start + shift


def _build_layout(
    spots: Mapping[str, _Vertex],
    trails: Mapping[tuple[str, str], Sequence[_Vertex]],
    everything: Sequence[_Vertex],
    height: float,
    gap: float,
) -> Layout:
    left = min((spot.x - spot.width / 2 for spot in everything), default=0.0)
    right = max((spot.x + spot.width / 2 for spot in everything), default=0.0)
    layers = 1 + max((spot.layer for spot in everything), default=0)

    def point(spot: _Vertex) -> tuple[float, float]:
        return spot.x - left, spot.layer * (height + gap) + height / 2

    return Layout(
        {key: point(spot) for key, spot in spots.items()},
        {edge: [point(spot) for spot in trail] for edge, trail in trails.items() if trail},
        (right - left, layers * (height + gap) - gap),
    )
