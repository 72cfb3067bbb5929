"""The moves of a plan: resources with new names. In the pool.

An update is asked to by its environment (``zonda: moved:``), or by a command that has left a word
with the instance. Whatever goes back to an earlier template gives the names of then back: the
history tells what was moved since.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.core.template.environment import zonda_section
from zonda.hooks.errors import Conflict, NotSupported
from zonda.hooks.records import replace
from zonda.hooks.text.suggestions import suggestion

from ..model import row_annotations
from ..model.definition import Definition
from ..model.plan import BELOW, Move, StackPlan
from ..model.states import COMPLETE, IDLE, PRESENT
from ..progress.moves import DETAIL, apply_to_desired, join_path
from ..progress.phases import CLEANING
from ..services import EngineServices
from ..templates.tree_rows import is_begun, parse_path
from . import moves_across


def plan_moves(
    services: EngineServices, stack: StackRow, proposal: StackPlan, definition: Definition
) -> StackPlan:
    """The plan of an update with its moves; raises Conflict, NotSupported."""
    owed = moves_across.list_pending(services, stack)
    rows = _list_present(services, stack)
    nodes = definition.resources
    said = _normalize_paths(
        zonda_section.resolve_moves(definition.environment.own), {*rows, *nodes}
    )
    words = {
        join_path(row.name, below): new
        for row in rows.values()
        if row.given is not None
        for below, new in row_annotations.read_moves(row).items()
    }
    # what a command wants waits for the template that has the new name instead of the old one
    left = {
        old: new
        for old, new in _normalize_paths(words, {*rows, *nodes}).items()
        if old not in nodes
    }
    known = {**left, **said}
    moves = [
        _check_move(stack, rows, rows[old], new, nodes, known)
        for old, new in known.items()
        if old in rows and BELOW not in new
    ]
    moves += moves_across.list_moves(services, stack, proposal, known, said, owed)
    return _with_moves(proposal, moves, owed)


def plan_moves_back(
    services: EngineServices, stack: StackRow, proposal: StackPlan, generation: int
) -> StackPlan:
    """The plan of a template of ``generation``, with the names that resources had then."""
    owed = moves_across.list_pending(services, stack)
    actions = services.reader().actions(stack.id)
    since = [each.detail.get(DETAIL) or {} for each in actions if each.generation > generation]
    moves = []
    for row in _list_present(services, stack).values():
        name = _find_old_name(row.name, since)
        if name != row.name and BELOW not in name:
            moves.append(Move(row.id, row.name, name, stack.id))
    moves += moves_across.list_moves_back(services, stack, list(filter(None, since)))
    return _with_moves(proposal, moves, owed)


def repeat_moves(services: EngineServices, stack: StackRow, proposal: StackPlan) -> StackPlan:
    """The failed plan once more: promises that nobody has taken are repeated."""
    owed = moves_across.list_pending(services, stack)
    return replace(proposal, moves=owed, untaken=[move.key for move in owed])


def find_good_generation(services: EngineServices, stack: StackRow) -> int:
    """The last generation in which the last good template has worked."""
    worked = (
        each.generation
        for each in services.reader().actions(stack.id)
        if each.template_id == stack.good_template_id
        and each.status == COMPLETE
        and each.action in CLEANING
    )
    return max(worked, default=0)


def _list_present(services: EngineServices, stack: StackRow) -> dict[str, ResourceRow]:
    """The present instances by name, without those that never began."""
    rows = services.reader().resource_rows(stack.id)
    return {row.name: row for row in rows if row.want == PRESENT and is_begun(row)}


def _normalize_paths(names: Mapping[str, str], known: set[str]) -> dict[str, str]:
    return {parse_path(old, known): parse_path(new, known) for old, new in names.items()}


def _find_old_name(name: str, since: Sequence[Mapping[str, str]]) -> str:
    for moved in reversed(since):
        name = next((old for old, new in moved.items() if new == name), name)
    return name


def _check_move(
    stack: StackRow,
    rows: Mapping[str, ResourceRow],
    row: ResourceRow,
    new: str,
    nodes: Mapping[str, Any],
    moves: Mapping[str, str],
) -> Move:
    """The move of ``row`` to ``new``; raises the reason against it."""
    what = f"Resource {row.name} of stack {stack.name} cannot be moved to {new}"
    if row.name in nodes:
        raise NotSupported(
            f"{what}: the template still has {row.name}.", hint=f"Call it {new} there."
        )
    if new not in nodes:
        raise NotSupported(f"{what}: the template has no {new}.", hint=suggestion(new, nodes))
    if new in rows and new not in moves:
        raise Conflict(f"{what}: that is there already.", hint="Choose another name.")
    if [*moves.values()].count(new) > 1 and all(
        old in rows for old, name in moves.items() if name == new
    ):
        raise Conflict(f"{what}: another one is moved there, too.")
    if nodes[new].type != row.type:
        raise moves_across.build_type_error(what, row, new, nodes[new].type)
    if stack.phase != IDLE or row.op:
        raise moves_across.build_busy_error(what, stack)
    return Move(row.id, row.name, new, stack.id)


def _with_moves(proposal: StackPlan, moves: Sequence[Move], owed: Sequence[Move]) -> StackPlan:
    """The plan with its moves, also noted in the history.

    ``owed``: what was promised and not taken before anything else was looked at.
    """
    proposal = replace(proposal, untaken=[move.key for move in owed])
    if not moves:
        return proposal
    wanted = apply_to_desired(proposal.wanted or (), moves)
    of_part = {item.name: item.template_id for item in wanted}
    known = [
        replace(move, template_id=of_part.get(move.new) or proposal.template_id) for move in moves
    ]
    detail = {**proposal.given.detail, DETAIL: {move.old: move.new for move in moves}}
    given = replace(proposal.given, detail=detail)
    return replace(proposal, wanted=wanted, moves=known, given=given)
