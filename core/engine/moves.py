"""A move: an instance gets another name in its stack, and nothing else happens to it.

Written by a plan before anything else of it, so that the plan finds the instance by its new name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from zonda.core.store.rows import ResourceRow, StackRow

from . import handing
from .recording import signed
from .states import COMPLETE
from .work import Work


@dataclass(frozen=True, slots=True)
class Move:
    """The instance ``key``, called ``old`` by now, is to be called ``new``.

    ``template_id``: the template in which it is called so.
    """

    key: str
    old: str
    new: str
    template_id: str | None


def carry_out(work: Work, stack: StackRow, moves: Sequence[Move], by: str) -> None:
    """Give instances their new names, also where others say that they require them."""
    if not moves:
        return
    names = {move.old: move.new for move in moves}
    found = [(move, row) for move in moves if (row := work.tx.resource(move.key)) is not None]
    for row in work.tx.resources_of(stack.id):
        row.requires = _renamed(row.requires, names)
    for move, row in found:
        row.name = move.new
        for column, value in _templates(row, move).items():
            setattr(row, column, value)
        handing.drop(row, handing.MOVE)
        work.resource_event(row, "MOVE", COMPLETE, signed(f"moved from {move.old}", by))


def as_moved(rows: Iterable[ResourceRow], moves: Sequence[Move]) -> list[ResourceRow]:
    """``rows`` as they will be then; nothing is changed."""
    by_key = {move.key: move for move in moves}
    names = {move.old: move.new for move in moves}
    return [_as_moved(row, by_key.get(row.id), names) for row in rows]


def _as_moved(row: ResourceRow, move: Move | None, names: Mapping[str, str]) -> ResourceRow:
    changes: dict[str, Any] = {"requires": _renamed(row.requires, names)} if names else {}
    if move is not None:
        changes |= {"name": move.new, **_templates(row, move)}
    return replace(row, **changes) if changes else row


def _renamed(requires: str, names: Mapping[str, str]) -> str:
    known: list[str] = json.loads(requires)
    if not set(known) & names.keys():
        return requires
    return json.dumps(sorted(names.get(name, name) for name in known))


def _templates(row: ResourceRow, move: Move) -> dict[str, str | None]:
    """The templates by which it is looked up: those that know it by the name that it has then."""
    columns = ("want_template_id", "have_template_id", "op_template_id")
    return {name: move.template_id for name in columns if getattr(row, name) is not None}
