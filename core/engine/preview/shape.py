"""The resources of a tree of stacks after a plan, by path."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from zonda.core.store.schema.rows import StackRow
from zonda.hooks.cached_property import cached_property

from ..model.plan import BELOW, StackPlan
from ..services import EngineServices
from ..templates.tree_rows import TreeRows
from .children import Below
from .entries import Entry
from .walk import Walk

#: The text for a value that is known after the plan is carried out.
_UNKNOWN = None


class Shape:
    """The resources that ``proposal`` wants in a stack, and in its nested stacks."""

    def __init__(
        self, services: EngineServices, stack: StackRow, proposal: StackPlan, tree: TreeRows
    ) -> None:
        self._services = services
        self._stack = stack
        self._proposal = proposal
        self._tree = tree

    @cached_property
    def _walked(self) -> tuple[Any, list[Entry]]:
        rows = (
            self._services.reader().resource_rows(self._stack.id) if self._stack.generation else []
        )
        below = Below(self._services, self._stack, self._proposal)
        walk = Walk(self._services, self._stack, self._proposal, rows, below)
        return walk.definition, list(walk.entries())

    def find_type(self, path: str) -> str | None:
        """The type of the resource at a path; '' where that is unknown, None for no resource."""
        owner, _, name = path.rpartition(BELOW)
        found = self._list_types(owner)
        return "" if found is _UNKNOWN else found.get(name)

    def list_siblings(self, path: str) -> Collection[str]:
        """The paths of the resources in the same stack as ``path``."""
        owner = path.rpartition(BELOW)[0]
        return [BELOW.join(filter(None, (owner, name))) for name in self._list_types(owner) or ()]

    def _list_types(self, owner: str) -> Mapping[str, str] | None:
        """Name -> type of all resources nested in a resource."""
        definition, entries = self._walked
        done: list[str] = []
        for name in filter(None, owner.split(BELOW)):
            done.append(name)
            if definition is None or name not in definition.resources:
                return {}
            entry = index_entries(entries)[name]
            if entry.action == "none" and not entry.may:  # it keeps what it has
                rows = self._tree.members(owner)
                return {key: row.type for key, row in rows.items() if row.want == "PRESENT"}
            if not definition.resources[name].cls.is_nested_stack:
                return {}
            if not entry.nested or entry.nested[0].definition is None:
                return _UNKNOWN
            definition, entries = entry.nested[0].definition, list(entry.nested[0].entries)
        return {name: node.type for name, node in definition.resources.items()}


def index_entries(entries: Collection[Entry]) -> Mapping[str, Entry]:
    """The entries by name; desired ones come before those to be deleted."""
    return {each.name: each for each in reversed(list(entries))}
