"""What a plan moves, as the walks of stacks see it: gone from one, there in the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from zonda.core.store.schema.rows import ResourceRow

from ..model.plan import BELOW, Move, StackPlan
from ..progress.moves import as_moved, wanted_as_moved
from ..services import EngineServices


def moved_to(moves: Sequence[Move], names: Sequence[str]) -> list[Move]:
    """The moves of a plan as the nested stack has them that ``names`` lead to."""
    found = []
    for move in moves:
        above = BELOW.join((*names, ""))
        is_below = bool(names) and move.new.startswith(above)
        new = move.new.removeprefix(above) if is_below else BELOW + move.new
        found.append(replace(move, new=new, template_id=None))
    return found


def moved_rows(
    services: EngineServices, rows: Sequence[ResourceRow], moves: Sequence[Move], stack_id: str
) -> list[ResourceRow]:
    """``rows`` of a stack without those that leave it, with those that come."""
    if not moves:
        return list(rows)
    here = {row.id for row in rows}
    coming = [
        services.reader().resource_row(move.key)
        for move in moves
        if not move.is_promise and move.key not in here
    ]
    return as_moved([*rows, *(row for row in coming if row is not None)], moves, stack_id)


def with_moved(proposal: StackPlan, moves: Sequence[Move]) -> StackPlan:
    """The plan that finds what is moved by its new name."""
    if not moves or proposal.wanted is None:
        return proposal
    return replace(proposal, wanted=wanted_as_moved(proposal.wanted, moves))
