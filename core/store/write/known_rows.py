"""The rows as they were last committed here, in memory: what is worked on is not read again.

Kept by ``Store`` from one transaction to the next; forgotten where a transaction is undone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from ..schema.rows import ResourceRow, StackRow

#: Instances that are kept, so that what is worked on need not be read again and again: some 2 KB
#: each, and the plan of a larger stack keeps all that it has touched.
ROWS_KEPT = 16384

Values = tuple[Any, ...]
_STACK = [*ResourceRow.__dataclass_fields__].index("stack_id")
_ROOT = [*StackRow.__dataclass_fields__].index("root_id")
_PHASE = [*StackRow.__dataclass_fields__].index("phase")


class KnownRows:
    """Values of rows by their ids."""

    def __init__(self) -> None:
        self.stacks: dict[str, Values] = {}
        self.resources: dict[str, Values] = {}
        # The instances of each stack.
        self._of: defaultdict[str, set[str]] = defaultdict(set)

    def clear(self) -> None:
        """Forget all."""
        for each in (self.stacks, self.resources, self._of):
            each.clear()

    def drop(self, keys: Iterable[str]) -> None:
        """Forget instances."""
        for key in keys:
            found = self.resources.pop(key, None)
            if found is not None:
                self._of[found[_STACK]].discard(key)

    def drop_stack(self, stack_id: str) -> None:
        """Forget a stack, and its instances."""
        self.stacks.pop(stack_id, None)
        for key in self._of.pop(stack_id, ()):
            del self.resources[key]

    def drop_tree(self, root_id: str) -> None:
        """Forget the stacks of a tree, and their instances."""
        for key in [key for key, found in self.stacks.items() if found[_ROOT] == root_id]:
            self.drop_stack(key)

    def keep(self, stacks: Mapping[str, Values], resources: Mapping[str, Values]) -> None:
        """Keep rows as they are now; of a stack at rest, nobody works on the instances."""
        if len(self.resources) > max(ROWS_KEPT, 2 * len(resources)):
            self.clear()
        self.drop(resources)  # one may be in another stack now
        self.stacks.update(stacks)
        self.resources.update(resources)
        for key, found in resources.items():
            self._of[found[_STACK]].add(key)
        for key, found in stacks.items():
            if found[_PHASE] == "IDLE":
                self.drop_stack(key)
