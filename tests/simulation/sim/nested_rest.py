"""What must hold of nested stacks when everything is at rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from zonda.core.engine.model.states import COMPLETE, FAILED, IDLE
from zonda.core.store.schema.rows import ResourceRow, StackRow

from .nested_template import all_said, is_owner, of_child
from .simulator import Simulator
from .world import Violation


@dataclass(frozen=True, slots=True)
class Below:
    """A nested stack: what it was made from, and with what parameter."""

    stack_id: str
    template: dict[str, Any]
    given: str | None


def below(sim: Simulator, row: ResourceRow, files: Any, *, stale: bool) -> Below:
    """What is nested in an instance that is as wanted; ``stale``: a signal may have changed it."""
    child = sim.reader.child_row(row.id)
    if child is None or child.template_id is None:
        raise Violation(f"nothing is nested in {row.name}")
    if (child.phase, child.status) != (IDLE, COMPLETE) and not stale:
        raise Violation(f"{child.name} is {child.action}_{child.status}")
    spec = sim.reader.template(child.template_id).body["spec"]
    properties = (sim.reader.sealer.load(row.definition) or {})["properties"]
    if row.type == "Group":
        _check_group(sim, row, spec["template"], properties)
    elif (spec["file"], spec["parameters"]["value"]) != (row.type, properties["value"]):
        raise Violation(f"{child.name} is {spec}, wanted {row.type} with {properties}")
    return Below(child.id, of_child(spec, files), spec["parameters"].get("value"))


def _check_group(sim: Simulator, row: ResourceRow, template: Any, properties: Any) -> None:
    data = {
        name: sim.reader.sealer.open(value)
        for name, value, _ in sim.reader.read_sealed_data(row.id)
    }
    size = int(data.get("size", properties["count"]))
    names = sorted(template["resources"])
    if names != [f"g{number}" for number in range(size)]:
        raise Violation(f"the group {row.name} has {names}, it shall have {size}")
    for entry in template["resources"].values():
        if (entry["type"], entry["value"]) != (properties["member"], properties["value"]):
            raise Violation(f"a member of {row.name} is {entry}, wanted {properties}")


def said_below(sim: Simulator, row: ResourceRow) -> str:
    """What an owner should say."""
    child = sim.reader.child_row(row.id)
    assert child is not None
    rows = sim.reader.resource_rows(child.id)
    return all_said(said_by(sim, each) for each in sorted(rows, key=lambda each: each.name))


def said_by(sim: Simulator, row: ResourceRow) -> str:
    """What others read of a resource."""
    outputs = sim.reader.sealer.load(row.outputs) or {}
    return str(outputs.get("output"))


def waits_below(sim: Simulator, row: ResourceRow) -> bool:
    """Whether something nested in an instance waits at a breakpoint."""
    rows = list(_rows_below(sim, row))
    return any(each.hook and each.hook[0] != "+" for each in rows)


def _rows_below(sim: Simulator, row: ResourceRow) -> Iterator[ResourceRow]:
    child = sim.watcher.nested.child_of(row)
    for each in sim.watcher.rows.values() if child is not None else ():
        if each.stack_id == child.id:  # type: ignore[union-attr]
            yield each
            yield from _rows_below(sim, each)


def check_gone(sim: Simulator) -> None:
    """With a stack goes all that is nested in it."""
    freed = {each.id for each in sim.watcher.freed}
    left = [each for each in live(sim) if each.root not in freed]
    if left:
        raise Violation(f"of a deleted stack there are left: {left}")


def live(sim: Simulator) -> list[StackRow]:
    """Every stack that is there."""
    return [each for each in sim.watcher.stacks.values() if each.deleted_at is None]


def freed_rows(sim: Simulator) -> list[ResourceRow]:
    """What is in stacks that were nested once, and is there."""
    freed = {each.id for each in sim.watcher.freed}
    stacks = sim.watcher.stacks
    found = [row for row in sim.watcher.rows.values() if stacks[row.stack_id].root in freed]
    found = [row for row in found if not is_owner(row) and row.physical_id]
    return [row for row in found if not _half_removed(sim, row)]


def list_things_below(sim: Simulator, owner: ResourceRow) -> list[ResourceRow]:
    """The things that are there of a nested stack, and below it, that was left half-way."""
    child = sim.reader.child_row(owner.id)
    return list_things(sim, [] if child is None else sim.reader.resource_rows(child.id))


def list_things(sim: Simulator, rows: Iterable[ResourceRow]) -> list[ResourceRow]:
    """The things that are there of instances, and below them."""
    found = list[ResourceRow]()
    for row in rows:
        found += list_things_below(sim, row) if is_owner(row) else [row]
    return [row for row in found if row.physical_id and not _half_removed(sim, row)]


def _half_removed(sim: Simulator, row: ResourceRow) -> bool:
    """Whether its thing is gone, and nobody has waited for the end of that.

    A removal was given up, of the instance or of what an attempt had left, or it was done and the
    instance not made anew; then its stack was left alone as it was: what is done to it next, an
    update or a deletion, goes on from there.
    """
    is_removal = row.status == FAILED or row.action == "DELETE"
    return is_removal and sim.world.removed.get(str(row.physical_id)) == row.id


__all__ = [
    "Below",
    "below",
    "check_gone",
    "freed_rows",
    "is_owner",
    "list_things_below",
    "live",
    "said_below",
    "said_by",
    "waits_below",
]
