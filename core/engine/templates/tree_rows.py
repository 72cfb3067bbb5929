"""Instances of a tree of stacks by path. In the pool."""

from __future__ import annotations

from collections.abc import Collection

from zonda.core.store.read.reader import Reader
from zonda.core.store.read.tree_paths import Tree, by_owner
from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks.cached_property import cached_property

from ..model import row_annotations
from ..model.plan import BELOW
from ..model.states import PRESENT


def parse_path(text: str, names: Collection[str]) -> str:
    """The path of ``text`` as OWNER/NAME; OWNER.NAME is accepted where that is no name."""
    if BELOW not in text and text not in names and text.split(".")[0] in names:
        return text.replace(".", BELOW)
    return text


def is_begun(row: ResourceRow) -> bool:
    """Whether an instance has any state to keep."""
    return (row.action, row.op) != ("INIT", "")


class TreeRows:
    """The instances below the stack ``root``, and the stacks that they are in."""

    def __init__(self, reader: Reader, root: StackRow) -> None:
        self._reader = reader
        self._root = root

    @cached_property
    def stacks(self) -> dict[str, StackRow]:
        """The stacks of the tree, by their ids."""
        return {row.id: row for row in self._reader.tree(self._root.id)}

    @cached_property
    def _children(self) -> dict[str, StackRow]:
        return by_owner(self.stacks.values())

    @cached_property
    def _tree(self) -> Tree:
        return Tree(self._root.id, self._reader.list_owners_below(self._root.id))

    def find_path(self, row: ResourceRow) -> str:
        """The path of an instance, from the root down."""
        return BELOW.join((*(self._tree.path(row.stack_id) or ()), row.name))

    def members(self, owner: str) -> dict[str, ResourceRow]:
        """The present resources of the stack nested in ``owner``; '': of the root."""
        stack = self._find_nested_stack(owner)
        if stack is None:
            return {}
        rows = self._reader.resource_rows(stack.id)
        found = {row.name: row for row in rows if row_annotations.read_promise(row)}
        return found | {row.name: row for row in rows if row.want == PRESENT and is_begun(row)}

    def find(self, path: str) -> ResourceRow | None:
        """The instance at a path, if it exists."""
        owner, _, name = path.rpartition(BELOW)
        return self.members(owner).get(name)

    def _find_nested_stack(self, owner: str) -> StackRow | None:
        """The nested stack of the instance that stays, else of one to be deleted."""
        if not owner:
            return self._root
        above, _, name = owner.rpartition(BELOW)
        stack = self._find_nested_stack(above)
        rows = [] if stack is None else self._reader.resource_rows(stack.id)
        named = [row for row in rows if row.name == name and row.id in self._children]
        named.sort(key=lambda row: (row.want == PRESENT, row.id))
        return self._children[named[-1].id] if named else None
