"""A move: an instance gets another name, maybe in another stack of its tree, and stays what it is.

Written by a plan before anything else of it, so that the plan finds the instance by its new name.
What is to be in a nested stack is promised to that by the plan of the stack at the top; the next
plan of the nested stack takes it. Until then it stays where it is, and no plan deletes it there.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks.records import replace

from ..model import row_annotations
from ..model.plan import BELOW, Desired, Given, Move
from ..model.states import COMPLETE, DIRTY, IDLE, PRESENT
from ..model.unit_of_work import UnitOfWork
from .history import add_user

#: The key of the moves of a plan in the history: old name -> new one.
DETAIL = "moved"


def carry_out(work: UnitOfWork, stack: StackRow, moves: Sequence[Move], given: Given) -> None:
    """Give instances their new names, also in the requirements of others."""
    _withdraw_promises(work, stack, given.detail)
    if not moves:
        return
    found = [(move, row) for move in moves if (row := work.tx.resource(move.key)) is not None]
    own = {row.name: move.new for move, row in found if _is_renamed(move, stack.id)}
    owners = _list_owners(moves)
    for row in work.tx.resources_of(stack.id):
        row.requires = _rename_all(row.requires, own)
        if row.name in owners:  # what it has nested takes something: that is to be planned
            row.dirty, row.resolved_hash = DIRTY, ""
        _clear_names(row, {move.old for move in moves})
    for move, row in found:
        if move.is_promise:
            row_annotations.annotate(row, row_annotations.PROMISED, move.new)
            continue
        if row.stack_id != stack.id:
            _move_in(work, stack, row)
        row.name = move.new
        for column, value in _find_templates(row, move).items():
            setattr(row, column, value)
        row_annotations.end(row, "move")
        work.resource_event(row, "MOVE", COMPLETE, add_user(f"moved from {move.old}", given.by))


def is_valid(work: UnitOfWork, stack_id: str, move: Move) -> bool:
    """Whether an instance that a plan of ``stack_id`` moves is still where it was, and at rest."""
    if not move.key:
        return True
    row = work.tx.resource(move.key)
    if row is None or row.stack_id != move.stack_id:
        return False
    if move.stack_id == stack_id:
        return True
    return is_free(work.stack_of(row), row)


def is_untaken(work: UnitOfWork, key: str) -> bool:
    """Whether an instance is still promised."""
    row = work.tx.resource(key)
    return row is not None and bool(row_annotations.read_promise(row))


def is_free(source: StackRow, row: ResourceRow) -> bool:
    """Whether an instance can leave its stack: nothing runs on it, and no plan waits for it."""
    if row.op or row.open:
        return False
    return bool(source.phase == IDLE or source.halted or row_annotations.read_promise(row))


def _move_in(work: UnitOfWork, stack: StackRow, row: ResourceRow) -> None:
    """Move an instance of another stack into this one, which then looks at it.

    A nested stack that was not planned yet knows its name still: to its owner the resource is one
    that was never begun, so that it can be asked for what it wants instead.
    """
    source = work.stack_of(row)
    if row.want == PRESENT and source.owner_resource_id is not None:
        left = ResourceRow(work.ids(), source.id, row.name, row.type, dirty=DIRTY)
        left.want_template_id = source.template_id
        left.created_at = left.updated_at = work.now
        work.tx.add_resources([left])
    work.tx.move_resource(row, stack.id)
    row.requires, row.ceiling, row.verb, row.hook = "[]", "", "", ""
    row.waiting, row.want, row.dirty = 0, PRESENT, DIRTY


def _withdraw_promises(work: UnitOfWork, stack: StackRow, detail: Mapping[str, Any]) -> None:
    """Delete the promises of an earlier plan that nobody has taken."""
    if stack.generation == 1 or stack.owner_resource_id is not None:
        return
    before = work.tx.last_change(stack.id)
    if before is None or not list_promises(json.loads(before.detail)):
        return
    still = set(list_promises(detail))
    for row in work.tx.list_of_tree("promised", stack.id):
        if row_annotations.read_promise(row) not in still:
            row_annotations.remove(row, row_annotations.PROMISED)


def _list_owners(moves: Sequence[Move]) -> set[str]:
    """The resources that lead to where something is promised."""
    return {move.new.partition(BELOW)[0] for move in moves if move.is_promise}


def list_promises(detail: Mapping[str, Any]) -> list[str]:
    """List where a plan has promised something to, as the history tells."""
    moved: Mapping[str, str] = detail.get(DETAIL) or {}
    return [new for new in moved.values() if BELOW in new]


def _clear_names(row: ResourceRow, done: Collection[str]) -> None:
    """Delete the names that a command has set, of an instance and its nested ones."""
    words = row_annotations.read_moves(row)
    left = {below: new for below, new in words.items() if join_path(row.name, below) not in done}
    if left != words:
        row_annotations.set_moves(row, left)


def join_path(name: str, below: str) -> str:
    """The way to what is at ``below`` in the resource ``name``; to itself where that is ''."""
    return BELOW.join(filter(None, (name, below)))


def apply_moves(
    rows: Iterable[ResourceRow], moves: Sequence[Move], stack_id: str
) -> list[ResourceRow]:
    """``rows`` of a stack, with those that come to it, in their future state; none is changed."""
    by_key = {move.key: move for move in moves}
    rows = list(rows)
    own = {
        row.name: move.new
        for row in rows
        if (move := by_key.get(row.id)) is not None and _is_renamed(move, stack_id)
    }
    owners = _list_owners(moves)
    return [
        _copy_moved(
            replace(row, dirty=DIRTY, resolved_hash="") if row.name in owners else row,
            by_key.get(row.id),
            own,
            stack_id,
        )
        for row in rows
        if row.id not in by_key or not by_key[row.id].is_promise
    ]


def _is_renamed(move: Move, stack_id: str) -> bool:
    return move.stack_id == stack_id and not move.is_promise


def apply_to_desired(wanted: Iterable[Desired], moves: Sequence[Move]) -> list[Desired]:
    """The desired resources, bound to the moved instances."""
    keys = {move.new: move.key for move in moves}
    return [replace(item, instance=keys.get(item.name, item.instance)) for item in wanted]


def _copy_moved(
    row: ResourceRow, move: Move | None, names: Mapping[str, str], stack_id: str
) -> ResourceRow:
    changes: dict[str, Any] = {"requires": _rename_all(row.requires, names)} if names else {}
    if move is not None:
        changes |= {"name": move.new, **_find_templates(row, move)}
        if row.stack_id != stack_id:
            changes |= {"stack_id": stack_id, "requires": "[]", "want": PRESENT, "dirty": DIRTY}
    return replace(row, **changes) if changes else row


def _rename_all(requires: str, names: Mapping[str, str]) -> str:
    known: list[str] = json.loads(requires)
    if not set(known) & names.keys():
        return requires
    return json.dumps(sorted(names.get(name, name) for name in known))


def _find_templates(row: ResourceRow, move: Move) -> dict[str, str | None]:
    """The templates under which it is stored: those that contain its new name."""
    if move.template_id is None:  # only shown
        return {}
    columns = ("want_template_id", "have_template_id", "op_template_id")
    return {name: move.template_id for name in columns if getattr(row, name) is not None}
