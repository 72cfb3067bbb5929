"""Order, cycles and reachability of a directed graph that is given as plain data.

Called by the template room (references and cycles), the engine and the reports. A graph is a
mapping from a key to what it requires; a key that only occurs as a requirement counts too. Nothing
here knows what a key stands for.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from heapq import heappop, heappush
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


class CycleError(Exception):
    """The graph has a cycle. ``keys`` is a shortest one, its first key repeated at the end."""

    def __init__(self, keys: list[object]) -> None:
        super().__init__(" -> ".join(str(key) for key in keys))
        self.keys = keys


def sort_topologically(requires: Mapping[Key, Collection[Key]]) -> list[Key]:
    """Sort the keys after all that they require; of those that are ready the earliest in
    ``requires`` comes first.

    Raises Ring.
    """
    whole = _add_missing_keys(requires)
    keys = list(whole)
    position = {key: index for index, key in enumerate(keys)}
    waiting = [len(set(needs)) for needs in whole.values()]
    needed_by: list[list[int]] = [[] for _ in keys]
    for index, needs in enumerate(whole.values()):
        for other in set(needs):
            needed_by[position[other]].append(index)
    ready = [index for index, count in enumerate(waiting) if count == 0]
    done: list[Key] = []
    while ready:
        index = heappop(ready)
        done.append(keys[index])
        for other_index in needed_by[index]:
            waiting[other_index] -= 1
            if waiting[other_index] == 0:
                heappush(ready, other_index)
    if len(done) != len(keys):
        finished = set(done)
        raise CycleError(
            list(find_shortest_cycle({key: whole[key] for key in keys if key not in finished}))
        )
    return done


def map_dependents(requires: Mapping[Key, Collection[Key]]) -> dict[Key, list[Key]]:
    """Reverse the graph: map each key to those that require it."""
    return group_targets(
        (other, key) for key, needs in requires.items() for other in dict.fromkeys(needs)
    )


def group_targets(edges: Iterable[tuple[Key, Key]]) -> dict[Key, list[Key]]:
    """Group edges by their first key: map each key to those that its edges lead to."""
    targets: dict[Key, list[Key]] = {}
    for key, other in edges:
        targets.setdefault(key, []).append(other)
    return targets


def count_waiting(
    keys: Collection[Key], edges: Iterable[tuple[Key, Key]], *, up: bool
) -> dict[Key, int]:
    """Count for each of ``keys`` how many of them it waits for, going up or down the graph.

    ``edges``: (dependant, requirement).
    """
    waiting = dict.fromkeys(keys, 0)
    for dependant, requirement in edges:
        if dependant in waiting and requirement in waiting:
            waiting[dependant if up else requirement] += 1
    return waiting


def find_reachable(start: Iterable[Key], edges: Mapping[Key, Collection[Key]]) -> set[Key]:
    """Find ``start`` and every key that can be reached from it along ``edges``."""
    reached = set(start)
    todo = list(reached)
    while todo:
        for other in edges.get(todo.pop(), ()):
            if other not in reached:
                reached.add(other)
                todo.append(other)
    return reached


def find_shortest_cycle(requires: Mapping[Key, Collection[Key]]) -> list[Key]:
    """Find a shortest cycle, its first key repeated at the end; empty where there is none."""
    best: list[Key] = []
    for key in requires:
        ring = _find_cycle_through(key, requires, len(best) or len(requires) + 2)
        if ring and (not best or len(ring) < len(best)):
            best = ring
        if len(best) == 2:
            break
    return best


def _find_cycle_through(
    start: Key, requires: Mapping[Key, Collection[Key]], bound: int
) -> list[Key]:
    """Find the shortest cycle through ``start`` with fewer than ``bound`` keys, breadth first."""
    came_from: dict[Key, Key] = {}
    level, length = [start], 1
    while level and length + 1 < bound:
        following: list[Key] = []
        for key in level:
            for other in requires.get(key, ()):
                if other == start:
                    return [start, *_trace_path(key, came_from), start]
                if other not in came_from and other in requires:
                    came_from[other] = key
                    following.append(other)
        level, length = following, length + 1
    return []


def _trace_path(key: Key, came_from: Mapping[Key, Key]) -> list[Key]:
    trail = []
    while key in came_from:
        trail.append(key)
        key = came_from[key]
    return trail[::-1]


def _add_missing_keys(requires: Mapping[Key, Collection[Key]]) -> dict[Key, Collection[Key]]:
    """Add an entry for every key that only occurs as a requirement."""
    whole: dict[Key, Collection[Key]] = dict(requires)
    for needs in requires.values():
        for other in needs:
            whole.setdefault(other, ())
    return whole
