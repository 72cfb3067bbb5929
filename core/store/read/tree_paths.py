"""Paths down a tree of stacks, from the owners. Called by ``trees`` and the reader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ..schema.rows import ResourceRow, StackRow

#: (nested stack, the instance that owns it, the stack of that, its name).
Owned = tuple[str, str, str, str]


class Tree:
    """A stack and its nested stacks, by ids. ``paths``: the owners from ``top`` down."""

    def __init__(self, top: str, owned: Iterable[Owned]) -> None:
        self.top = top
        self.children: dict[str, str] = {}  #: owner -> nested stack
        self.owned: dict[str, tuple[str, str]] = {}
        for child, owner, parent, name in owned:
            self.children[owner] = child
            self.owned[child] = (parent, name)
        self._paths: dict[str, tuple[str, ...] | None] = {top: ()}

    def path(self, stack_id: str) -> tuple[str, ...] | None:
        """The path to a stack; None if it is not below ``top``."""
        pending: list[str] = []
        at = stack_id
        while at not in self._paths and at in self.owned:
            pending.append(at)
            at = self.owned[at][0]
        found = self._paths.setdefault(at, None)
        for each in reversed(pending):
            if found is not None:
                found = (*found, self.owned[each][1])
            self._paths[each] = found
        return self._paths[stack_id]

    def list_within(self, depth: int) -> dict[str, tuple[str, ...]]:
        """The stacks that are at most ``depth`` levels below ``top``, with their paths."""
        found = {}
        for stack_id in (self.top, *self.owned):
            path = self.path(stack_id)
            if path is not None and len(path) <= depth:
                found[stack_id] = path
        return found


def by_owner(stacks: Iterable[StackRow]) -> dict[str, StackRow]:
    """The nested ones of ``stacks``, by the ids of the instances that own them."""
    return {each.owner_resource_id: each for each in stacks if each.owner_resource_id is not None}


def walk_down(
    top: StackRow, stacks: Iterable[StackRow], rows_of: Callable[[str], list[ResourceRow]]
) -> Iterator[tuple[StackRow, list[ResourceRow]]]:
    """A stack with its instances, then those of ``stacks`` that are nested in it, owners first."""
    children, pending = by_owner(stacks), [top]
    while pending:
        stack = pending.pop(0)
        rows = rows_of(stack.id)
        yield stack, rows
        pending += [children[row.id] for row in rows if row.id in children]
