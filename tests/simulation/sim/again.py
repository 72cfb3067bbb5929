"""The same update once more: who may do something although nothing has changed.

What is updated by every update may have itself replaced by one; then it says something else, and
whoever reads that follows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from zonda.core.store.schema.rows import ResourceRow

from .simulator import Simulator

#: The type that every update updates.
ALWAYS = "Always"


class Before:
    """How often something was done to each instance by now."""

    def __init__(self, sim: Simulator) -> None:
        self._sim = sim
        self._rows = dict(sim.watcher.rows)
        stacks = dict.fromkeys(row.stack_id for row in self._rows.values())
        self._edges = [edge for key in stacks for edge in sim.reader.edges(key)]
        self._owners = {key: sim.reader.stack_row(key).owner_resource_id for key in stacks}

    def moved(self) -> list[str]:
        """The names of those that something was done to since, without a reason."""
        now = self._sim.watcher.rows
        always = [key for key, row in self._rows.items() if row.class_type == ALWAYS]
        excused = {*always, *self._followers([key for key in always if key not in now])}
        moved = [
            row.name
            for key, row in self._rows.items()
            if key not in excused and (key not in now or now[key].fence != row.fence)
        ]
        known = {(row.stack_id, row.name) for row in self._rows.values()}
        return moved + [row.name for row in now.values() if (row.stack_id, row.name) not in known]

    def _followers(self, replaced: Collection[str]) -> set[str]:
        """Whoever may read something else because these were replaced."""
        found = set[str]()
        pending = list(replaced)
        while pending:
            for key in self._next(self._rows[pending.pop()]):
                if key not in found:
                    found.add(key)
                    pending.append(key)
        return found

    def _next(self, row: ResourceRow) -> Iterator[str]:
        """Who requires an instance, with all nested in them; and whose stack it is in."""
        for user, required in self._edges:
            if required == row.id:
                yield user
                yield from self._below(user)
        owner = self._owners[row.stack_id]
        if owner is not None:
            yield owner

    def _below(self, owner: str) -> Iterator[str]:
        for row in self._rows.values():
            if self._owners[row.stack_id] == owner:
                yield row.id
                yield from self._below(row.id)


__all__ = ["Before"]
