"""Writes a plan in one transaction: a new generation, the desired state of its scope.

Called with a ``StackPlan`` that was worked out in the pool. Running operations are not touched: a
newer plan overtakes an older one by being looked at when they end.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from zonda.core.graph.digraph import count_waiting
from zonda.core.store.schema.rows import PlanRow, ResourceRow, StackRow

from ..model import row_annotations
from ..model.plan import Desired, StackPlan
from ..model.states import (
    ABSENT,
    COMPLETE,
    DIRTY,
    DOWN,
    FIRST_PHASE,
    IN_PROGRESS,
    PASSING,
    PRESENT,
    UP,
)
from ..model.unit_of_work import UnitOfWork
from ..progress import breakpoints, children, history, moves, partial, phases, snapshots
from .scope import Cone, find_affected


def apply(work: UnitOfWork, stack: StackRow, proposal: StackPlan) -> None:
    """Write the plan; ready instances are looked at after the commit."""
    if proposal.base is not None and proposal.base_id is not None:
        work.tx.add_template(proposal.base_id, stack.root, proposal.base, work.now)
    if proposal.body is not None and proposal.template_id is not None:
        work.tx.add_template(
            proposal.template_id,
            stack.id,
            proposal.body,
            work.now,
            proposal.base_id,
            proposal.checked,
        )
    _begin_action(work, stack, proposal)
    if proposal.wanted is None:
        _write_verb(work, stack, proposal.action, proposal.which)
    else:
        moves.carry_out(work, stack, proposal.moves, proposal.given)
        stack.template_id = proposal.template_id
        _write_desired(work, stack, proposal.wanted, proposal)
    if proposal.also is not None:
        proposal.also(work, stack)
    history.begin(work, stack, proposal.given)
    if stack.generation > 1:
        children.end_superseded(work, stack)
    phases.advance_phase(work, stack)


def _begin_action(work: UnitOfWork, stack: StackRow, proposal: StackPlan) -> None:
    history.end_overtaken(work, stack, proposal.action, proposal.given.by)
    snapshots.end_overtaken(work, stack, proposal.action)
    children.wake_retries(work, stack)
    breakpoints.end_all(work, stack, proposal.action)
    for name, value in proposal.changes.items():
        setattr(stack, name, value)
    stack.before = ""
    if proposal.action in PASSING:
        stack.before = json.dumps([stack.action, stack.status, stack.status_reason])
    stack.generation += 1
    stack.action = proposal.action
    stack.phase = FIRST_PHASE[proposal.action]
    stack.halted = 0
    stack.failures = "[]"
    stack.next_action = ""
    stack.deadline = work.now + stack.timeout_mins * 60
    if proposal.action == "SUSPEND":
        stack.suspended = 1
    if proposal.action not in ("CREATE", "CHECK"):
        stack.updated_at = work.now
    work.stack_state(stack, IN_PROGRESS, f"Stack {proposal.action} started")


def _write_desired(
    work: UnitOfWork, stack: StackRow, wanted: Sequence[Desired], proposal: StackPlan
) -> None:
    partial.begin(work, stack, proposal.selection)
    rows = work.tx.plan_rows(stack.id)
    selected = None if proposal.selection is None else proposal.selection.names
    children.give_up_drafts(work, stack, work.tx.close_all(stack.id))
    stack.phase = UP
    found = find_affected(rows, wanted, selected)
    wanted = [item for item in wanted if item.name in found.chosen]
    ids = _find_or_insert(work, stack, wanted, found)
    ids = {**_list_unselected(work, found), **ids}
    kept = set(ids.values())
    if sum(row.id not in kept or row.name in found.waiting for row in rows) > len(rows) // 4:
        work.tx.resources_of(stack.id)  # read at once, since most of them will be needed
    _mark_unwanted(work, rows, kept, ids)
    stack.remaining = len(found.waiting)
    for item in wanted:
        if item.name in found.waiting and found.chosen[item.name] is not None:
            ceiling = proposal.ceilings.get(item.name, "")
            _set_desired(work, stack, ids[item.name], item, found, ceiling)
    attempts = [seen.id for seen in rows if seen.id not in kept and not seen.have_template_id]
    if attempts:  # they are removed before anything new is made
        for key in (*attempts, *(ids[name] for name in found.waiting)):
            row_annotations.annotate(_load_row(work, key), row_annotations.ATTEMPT)
    _write_edges(work, stack, wanted, ids, found)
    for name, count in found.waiting.items():
        if count == 0:
            work.look(_load_row(work, ids[name]))


def _find_or_insert(
    work: UnitOfWork, stack: StackRow, wanted: Sequence[Desired], found: Cone[PlanRow]
) -> dict[str, str]:
    """The instance of each name; new ones are inserted."""
    ids: dict[str, str] = {}
    new: list[ResourceRow] = []
    for item in wanted:
        row = found.chosen[item.name]
        if row is not None:
            ids[item.name] = row.id
            continue
        made = ResourceRow(
            work.ids(),
            stack.id,
            item.name,
            item.type,
            generation=stack.generation,
            want_hash=item.hash,
            want_template_id=item.template_id or stack.template_id,
            requires=json.dumps(item.requires) if item.requires else "[]",
            waiting=found.waiting[item.name],
            dirty=1,
            open=1,
            created_at=work.now,
            updated_at=work.now,
        )
        ids[item.name] = made.id
        new.append(made)
    if new:
        work.tx.add_resources(new)
    return ids


def _list_unselected(work: UnitOfWork, found: Cone[PlanRow]) -> dict[str, str]:
    """The instance of each name outside of the plan's selection.

    Why one was to be replaced that is taken again need not show in its definition (a value that it
    reads), so a later plan looks at it.
    """
    for seen in found.outside.values():
        if seen.want != PRESENT:
            row = _load_row(work, seen.id)
            row.want, row.dirty = PRESENT, DIRTY
            _reset_desired(row)
        elif seen.want_hash != seen.have_hash:
            _reset_desired(_load_row(work, seen.id))
    return {name: seen.id for name, seen in found.outside.items()}


def _reset_desired(row: ResourceRow) -> None:
    """Reset the desired state that an older plan has set and never reached."""
    if row.status == COMPLETE and row.have_hash:
        row.want_hash, row.want_template_id = row.have_hash, row.have_template_id


def _mark_unwanted(
    work: UnitOfWork, rows: Sequence[PlanRow], kept: set[str], ids: Mapping[str, str]
) -> None:
    """Mark unwanted instances for deletion. Their successors take over the protection."""
    for seen in rows:
        if seen.id not in kept and seen.want != ABSENT:
            row = _load_row(work, seen.id)
            row.want, row.open, row.dirty, row.verb, row.waiting = ABSENT, 0, 0, "", 0
            if row.protect and row.name in ids:
                _load_row(work, ids[row.name]).protect = 1


def _set_desired(
    work: UnitOfWork, stack: StackRow, key: str, item: Desired, found: Cone[PlanRow], ceiling: str
) -> None:
    row = _load_row(work, key)
    row.generation = stack.generation
    row.want, row.verb, row.open = PRESENT, "", 1
    row.want_hash = item.hash
    row.want_template_id = item.template_id or stack.template_id
    row.requires = json.dumps(item.requires) if item.requires else "[]"
    row.waiting = found.waiting[item.name]
    row.dirty = int(bool(row.dirty) or item.name in found.dirty)
    row.ceiling = ceiling
    row_annotations.end(row, "plan")


def _write_edges(
    work: UnitOfWork,
    stack: StackRow,
    wanted: Sequence[Desired],
    ids: dict[str, str],
    found: Cone[PlanRow],
) -> None:
    """Write the edges. One to an instance to be deleted stays until its user has moved on."""
    present = set(ids.values())
    edges = {
        (ids[item.name], ids[name])
        for item in wanted
        if item.name in found.waiting
        for name in item.requires
        if name in ids
    }
    sources = {ids[name] for name in found.waiting}
    old = {edge for edge in work.tx.edges(stack.id) if edge[0] in sources and edge[1] in present}
    work.tx.drop_edges(stack.id, sorted(old - edges))
    work.tx.add_edges(stack.id, sorted(edges - old))


def _write_verb(
    work: UnitOfWork, stack: StackRow, verb: str, which: Callable[[ResourceRow], bool] | None
) -> None:
    """Suspend, resume, check (and the like) every instance that exists, or those of ``which``."""
    rows = [
        row
        for row in work.tx.plan_rows(stack.id)
        if row.want == PRESENT
        and row.action != "INIT"
        and (which is None or which(_load_row(work, row.id)))
    ]
    children.give_up_drafts(work, stack, work.tx.close_all(stack.id))
    up = stack.phase != DOWN
    waiting = count_waiting({row.id for row in rows}, work.tx.edges(stack.id), up=up)
    stack.remaining = len(rows)
    for seen in rows:
        row = _load_row(work, seen.id)
        row.verb, row.open = verb, 1
        row.waiting = waiting[row.id]
        if row.waiting == 0:
            work.look(row)


def _load_row(work: UnitOfWork, key: str) -> ResourceRow:
    row = work.tx.resource(key)
    assert row is not None
    return row
