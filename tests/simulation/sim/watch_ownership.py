"""Whose things are: a row never goes without its thing, unless that is to stay."""

from __future__ import annotations

from typing import Any

from zonda.core.store.read.reader import Reader

from .world import FREE, Violation, World

TEMPLATED = ("CREATE", "ADOPT", "UPDATE", "ROLLBACK", "RESTORE")


class Ownership:
    """Hands things over in the world when rows come, change and go."""

    def __init__(self, reader: Reader, world: World) -> None:
        self._reader = reader
        self._world = world

    def changed(self, change: Any) -> None:
        """A row has changed."""
        before, now = change.before, change.now
        if now is None:
            self._gone(change)
        elif before is not None and _is_adopting(before) and not _is_adopting(now):
            self._adopted(change)

    def _gone(self, change: Any) -> None:
        row, world = change.before, self._world
        mine = [physical for physical, owner in world.live.items() if owner == row.id]
        abandoned = self._is_abandoned(change)
        for physical in mine:
            if physical in world.excused and (row.op or physical != row.physical_id):
                continue
            if abandoned and row.op:
                world.excused.add(physical)  # in the midst of something: nobody can know
                world.live[physical] = FREE
            elif abandoned or row.deletion_policy == "Retain":
                world.live[physical] = FREE
                world.excused.discard(physical)
            elif physical not in world.excused:
                raise Violation(f"{row.name} is gone, {physical} is not ({row.deletion_policy})")

    def _is_abandoned(self, change: Any) -> bool:
        if change.stack.deleted_at is None:
            return False
        return bool(self._reader.actions(change.stack.id)[-1].detail.get("abandoned"))

    def _adopted(self, change: Any) -> None:
        before, now, stack = change.before, change.now, change.stack
        # one commit may end an action and begin the next one
        since = stack.generation if change.stack_before is None else change.stack_before.generation
        seen = [each for each in self._reader.actions(stack.id) if each.generation >= since]
        ended = any(each.status == "COMPLETE" and each.action in TEMPLATED for each in seen)
        updated = (now.action, now.status) == ("UPDATE", "COMPLETE")
        is_import = any(each.action == "IMPORT" for each in seen)
        imported = (now.action, now.status) == ("ADOPT", "COMPLETE") and is_import
        physical = now.physical_id
        if now.action == "CREATE" or now.op == "CREATE":
            return  # it is made instead
        if now.external_id is not None:
            return  # it is only looked at
        if not (ended or updated or imported):
            raise Violation(f"{before.name} is taken over before its adoption has worked")
        if physical in self._world.live:
            self._world.live[physical] = now.id


def _is_adopting(row: Any) -> bool:
    return any(line.startswith("adopt:") for line in (row.given or "").split("\n"))
