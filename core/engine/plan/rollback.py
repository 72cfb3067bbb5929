"""Rollback on demand: back to the last good template, or to the one of an earlier generation.

What is skipped is left as it is, whatever the template says of it: its instances are neither
changed nor deleted, and what they require stays as long as they do. The next update looks at them.
"""

from __future__ import annotations

from collections.abc import Collection

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks import records
from zonda.hooks.errors import NotFound, NotSupported
from zonda.hooks.text.suggestions import suggestion

from .. import actions
from ..model.plan import Desired, Given, Selection, StackPlan
from ..model.states import COMPLETE, DIRTY, IDLE, PRESENT
from ..model.unit_of_work import UnitOfWork
from ..services import EngineServices
from . import moves
from .from_template import check_overtakes, plan_last_good, plan_stored
from .scope import select_without


def plan_rollback_to(
    services: EngineServices, stack: StackRow, action: actions.RollbackStack
) -> StackPlan:
    """The plan back to the template that ``action`` names."""
    if stack.suspended and stack.action != "RESUME":
        raise NotSupported("A suspended stack is not rolled back.", hint="Resume it first.")
    check_overtakes(stack, "ROLLBACK")
    if action.to is None:
        _check_changed(stack)
        proposal = plan_last_good(services, stack)
    else:
        template_id = _find_template(services, stack, action.to)
        proposal = plan_stored(services, stack, "ROLLBACK", template_id, keeps_protected=True)
    rows = services.reader().resource_rows(stack.id)
    proposal = records.replace(
        proposal,
        demanded=True,
        given=Given(detail={"to": action.to, "skip": list(action.skip)}),
        selection=select_others(proposal.wanted or (), rows, action.skip),
        also=lambda work, planned: _mark_skipped(work, planned, action.skip),
    )
    generation = moves.find_good_generation(services, stack) if action.to is None else action.to
    found = moves.plan_moves_back(services, stack, proposal, generation)
    if found.moves and action.skip:
        raise NotSupported(
            "Nothing can be skipped on the way back to a template that has other names.",
            hint="Roll back without --skip, or update the stack.",
        )
    return found


def _check_changed(stack: StackRow) -> None:
    """Raise NotSupported where a stack is as it last worked."""
    good = stack.good_template_id
    if stack.phase == IDLE and stack.status == COMPLETE and good == stack.template_id:
        raise NotSupported(
            f"Stack {stack.name} is as its last good template says: there is nothing to roll back.",
            hint="Name an earlier generation with --to; 'zonda stack history' lists them.",
        )


def _find_template(services: EngineServices, stack: StackRow, generation: int) -> str:
    for action in services.reader().actions(stack.id):
        if action.generation == generation and action.template_id is not None:
            return action.template_id
    raise NotFound(
        "Generation", str(generation), hint=f"'zonda stack history {stack.name}' lists them."
    )


def select_others(
    wanted: Collection[Desired], rows: Collection[ResourceRow], skip: Collection[str]
) -> Selection | None:
    """Everything but ``skip``; None where nothing is skipped. Raises NotFound, NotSupported."""
    if not skip:
        return None
    there = {row.name: row for row in rows if row.want == PRESENT and row.action != "INIT"}
    for name in skip:
        if name not in there:
            raise NotFound("Resource", name, hint=suggestion(name, there))
    for item in wanted:
        for name in item.requires:
            if item.name not in skip and name in skip and not there[name].outputs_hash:
                raise NotSupported(
                    f"Resource {name} cannot be left as it is: it was never made, "
                    f"and {item.name} requires it.",
                    hint=f"Skip {item.name}, too.",
                )
    names = {*(item.name for item in wanted), *(row.name for row in rows)}
    return select_without(names, tuple(skip))


def _mark_skipped(work: UnitOfWork, stack: StackRow, skip: Collection[str]) -> None:
    """Mark skipped instances: the next update looks at them."""
    for name in skip:
        for row in work.tx.resources_named(stack.id, name):
            if row.want == PRESENT:
                row.dirty = DIRTY
