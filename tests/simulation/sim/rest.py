"""Coming to rest, and what must hold there."""

from __future__ import annotations

from typing import Any

from zonda.core.engine import actions
from zonda.core.engine.model.states import PRESENT
from zonda.core.store.read.views import ActionView, StackView
from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks.errors import NotFound

from . import nested_rest
from .history import check_history
from .nested_rest import said_by
from .nested_types import PARAMETER
from .simulator import Simulator
from .stored import stored
from .watch import STACK
from .world import FREE, INWARD, Violation

MOVES = 6000
TEMPLATED = ("CREATE", "ADOPT", "UPDATE", "ROLLBACK")


def stack_of(sim: Simulator) -> StackView | None:
    """The stack that lives."""
    try:
        return sim.reader.stack("s")
    except NotFound:
        return None


def settle(sim: Simulator) -> None:
    """Go on until nothing moves; only what a zombie or a crash took may need the sweep."""
    _run_dry(sim)
    if not sim.stolen:
        _check_awake(sim)
    sim.sweep()
    _run_dry(sim)
    _check_awake(sim)
    for _ in range(60):
        if not _waiting(sim):
            return
        _let_go_on(sim)
        _run_dry(sim)
    raise Violation(f"breakpoints are never passed: {_waiting(sim)}")


def _let_go_on(sim: Simulator) -> None:
    """Clear what waits at breakpoints, or wait for the end of their time."""
    if sim.source.random() < 0.3:
        sim.clock.advance(400.0)
        sim.sweep_deadlines()
    else:
        for key in dict.fromkeys(row.stack_id for row in at_breakpoints(sim)):
            clear(sim, actions.ClearHooks(key, ("*",)))


def clear(sim: Simulator, action: actions.ClearHooks | actions.SignalResource) -> None:
    """Clear breakpoints; the watcher is told."""
    if isinstance(action, actions.ClearHooks):
        entry = (action.resources, action.hooks)
    else:
        entry = ((action.resource,), (action.details["unset_hook"],))
    sim.watcher.breakpoints.asked.append(entry)
    sim.act(action, ended=lambda: sim.watcher.breakpoints.asked.remove(entry))


def _waiting(sim: Simulator) -> list[str]:
    return [row.name for row in at_breakpoints(sim)]


def at_breakpoints(sim: Simulator) -> list[ResourceRow]:
    """What waits at breakpoints."""
    return [row for row in sim.watcher.rows.values() if row.hook and row.hook[0] != "+"]


def _check_awake(sim: Simulator) -> None:
    """Nothing could go on that does not."""
    for row in sim.watcher.rows.values():
        stack = sim.watcher.stacks[row.stack_id]
        ready = row.open == 1 and not row.waiting and not stack.halted
        if row.op and nested_rest.waits_below(sim, row):
            continue
        if row.op or (ready and (not row.hook or row.hook[0] == "+")):
            raise Violation(f"a wake-up was lost: {row}")
    for stack in sim.watcher.stacks.values():
        if stack.next_action or (stack.phase != "IDLE" and not _waiting(sim)):
            raise Violation(f"a wake-up was lost: {stack}")


def _run_dry(sim: Simulator) -> None:
    for _ in range(MOVES):
        if not sim.move():
            return
    raise Violation("it does not come to rest")


def check_end(sim: Simulator) -> None:
    """What must hold whenever everything is at rest."""
    stack = stack_of(sim)
    if stack is None:
        left = _owned(sim) - {row.physical_id for row in sim.watcher.rows.values()}
        if left:
            raise Violation(f"orphans of a deleted stack: {sim.world.live}")
        nested_rest.check_gone(sim)
        return
    all_rows = []
    for each in nested_rest.live(sim):
        rows = sim.reader.resource_rows(each.id)
        _check_idle(sim, each, rows)
        all_rows += rows
    orphans = _owned(sim) - {row.physical_id for row in all_rows}
    if orphans:
        raise Violation(f"orphans: {orphans}")
    _check_owners(sim, all_rows)
    rows = sim.reader.resource_rows(stack.id)
    known = sim.reader.actions(stack.id)
    last = known[-1]
    if last.status != "COMPLETE" or last.action not in TEMPLATED:
        return
    # what was good last may have been made by several actions, each for a part
    if not any(_is_for_a_part(one) for one in (known if last.action == "ROLLBACK" else [last])):
        _check_converged(sim, sim.watcher.stacks[stack.id], rows)


def _check_idle(sim: Simulator, stack: StackRow, rows: list[ResourceRow]) -> None:
    view = sim.reader.stack(stack.id)
    nested = stack.name != STACK
    check_history(sim.reader, view, in_time=not sim.clock.went_back, nested=nested)
    if any(row.op or row.open or row.hook.strip("+") for row in rows):
        raise Violation("an idle stack has open instances")
    if any(row.status == "IN_PROGRESS" for row in sim.reader.snapshots(stack.id)):
        raise Violation("an idle stack makes a snapshot")
    _check_stored(sim, rows)


def _is_for_a_part(action: ActionView) -> bool:
    return any(action.detail.get(key) for key in ("targets", "excludes", "skip", "repairs"))


