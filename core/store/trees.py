"""Trees of stacks: which stack is nested in which resource of which. Called by faces and telling.

Nobody's name has a slash, so that ``web/db`` is the resource ``db`` of the nested stack of ``web``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from .reads import Reader
from .rows import ResourceRow
from .views import EventView, StackView

#: (nested stack, the instance that owns it, the stack of that, its name).
Owned = tuple[str, str, str, str]
#: Deeper than anything.
ALL_LEVELS = 1_000_000


class Tree:
    """A stack and what is nested in it, by ids. ``paths``: the owners from ``top`` down."""

    def __init__(self, top: str, owned: Iterable[Owned]) -> None:
        self.top = top
        self.children: dict[str, str] = {}  #: owner -> nested stack
        self.owned: dict[str, tuple[str, str]] = {}
        for child, owner, parent, name in owned:
            self.children[owner] = child
            self.owned[child] = (parent, name)
        self._paths: dict[str, tuple[str, ...] | None] = {top: ()}

    def path(self, stack_id: str) -> tuple[str, ...] | None:
        """The way down to a stack; None if it is not below ``top``."""
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

    def within(self, depth: int) -> dict[str, tuple[str, ...]]:
        """The stacks that are at most ``depth`` levels below ``top``, with their paths."""
        found = {}
        for stack_id in (self.top, *self.owned):
            path = self.path(stack_id)
            if path is not None and len(path) <= depth:
                found[stack_id] = path
        return found


def tree_of(reader: Reader, stack: StackView) -> Tree:
    """The tree below a stack, as it is now."""
    return Tree(stack.id, reader.owners_below(stack.root_id))


def named(path: Collection[str], name: str = "") -> str:
    """A path for people: ``web/db``."""
    return "/".join((*path, name) if name else path)


def resources(
    reader: Reader, stack: StackView, depth: int
) -> list[tuple[tuple[str, ...], ResourceRow]]:
    """The instances of a stack and of what is nested in it, each behind its owner, with its path.

    ``depth``: how many levels down.
    """
    tree = tree_of(reader, stack)
    rows: dict[str, list[ResourceRow]] = {}
    for row in reader.tree_resources(stack.root_id):
        rows.setdefault(row.stack_id, []).append(row)
    found: list[tuple[tuple[str, ...], ResourceRow]] = []
    pending: list[tuple[tuple[str, ...], ResourceRow]] = []

    def push(stack_id: str, path: tuple[str, ...]) -> None:
        pending.extend((path, row) for row in reversed(rows.get(stack_id, ())))

    push(stack.id, ())
    while pending:
        path, row = pending.pop()
        found.append((path, row))
        child = tree.children.get(row.id)
        if child is not None and len(path) < depth:
            push(child, (*path, row.name))
    return found


def events(
    reader: Reader, stack: StackView, after: int = 0, depth: int = ALL_LEVELS
) -> list[tuple[tuple[str, ...], EventView]]:
    """The events of a stack and of all that is or was nested in it, with the way down to it."""
    found = reader.tree_events(stack.root_id, after)
    return Ways(reader, stack, found).told(found, depth)


class Ways:
    """The ways down to the stacks of a tree, also to those that are gone: their owners' events
    tell whose they were.
    """

    def __init__(self, reader: Reader, stack: StackView, known: Iterable[EventView]) -> None:
        self._reader = reader
        self._stack = stack
        self._owners: dict[str, tuple[str, str]] = {}
        self._tree = Tree(stack.id, ())
        self.learn(known)

    def learn(self, known: Iterable[EventView]) -> None:
        """Take note of what owns a stack that was not there yet."""
        for event in known:
            if event.resource_id is not None:
                self._owners[event.resource_id] = (event.stack_id, event.resource_name)
        owned = [
            (child, owner, *self._owners[owner])
            for child, _, owner in self._reader.names_of_tree(self._stack.root_id)
            if owner in self._owners
        ]
        owned += self._reader.owners_below(self._stack.root_id)
        self._tree = Tree(self._stack.id, owned)

    def told(
        self, events: Iterable[EventView], depth: int = ALL_LEVELS
    ) -> list[tuple[tuple[str, ...], EventView]]:
        """The events that are at most ``depth`` levels down, with their paths."""
        paths = self._tree.within(depth)
        return [(paths[each.stack_id], each) for each in events if each.stack_id in paths]
