"""Nested stacks: never without their owners, planned by nobody else, and once for one step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.core.engine.model.states import COMPLETE, IDLE, PASSING_OPERATIONS
from zonda.core.engine.progress.children import is_superseded_by_plan
from zonda.core.store.read.reader import Reader
from zonda.core.store.schema.rows import ResourceRow, StackRow

from .nested_template import is_owner
from .world import Violation

#: Operations after which what is nested has had the same done to it.
_SAME = {"CREATE": ("CREATE", "UPDATE"), "UPDATE": ("CREATE", "UPDATE")}


class Nested:
    """Remembers for which steps of their owners nested stacks were planned."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._alone = True
        self._planned: set[tuple[str, str, int]] = set()
        self.rows: Mapping[str, ResourceRow] = {}
        self.stacks: Mapping[str, StackRow] = {}
        self.before: Mapping[str, StackRow] = {}

    def child_of(self, row: ResourceRow) -> StackRow | None:
        """The nested stack of an instance that lives."""
        found = [each for each in self.stacks.values() if each.owner_resource_id == row.id]
        return next((each for each in found if each.deleted_at is None), None)

    def looked(
        self,
        rows: Mapping[str, ResourceRow],
        stacks: Mapping[str, StackRow],
        before: Mapping[str, StackRow],
        alone: bool,
    ) -> None:
        """Everything as it was committed; ``alone``: by one transaction."""
        self._alone = alone
        self.rows, self.stacks, self.before = rows, stacks, before
        for stack in stacks.values():
            if stack.owner_resource_id is None or stack.deleted_at is not None:
                continue
            owner = rows.get(stack.owner_resource_id)
            if owner is None:
                raise Violation(f"{stack.name} has no owner")
            # what a newer plan of the owner will overtake begins nothing more
            if stack.phase != IDLE and not stack.halted and not owner.op:
                raise Violation(f"{stack.action} of {stack.name}, nothing is done with its owner")
            if stack.phase == IDLE or stack.halted:
                continue
            for above in self._above(stack):
                if above.halted:
                    raise Violation(f"{stack.name} goes on, and {above.name} is halted")
            if is_superseded_by_plan(stacks[owner.stack_id], owner):
                raise Violation(f"{stack.name} goes on, and its owner is to be something else")

    def planned(self, before: StackRow | None, stack: StackRow) -> None:
        """A nested stack has a new plan."""
        if stack.owner_resource_id is None:
            return
        owner = self.rows.get(stack.owner_resource_id)
        if not self._alone and owner is not None and not owner.op:
            return  # it was planned for a step that has ended since
        if owner is None or not owner.op or owner.op_id is None:
            raise Violation(f"{stack.name} is planned, and nothing is done with its owner")
        if stack.generation != (0 if before is None else before.generation) + 1:
            raise Violation(f"{stack.name} is planned twice at once")
        token = self._reader.sealer.load(owner.token)
        step = (owner.id, owner.op_id, int(token["applied"]))
        if step in self._planned:
            raise Violation(f"{stack.name} is planned twice for {step}")
        self._planned.add(step)
        for above in self._above(stack):
            known = self.before.get(above.id)
            if known is not None and known.halted and above.halted:
                raise Violation(f"{stack.name} is planned, and {above.name} is halted")

    def changed(self, change: Any) -> None:
        """A row has changed."""
        before, now = change.before, change.now
        if now is None:
            if any(
                each.owner_resource_id == before.id and each.deleted_at is None
                for each in self.stacks.values()
            ):
                raise Violation(f"{before.name} is gone, what is nested in it is not")
            return
        if change.began and change.stack.owner_resource_id is not None and now.op:
            self._began(change)
        ended = before is not None and before.op and not now.op
        if ended and now.status == COMPLETE and is_owner(now):
            self._completed(before.op, now)

    def _began(self, change: Any) -> None:
        row, stack = change.row, change.stack
        if change.began == "SIGNAL":
            return
        owner = self.rows.get(stack.owner_resource_id)
        if owner is None or not owner.op:
            raise Violation(f"{row.name} of {stack.name} begins, nothing is done with its owner")
        for above in self._above(stack):
            before = self.before.get(above.id)
            if before is not None and before.halted and above.halted and not stack.halted:
                raise Violation(f"{row.name} of {stack.name} begins, and {above.name} is halted")

    def _completed(self, op: str, row: ResourceRow) -> None:
        child = self.child_of(row)
        if op in PASSING_OPERATIONS:
            return
        if op == "DELETE":
            if child is not None:
                raise Violation(f"DELETE of {row.name} is complete, {child.name} is there")
            return
        if child is None:
            raise Violation(f"{op} of {row.name} is complete, and nothing is nested in it")
        if child.phase != IDLE or child.status != COMPLETE:
            raise Violation(f"{op} of {row.name} is complete, {child.name} is {child.status}")
        restored = self.stacks[row.stack_id].action == child.action == "RESTORE"
        if child.action not in _SAME.get(op, (op,)) and not (restored and op == "UPDATE"):
            raise Violation(f"{op} of {row.name} is complete, {child.name} is {child.action}")

    def _above(self, stack: StackRow) -> list[StackRow]:
        """The stacks that it is nested in."""
        found = []
        while stack.owner_resource_id is not None and stack.owner_resource_id in self.rows:
            stack = self.stacks[self.rows[stack.owner_resource_id].stack_id]
            found.append(stack)
        return found
