"""The limit on the number of resources in a tree of stacks.

Asked for every plan of a nested stack that adds some: in the pool, so that the owner fails, and in
the transaction of the plan, since others may have added theirs meanwhile. Counting a tree takes as
long as the tree is large, so that an upper bound is kept, and only a bound that is too high is
counted anew.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol

from zonda.hooks.errors import TooManyResources

_MOST_TREES = 256
#: The id of the stack at the top, and its generation: a new plan may change its own size.
Tree = tuple[str, int]


class Counting(Protocol):
    """Counts the instances of a tree: a reader, or a transaction."""

    def tree_size(self, root_id: str, *, wanted: bool = False) -> int:
        """The number of instances of a tree; with ``wanted`` without those to be deleted."""


class TreeSizes:
    """The bounds of the last trees. Only transactions change them."""

    def __init__(self) -> None:
        self._bounds: OrderedDict[Tree, int] = OrderedDict()

    def check(self, reader: Counting, tree: Tree, more: int, most: int) -> None:
        """Raise TooManyResources where ``more`` resources do not fit into a tree."""
        bound = self._bounds.get(tree)
        if bound is None or bound + more <= most:
            return
        found = reader.tree_size(tree[0], wanted=True)
        if found + more > most:
            raise TooManyResources(found + more, most, at=("resources",), nested=True)

    def admit(self, tx: Counting, tree: Tree, more: int, most: int) -> bool:
        """Whether ``more`` resources fit into a tree; they are counted from then on."""
        bound = self._bounds.pop(tree, None)
        if bound is None:
            bound = tx.tree_size(tree[0])
        if bound + more > most:
            bound = tx.tree_size(tree[0], wanted=True)
        fits = bound + more <= most
        # who does not fit asks again, and is told then
        self._bounds[tree] = bound + more if fits else most
        if len(self._bounds) > _MOST_TREES:
            self._bounds.popitem(last=False)
        return fits
