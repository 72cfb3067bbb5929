"""Plans for a part: what they leave out stays untouched; plan files: nothing stronger."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from zonda.core.engine.model import row_annotations
from zonda.core.engine.model.states import PRESENT
from zonda.core.store.read.reader import Reader
from zonda.core.store.schema.rows import ResourceRow, StackRow

from .stored import stored
from .world import Violation, World


class Parts:
    """Remembers what was left out, until the plan has ended."""

    def __init__(self, reader: Reader, world: World) -> None:
        self._reader = reader
        self._world = world
        self._outside: dict[str, tuple[int, dict[str, tuple[Any, ...]]]] = {}
        #: (stack, generation, plan file) -> name -> the strongest that the file allows.
        self.promised: dict[tuple[str, int, str], Mapping[str, str]] = {}

    def ceiling(self, stack: StackRow, name: str) -> str:
        """The strongest that may be done to a resource by a plan file; '' for anything."""
        plan = self._reader.actions(stack.id)[-1].detail.get("plan", "")
        return self.promised.get((stack.id, stack.generation, plan), {}).get(name, "")

    def left_alone(self, stack_id: str) -> Iterable[str]:
        """Names that the last rollback has skipped."""
        skipped: list[str] = []
        for action in self._reader.actions(stack_id):
            skipped += action.detail.get("skip", ())
        return skipped

    def planned(
        self, stack: StackRow, before: Mapping[str, ResourceRow], now: Mapping[str, ResourceRow]
    ) -> None:
        """A plan was made."""
        self._check(stack.id, before)
        self._outside.pop(stack.id, None)
        detail = self._reader.actions(stack.id)[-1].detail
        rows = [row for row in before.values() if row.stack_id == stack.id and row.want == PRESENT]
        names = self._left_out(stack, detail, rows)
        there = [_when_planned(row, stack, now) for row in rows if row.name in names and not row.op]
        # what has never begun leaves what it was to replace in its place
        kept = {row.id: _of(row) for row in there if row.fence}
        if kept:
            self._outside[stack.id] = (stack.generation, kept)

    def ended(self, stack: StackRow, rows: Mapping[str, ResourceRow]) -> None:
        """It has ended."""
        if stack.deleted_at is None:
            self._check(stack.id, rows)

    def _check(self, stack_id: str, rows: Mapping[str, ResourceRow]) -> None:
        generation, outside = self._outside.get(stack_id, (0, {}))
        for key, kept in outside.items():
            row = rows.get(key)
            if row is None or not (
                _of(row) == kept or self._told_late(row, kept) or _is_scaled(row, generation, kept)
            ):
                raise Violation(f"{key} was left out and is not what it was: {kept}")

    def _told_late(self, row: ResourceRow, kept: tuple[Any, ...]) -> bool:
        """Whether only a handler that was given up has told since what it had made, or taken."""
        made = self._world.by_key.get(row.op_id or "")
        if row.action == "ADOPT":
            made = row_annotations.read_values(self._reader.sealer, row, row_annotations.ADOPT).get(
                "resource_id"
            )
        return made == row.physical_id and (None, *_of(row)[1:]) == kept

    def _left_out(self, stack: StackRow, detail: Any, rows: list[ResourceRow]) -> set[str]:
        names = {row.name for row in rows}
        if detail.get("skip"):
            return names & set(detail["skip"])
        if stack.template_id is None:
            return set()
        wanted = stored(self._reader, stack.template_id)
        requires = {name: each["requires"] for name, each in wanted["resources"].items()}
        if detail.get("targets"):
            there: dict[str, list[str]] = {}
            for row in rows:
                for name in json.loads(row.requires):
                    there.setdefault(name, []).append(row.name)
            chosen = _reach(detail["targets"], lambda name: requires.get(name, there.get(name, ())))
            return names - chosen
        if detail.get("excludes"):
            users: dict[str, list[str]] = {}
            for name, required in requires.items():
                for other in required:
                    users.setdefault(other, []).append(name)
            return names & _reach(detail["excludes"], lambda name: users.get(name, ()))
        return set()


def _when_planned(row: ResourceRow, stack: StackRow, now: Mapping[str, ResourceRow]) -> ResourceRow:
    """What was there when a plan was made: the same commit may have replaced it for an older one.

    Of that the new plan has closed the successor; one of its own would be open.
    """
    successor = next((other for other in now.values() if other.replaces_id == row.id), None)
    if successor is None or successor.want != PRESENT:
        return row  # nothing, or what was to replace it and never did
    if successor.open or successor.op_gen >= stack.generation:
        return row
    return successor


def _is_scaled(row: ResourceRow, generation: int, kept: tuple[Any, ...]) -> bool:
    """Whether only a signal has changed it since, which is the user's wish, too.

    It makes the nested stack of a group whose creation never came so far.
    """
    if row.op_gen < generation or "-signal-" not in (row.op_id or ""):
        return False
    physical_id, definition, have_hash, _, want = kept
    is_same = (row.definition, row.have_hash, row.want) == (definition, have_hash, want)
    return is_same and physical_id in (None, row.physical_id)


def _of(row: ResourceRow) -> tuple[Any, ...]:
    return (row.physical_id, row.definition, row.have_hash, row.fence, row.want)


def _reach(start: Iterable[str], following: Any) -> set[str]:
    reached, pending = set[str](), list(start)
    while pending:
        name = pending.pop()
        if name not in reached:
            reached.add(name)
            pending.extend(following(name))
    return reached
