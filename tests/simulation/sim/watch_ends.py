"""What must hold in the moment in which an action ends."""

from __future__ import annotations

from collections.abc import Mapping

from zonda.core.engine.model.states import PRESENT
from zonda.core.store.read.reader import Reader
from zonda.core.store.read.views import ActionView
from zonda.core.store.schema.rows import ResourceRow, StackRow

from .stored import stored
from .world import Violation, World

CLEANING = ("CREATE", "ADOPT", "UPDATE", "ROLLBACK", "RESTORE")


class Ends:
    """Knows of a stack what its history tells."""

    def __init__(self, reader: Reader, world: World) -> None:
        self._reader = reader
        self._world = world

    def restricted(self, template_id: str | None, name: str) -> list[str]:
        """What a template forbids to do with a resource."""
        if template_id is None:
            return []
        found: list[str] = stored(self._reader, template_id).get("restricted", {}).get(name, [])
        return found

    def ended(self, stack: StackRow, rows: Mapping[str, ResourceRow]) -> None:
        """An action has ended."""
        actions = self._reader.actions(stack.id)
        last = actions[-1]
        if last.generation != stack.generation:
            raise Violation(f"the history ends with {last}, {stack} has ended")
        mine = [row for row in rows.values() if row.stack_id == stack.id]
        if last.status == "COMPLETE":
            if last.action in CLEANING:
                _check_converged(stack, last, actions)
            if last.action == "SNAPSHOT":
                self._saved(stack, mine)
            partly = {"targets", "excludes", "repairs"} & {
                key for key, on in last.detail.items() if on
            }
            if last.action == "UPDATE" and not partly:
                _check_always(stack, mine)

    def _saved(self, stack: StackRow, rows: list[ResourceRow]) -> None:
        """A snapshot that is complete holds what it says."""
        for snapshot in self._reader.snapshots(stack.id):
            if snapshot.generation != stack.generation:
                continue
            if snapshot.status != "COMPLETE" or snapshot.data is None:
                raise Violation(f"a snapshot is {snapshot.action}_{snapshot.status} at its end")
            entries = self._reader.sealer.open(snapshot.data)["resources"]
            made = {row.name: row for row in rows if row.want == PRESENT and row.action != "INIT"}
            if set(entries) != set(made):
                raise Violation(f"a snapshot has {sorted(entries)}, there are {sorted(made)}")
            for name, row in made.items():
                self._check_entry(row, entries[name]["resource_data"])

    def _check_entry(self, row: ResourceRow, data: Mapping[str, str]) -> None:
        copy = data.get("copy")
        if copy is None:
            return  # managed elsewhere, or of a type that keeps nothing
        said = (self._reader.sealer.load(row.outputs) or {}).get("output")
        if self._world.saved.get(copy) is None:
            raise Violation(f"the copy of {row.name} is gone")
        if row.action == "SNAPSHOT" and self._world.saved[copy].rstrip("!") != str(said).rstrip(
            "!"
        ):
            raise Violation(f"the copy of {row.name} says {self._world.saved[copy]}, not {said}")


def _check_converged(stack: StackRow, last: ActionView, actions: list[ActionView]) -> None:
    """A rollback goes back to what was good last, or to what was asked for."""
    if last.action != "ROLLBACK":
        return
    to = last.detail.get("to")
    if to is not None:
        (wanted,) = [each.template_id for each in actions if each.generation == to]
    else:
        # one commit may end an action and begin the next one: only the history has seen both
        worked = [each for each in actions[:-1] if each.status == "COMPLETE"]
        good = [each.template_id for each in worked if each.action in CLEANING]
        wanted = good[-1] if good else None
    if stack.template_id != wanted:
        raise Violation(f"rolled back to {stack.template_id}, not to {wanted}")


def _check_always(stack: StackRow, rows: list[ResourceRow]) -> None:
    """What is to be updated always was."""
    for row in rows:
        always = row.want == PRESENT and row.class_type == "Always" and row.external_id is None
        if always and row.op_gen != stack.generation:
            raise Violation(f"{row.name} was not updated")
