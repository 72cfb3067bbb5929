"""Which resources a tree of stacks will have once a plan is carried out, by the ways to them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any

from zonda.core.store.schema.rows import StackRow

from ..model.plan import BELOW, StackPlan
from ..services import EngineServices
from ..templates.tree_rows import TreeRows
from .children import Below
from .entries import Entry
from .walk import Walk

#: What is not known before the plan is carried out.
_UNKNOWN = None


class Shape:
    """The resources that ``proposal`` wants of a stack, and of all that will be nested in it."""

    def __init__(
        self, services: EngineServices, stack: StackRow, proposal: StackPlan, tree: TreeRows
    ) -> None:
        self._services = services
        self._stack = stack
        self._proposal = proposal
        self._tree = tree

    @cached_property
    def _walk(self) -> tuple[Any, list[Entry]]:
        rows = (
            self._services.reader().resource_rows(self._stack.id) if self._stack.generation else []
        )
        below = Below(self._services, self._stack, self._proposal)
        walk = Walk(self._services, self._stack, self._proposal, rows, below)
        return walk.definition, list(walk.entries())

    def type_at(self, path: str) -> str | None:
        """The type of what is at the end of a way; '' where that is not known, None for nothing."""
        owner, _, name = path.rpartition(BELOW)
        found = self._types(owner)
        return "" if found is _UNKNOWN else found.get(name)

    def names_beside(self, path: str) -> Collection[str]:
        """The ways to what is in the same stack as the end of a way."""
        owner = path.rpartition(BELOW)[0]
        return [BELOW.join(filter(None, (owner, name))) for name in self._types(owner) or ()]

    def _types(self, owner: str) -> Mapping[str, str] | None:
        """Name -> type of all that the stack will have that a resource has nested."""
        definition, entries = self._walk
        done: list[str] = []
        for name in filter(None, owner.split(BELOW)):
            done.append(name)
            if definition is None or name not in definition.resources:
                return {}
            entry = entries_by_name(entries)[name]
            if entry.action == "none" and not entry.may:  # it keeps what it has
                rows = self._tree.members(owner)
                return {key: row.type for key, row in rows.items() if row.want == "PRESENT"}
            if not definition.resources[name].cls.is_nested_stack:
                return {}
            if not entry.nested or entry.nested[0].definition is None:
                return _UNKNOWN
            definition, entries = entry.nested[0].definition, list(entry.nested[0].entries)
        return {name: node.type for name, node in definition.resources.items()}


def entries_by_name(entries: Collection[Entry]) -> Mapping[str, Entry]:
    """What becomes of what is wanted comes before what goes of the same name."""
    return {each.name: each for each in reversed(list(entries))}
