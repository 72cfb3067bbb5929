"""Trees of stacks: which stack is nested in which resource of which. Called by faces and telling.

Nobody's name has a slash, so that ``web/db`` is the resource ``db`` of the nested stack of ``web``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from .stack_reads import TreeReads
from .tree_paths import Tree
from .views import EventView, ResourceSummary, StackView

#: Deeper than anything.
ALL_LEVELS = 1_000_000


class Owners:
    """The owners of nested stacks: of one tree, or of all that are live."""

    def __init__(self, reader: TreeReads, root_id: str | None = None) -> None:
        self._reader = reader
        self._owned = {
            child: (parent, name) for child, _, parent, name in reader.list_owners_below(root_id)
        }
        self._names: dict[str, str] = {}

    def of(self, stack: StackView) -> tuple[str | None, str | None]:
        """The id of the stack above, and the path from the root to the owner; None for a root.

        The way, as ``ROOT/OWNER/...``, is a name of the nested stack. Of one that is deleted
        nobody knows any more.
        """
        if stack.id not in self._owned:
            return None, None
        return self._owned[stack.id][0], self._find_path(stack.id)

    def _find_path(self, stack_id: str) -> str:
        """The path to a stack; each one is worked out once."""
        pending, at = [stack_id], stack_id
        while at in self._owned and at not in self._names:
            at = self._owned[at][0]
            pending.append(at)
        for each in reversed(pending):
            if each not in self._names:
                parent, name = self._owned.get(each, ("", ""))
                above = self._names[parent] if parent else ""
                self._names[each] = (
                    f"{above}/{name}" if parent else self._reader.stack_by_id(each).name
                )
        return self._names[stack_id]


def read_tree(reader: TreeReads, stack: StackView) -> Tree:
    """The tree below a stack, as it is now."""
    return Tree(stack.id, reader.list_owners_below(stack.root_id))


def format_path(path: Collection[str], name: str = "") -> str:
    """A path for people: ``web/db``."""
    return "/".join((*path, name) if name else path)


def list_resources(
    reader: TreeReads, stack: StackView, depth: int
) -> list[tuple[tuple[str, ...], ResourceSummary]]:
    """The instances of a stack and its nested stacks, each behind its owner, with its path.

    ``depth``: how many levels down.
    """
    tree = read_tree(reader, stack)
    rows: dict[str, list[ResourceSummary]] = {}
    for row in reader.list_tree_resources(stack.root_id):
        rows.setdefault(row.stack_id, []).append(row)
    found: list[tuple[tuple[str, ...], ResourceSummary]] = []
    pending: list[tuple[tuple[str, ...], ResourceSummary]] = []

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


class Ways:
    """The ways down to the stacks of a tree, also to those that are gone: the events of their
    owners tell whose they were. ``top``: what the ways begin at.
    """

    def __init__(self, reader: TreeReads, top: StackView) -> None:
        self._reader = reader
        self._top = top
        self._owners: dict[str, tuple[str, str]] = {}
        self._paths: dict[str, tuple[str, ...]] = {top.id: ()}

    def list_events(
        self, events: Sequence[EventView], depth: int = ALL_LEVELS
    ) -> list[tuple[tuple[str, ...], EventView]]:
        """The events that are at most ``depth`` levels down, with their paths.

        ``events``: of the whole tree, those that owners had before them at first.
        """
        for event in events:
            if event.resource_id is not None:
                self._owners[event.resource_id] = (event.stack_id, event.resource_name)
        if any(event.stack_id not in self._paths for event in events):
            self._load_paths()
        found = ((self._paths.get(event.stack_id), event) for event in events)
        return [(path, each) for path, each in found if path is not None and len(path) <= depth]

    def _load_paths(self) -> None:
        """Read the paths to stacks that were not there before."""
        root = self._top.root_id
        owned = [
            (child, owner, *self._owners[owner])
            for child, _, owner in self._reader.names_of_tree(root)
            if owner in self._owners
        ]
        tree = Tree(self._top.id, [*owned, *self._reader.list_owners_below(root)])
        self._paths = tree.list_within(ALL_LEVELS)
