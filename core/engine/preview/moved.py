"""The moves of a plan as the walks of stacks see them: gone from one, present in the other."""

from __future__ import annotations

from collections.abc import Sequence

from zonda.core.store.schema.rows import ResourceRow
from zonda.hooks.records import replace

from ..model.plan import BELOW, Move, StackPlan
from ..progress.moves import apply_moves, apply_to_desired
from ..services import EngineServices


def select_moves(moves: Sequence[Move], names: Sequence[str]) -> list[Move]:
    """The moves of a plan for the nested stack at the path ``names``."""
    found = []
    for move in moves:
        above = BELOW.join((*names, ""))
        is_below = bool(names) and move.new.startswith(above)
        new = move.new.removeprefix(above) if is_below else BELOW + move.new
        found.append(replace(move, new=new, template_id=None))
    return found


def move_rows(
    services: EngineServices, rows: Sequence[ResourceRow], moves: Sequence[Move], stack_id: str
) -> list[ResourceRow]:
    """``rows`` of a stack without the instances that leave it, with those that come."""
    if not moves:
        return list(rows)
    here = {row.id for row in rows}
    coming = [
        services.reader().resource_row(move.key)
        for move in moves
        if not move.is_promise and move.key not in here
    ]
    return apply_moves([*rows, *(row for row in coming if row is not None)], moves, stack_id)


def apply_moves_to_plan(proposal: StackPlan, moves: Sequence[Move]) -> StackPlan:
    """The plan with moved instances under their new names."""
    if not moves or proposal.wanted is None:
        return proposal
    return replace(proposal, wanted=apply_to_desired(proposal.wanted, moves))