def _check_stored(sim: Simulator, rows: list[ResourceRow]) -> None:
    """What a handler that does nothing outside has stored is there with its answer."""
    for row in rows:
        made = row.status == "COMPLETE" and row.action in ("CREATE", "UPDATE")
        if made and str(row.physical_id).startswith(INWARD):
            data = dict(entry[:2] for entry in sim.reader.read_sealed_data(row.id))
            if "said" not in data:
                raise Violation(f"{row.name} has not stored what it says")
            said = sim.reader.sealer.open(data["said"])
            says = said_by(sim, row)  # that, and its own signals; what it reads may end with some
            if not says.startswith(said) or says[len(said) :].strip("!"):
                raise Violation(f"{row.name} says {says} and has stored {said}")


def _owned(sim: Simulator) -> set[str]:
    """The things that are somebody's."""
    live = sim.world.live.items()
    return {physical for physical, owner in live if owner != FREE} - sim.world.excused


def _check_owners(sim: Simulator, rows: list[ResourceRow]) -> None:
    """What is there is what the rows say; whose it is, too."""
    for row in rows:
        owner = sim.world.live.get(str(row.physical_id), row.id)
        if owner not in (row.id, FREE) and row.physical_id not in sim.world.excused:
            raise Violation(f"{row.name} has {row.physical_id}, which is {owner}'s")


def _check_converged(sim: Simulator, stack: StackRow, rows: list[ResourceRow]) -> None:
    known: dict[str, Any] = {"resources": {}}
    if stack.template_id is not None:
        known = stored(sim.reader, stack.template_id)
    leaves = _check_tree(sim, rows, known, known.get("files", {}), None)
    leaves += nested_rest.freed_rows(sim)
    outside = [row for row in leaves if not str(row.physical_id).startswith(INWARD)]
    there = {str(row.physical_id) for row in outside if row.external_id is None}
    if _owned(sim) != there - sim.world.excused or there - set(sim.world.live) - sim.world.excused:
        raise Violation(f"the world is not what the rows say: {there} {sim.world.live}")


def _check_tree(
    sim: Simulator,
    rows: list[ResourceRow],
    known: Any,
    files: Any,
    given: str | None,
    *,
    to_mend: bool = False,
) -> list[ResourceRow]:
    """A stack is as its template says, and what is nested in it; gives the rows of things.

    ``to_mend``: a signal to the owner has failed half-way; the next plan is to mend what it left.
    """
    wanted = known["resources"]
    # A replacement that failed has left what it was to take the place of.
    old = [row for row in rows if to_mend and row.want != PRESENT]
    rows = [row for row in rows if row not in old]
    by_name = {row.name: row for row in rows}
    if len(by_name) != len(rows) or set(by_name) != set(wanted):
        raise Violation(f"instances {sorted(row.name for row in rows)}, wanted {sorted(wanted)}")
    stale = _stale(sim, rows)
    leaves = nested_rest.list_things(sim, old)
    for name, entry in wanted.items():
        row = by_name[name]
        owner = nested_rest.is_owner(row)
        is_left = to_mend and row.status == "FAILED"
        if not owner and not (is_left and row.physical_id is None):  # its time was over before
            leaves.append(row)
        as_wanted = row.status == "COMPLETE" and row.have_hash == row.want_hash
        if row.external_id != entry.get("external"):
            raise Violation(f"{name} is {row.external_id}, wanted {entry.get('external')}")
        if row.deletion_policy != entry.get("deletion", "Delete") and row.external_id is None:
            raise Violation(f"{name} has the deletion policy {row.deletion_policy}")
        if owner and is_left:
            leaves += nested_rest.list_things_below(sim, row)
        elif owner:
            below = nested_rest.below(sim, row, files, stale=row.id in stale)
            child_rows = sim.reader.resource_rows(below.stack_id)
            left = row.id in stale and bool(row.dirty)
            leaves += _check_tree(sim, child_rows, below.template, files, below.given, to_mend=left)
        if row.id in stale or row.external_id is not None:
            continue
        if is_left:
            continue
        if not as_wanted or row.dirty:
            raise Violation(f"{name} is not as wanted: {row.action}_{row.status} {row.dirty}")
        _check_said(sim, row, entry, by_name, given)
    return leaves


def _stale(sim: Simulator, rows: list[ResourceRow]) -> set[str]:
    """What may differ from its template: marked, or read of what was signalled meanwhile."""
    found = {row.id for row in rows if row.name in sim.disturbed}
    edges = sim.reader.edges(rows[0].stack_id) if found else []
    while more := {src for src, dst in edges if dst in found and src not in found}:
        found |= more
    return found


def _check_said(
    sim: Simulator, row: ResourceRow, entry: Any, by_name: dict[str, ResourceRow], given: Any
) -> None:
    others = [said_by(sim, by_name[other]) for other in sorted(entry["requires"])]
    value = given if entry["value"] == PARAMETER else entry["value"]
    said, built = said_by(sim, row), "|".join([value, *others])
    if nested_rest.is_owner(row):
        built = nested_rest.said_below(sim, row)
    if said.rstrip("!") != built.rstrip("!"):  # its own signals are not of the template
        raise Violation(f"{row.name} says {said}, built from {built}")


__all__ = ["MOVES", "check_end", "clear", "said_by", "settle", "stack_of"]
