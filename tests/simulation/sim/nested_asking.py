"""What is asked of a stack with others nested in it, and of something in those."""

from __future__ import annotations

from collections.abc import Callable

from zonda.core.engine import actions
from zonda.core.engine.model.states import PRESENT
from zonda.core.store.schema.rows import ResourceRow, StackRow

from .asking import Asking
from .nested_writing import NAMES
from .rest import clear

#: What of all that can be asked is asked of nested stacks, too.
ASKED = {
    "_update",
    "_part",
    "_cancel",
    "_check",
    "_suspend",
    "_resume",
    "_delete",
    "_roll_back",
    "_retry",
    "_snapshot",
    "_restore",
    "_forget",
    "_signal",
    "_mark",
    "_protect",
    "_clear",
}


class NestedAsking(Asking):
    """Asks for one action after the other."""

    def _choices(self, stack: StackRow) -> list[tuple[float, Callable[[StackRow], None]]]:
        known = [each for each in super()._choices(stack) if each[1].__name__ in ASKED]
        inside = 5.0 if self.inside and stack.phase == "IDLE" else 0.0
        return [*known, (inside, self._signal_inside), (inside, self._mark_inside)]

    @property
    def inside(self) -> list[ResourceRow]:
        """What is wanted in nested stacks."""
        watcher = self.sim.watcher
        return [
            row
            for row in watcher.rows.values()
            if row.want == PRESENT and watcher.stacks[row.stack_id].owner_resource_id is not None
        ]

    def _begin(self) -> None:
        source, bundle = self.source, self._bundle()
        timeout = source.choice([1, 60, 600])
        self.sim.act(actions.CreateStack("s", bundle, timeout, source.random() < 0.4))

    def _restore(self, stack: StackRow) -> None:
        """Nothing need be as a template says after that."""
        self.sim.disturbed.update(NAMES)
        super()._restore(stack)

    def _signal_inside(self, stack: StackRow) -> None:
        row = self.source.choice(self.inside)
        self._disturb(row)
        self.sim.act(actions.SignalResource(row.stack_id, row.name, {}))

    def _mark_inside(self, stack: StackRow) -> None:
        row = self.source.choice(self.inside)
        self._disturb(row)
        healthy = self.source.random() < 0.3
        self.sim.act(actions.MarkResource(row.stack_id, row.name, healthy=healthy))

    def _disturb(self, row: ResourceRow) -> None:
        """Neither it nor what it is nested in need be as the template says."""
        watcher = self.sim.watcher
        while True:
            self.sim.disturbed.add(row.name)
            owner = watcher.stacks[row.stack_id].owner_resource_id
            if owner is None or owner not in watcher.rows:
                return
            row = watcher.rows[owner]

    def _clear(self, stack: StackRow) -> None:
        waiting = [row for row in self.sim.watcher.rows.values() if row.hook]
        if waiting and self.source.random() < 0.7:
            row = self.source.choice(waiting)
            clear(self.sim, actions.ClearHooks(row.stack_id, (row.name,)))
        else:
            super()._clear(stack)
