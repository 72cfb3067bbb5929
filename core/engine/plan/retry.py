"""Retry: the failed action with the same inputs, for the resources that failed or wait.

A plan of a template finds by itself what is left to do: what is complete and as wanted is not in
its cone. Of suspensions, resumptions, checks and snapshots, what worked is left out here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from zonda.core.store.read.views import ActionView
from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks.errors import NotSupported

from .. import actions
from ..model import row_annotations
from ..model.plan import Given, StackPlan
from ..model.states import CLOSED, COMPLETE, FAILED
from ..model.unit_of_work import UnitOfWork
from ..progress import partial, snapshots
from ..services import EngineServices
from . import moves, ownership
from .from_template import check_idle, is_suspended, list_desired, list_good_desired
from .selection import select_without
from .snapshots import delete_stack

_OF_TEMPLATES = frozenset({"CREATE", "ADOPT", "UPDATE", "ROLLBACK", "RESTORE"})


def plan_retry(services: EngineServices, stack: StackRow, action: actions.RetryStack) -> StackPlan:
    """The plan of the failed action."""
    check_idle(stack)
    if stack.status != FAILED:
        raise NotSupported(
            f"Stack {stack.name} is {stack.action}_{stack.status}: there is nothing to try again.",
            hint="'zonda stack update' carries out a change.",
        )
    plan = (
        _retry_template if stack.action in _OF_TEMPLATES else _PLANS.get(stack.action, _retry_verb)
    )
    proposal = moves.repeat_moves(services, stack, plan(services, stack))
    detail = {**_read_detail(services, stack), "retries": _find_generation(services, stack)}
    return dataclasses.replace(proposal, demanded=True, given=Given(detail=detail))


def _read_detail(services: EngineServices, stack: StackRow) -> Mapping[str, Any]:
    """The recorded inputs of the failed action."""
    found = _find_failed(services, stack)
    return {} if found is None else found.detail


def _find_generation(services: EngineServices, stack: StackRow) -> int:
    """The generation that failed: the stack's present one may be newer."""
    found = _find_failed(services, stack)
    return stack.generation if found is None else found.generation


def _find_failed(services: EngineServices, stack: StackRow) -> ActionView | None:
    same = [each for each in services.reader().actions(stack.id) if each.action == stack.action]
    return same[-1] if same else None


def _retry_template(services: EngineServices, stack: StackRow) -> StackPlan:
    definition = None if stack.template_id is None else services.definitions.get(stack.template_id)
    rows = services.reader().resource_rows(stack.id)
    # what was not restored yet is restored, whatever its definition
    open_names = {row.name for row in rows if row_annotations.has(row, row_annotations.RESTORE)}
    wanted = [
        dataclasses.replace(item, always=item.always or item.name in open_names)
        for item in ([] if definition is None else list_desired(services, definition))
    ]
    detail = _read_detail(services, stack)
    if stack.action == "ADOPT" and definition is not None and not detail.get("force"):
        ownership.check_still_free(services, rows, definition.resources)
    if stack.action == "ROLLBACK" and detail.get("to") is None:
        wanted = list_good_desired(services, stack, wanted)
    names = {*(item.name for item in wanted), *(row.name for row in rows)}
    return StackPlan(
        stack.id,
        stack.action,
        stack.generation,
        wanted,
        stack.template_id,
        selection=select_without(names, partial.read_excluded(stack)),
        ceilings={row.name: row.ceiling for row in rows if "plan" in detail and row.ceiling},
    )


def _retry_deletion(services: EngineServices, stack: StackRow) -> StackPlan:
    proposal = delete_stack(services, stack, actions.DeleteStack(stack.id))
    assert proposal is not None
    return proposal


def _retry_verb(services: EngineServices, stack: StackRow) -> StackPlan:
    verb, generation = stack.action, _find_generation(services, stack)

    def is_done(row: ResourceRow) -> bool:
        if verb == "RESUME":
            return not is_suspended(row)
        done = (row.action, row.status) == (verb, COMPLETE)
        return done and row.generation == generation

    def keep(work: UnitOfWork, planned: StackRow) -> None:
        """Keep what is left out in the new plan as well, should that fail, too."""
        for row in work.tx.resources_of(planned.id):
            if row.open == CLOSED and row.generation == generation:
                row.generation = planned.generation

    return StackPlan(
        stack.id,
        verb,
        stack.generation,
        changes={"note": stack.note},
        which=lambda row: not is_done(row),
        also=keep,
    )


def _retry_snapshot(services: EngineServices, stack: StackRow) -> StackPlan:
    """Like other verbs; the failed snapshot is the one that is made."""
    failed = [
        row
        for row in services.reader().snapshots(stack.id)
        if (row.action, row.status) == ("SNAPSHOT", FAILED)
    ]
    if not failed:
        raise NotSupported(f"The snapshot of stack {stack.name} that failed has been deleted.")
    proposal = _retry_verb(services, stack)
    keep = proposal.also
    assert keep is not None

    def begin_again(work: UnitOfWork, planned: StackRow) -> None:
        keep(work, planned)
        snapshots.begin(work, planned, failed[-1], "SNAPSHOT")

    return dataclasses.replace(proposal, also=begin_again)


_PLANS: Mapping[str, Callable[[EngineServices, StackRow], StackPlan]] = {
    "DELETE": _retry_deletion,
    "SNAPSHOT": _retry_snapshot,
}
