"""The edges of the present stacks, in memory: requirements and dependants.

Kept by ``Store`` from one transaction to the next and changed together with the table by
``Transaction``; forgotten where a transaction is undone. Loaded by stack, since whoever asks for
the edges of one instance will soon ask for those of the others.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Sequence

#: Stacks whose edges are kept.
STACKS_KEPT = 32

Edge = tuple[str, str]
_NONE: Sequence[str] = ()


class Edges:
    """``load`` gives every edge (dependant, requirement) of a stack."""

    def __init__(self) -> None:
        self._stacks: dict[str, tuple[dict[str, list[str]], dict[str, list[str]]]] = {}

    def forget(self, stack_id: str | None = None) -> None:
        """Load the edges of a stack again, or all."""
        if stack_id is None:
            self._stacks.clear()
        else:
            self._stacks.pop(stack_id, None)

    def begin(self, stack_id: str) -> None:
        """Note that a stack is new: it has no edges."""
        self._make(stack_id)

    def list_edges(self, stack_id: str, load: Callable[[str], Iterable[Edge]]) -> list[Edge]:
        """Every edge of a stack: (dependant, requirement)."""
        there, _ = self._get_edges(stack_id, load)
        return [(source, target) for source, found in there.items() for target in found]

    def keep(self, stack_id: str, edges: Iterable[Edge]) -> None:
        """Keep every edge of a stack, as it was just loaded."""
        if stack_id not in self._stacks:
            self._make(stack_id)
            self.add(stack_id, edges)

    def _make(self, stack_id: str) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        if len(self._stacks) >= STACKS_KEPT:
            self._stacks.clear()
        known = self._stacks[stack_id] = ({}, {})
        return known

    def _get_edges(
        self, stack_id: str, load: Callable[[str], Iterable[Edge]]
    ) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        known = self._stacks.get(stack_id)
        if known is None:
            self.keep(stack_id, load(stack_id))
            known = self._stacks[stack_id]
        return known

    def requirements(
        self, stack_id: str, key: str, load: Callable[[str], Iterable[Edge]]
    ) -> Sequence[str]:
        """The ids that an instance requires, in order."""
        return self._get_edges(stack_id, load)[0].get(key, _NONE)

    def dependants(
        self, stack_id: str, key: str, load: Callable[[str], Iterable[Edge]]
    ) -> Sequence[str]:
        """The ids that require an instance, in order."""
        return self._get_edges(stack_id, load)[1].get(key, _NONE)

    def add(self, stack_id: str, edges: Iterable[Edge]) -> None:
        """Note new edges; those that are known stay."""
        known = self._stacks.get(stack_id)
        if known is None:
            return
        for source, target in edges:
            _insert(known[0].setdefault(source, []), target)
            _insert(known[1].setdefault(target, []), source)

    def drop(self, stack_id: str, edges: Iterable[Edge]) -> None:
        """Forget edges."""
        known = self._stacks.get(stack_id)
        if known is None:
            return
        for source, target in edges:
            _remove(known[0], source, target)
            _remove(known[1], target, source)

    def drop_all_of(self, stack_id: str, key: str) -> None:
        """Forget every edge of an instance."""
        known = self._stacks.get(stack_id)
        if known is None:
            return
        for there, back in (known, known[::-1]):
            for other in there.pop(key, _NONE):
                _remove(back, other, key)


def _insert(found: list[str], key: str) -> None:
    if not found or found[-1] < key:
        found.append(key)
    elif key not in found:
        insort(found, key)


def _remove(known: dict[str, list[str]], key: str, other: str) -> None:
    found = known.get(key)
    if found is not None and other in found:
        found.remove(other)
