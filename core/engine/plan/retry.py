"""Retry: the failed action with the same inputs, for the resources that failed or wait.

A plan of a template finds by itself what is left to do: what is complete and as wanted is not in
its cone. Of suspensions, resumptions, checks and snapshots, what worked is left out here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.core.store.schema.rows import ResourceRow, SnapshotRow, StackRow
from zonda.hooks import records
from zonda.hooks.errors import NotSupported

from .. import actions
from ..model import row_annotations
from ..model.plan import Given, StackPlan
from ..model.states import CLOSED, COMPLETE, FAILED
from ..model.unit_of_work import UnitOfWork
from ..progress import partial, snapshots
from ..progress.phases import CLEANING
from ..services import EngineServices
from . import moves
from .adoption import check_still_free
from .from_template import check_idle, is_suspended, list_desired, list_good_desired
from .scope import select_without
from .snapshots import delete_stack


def plan_retry(services: EngineServices, stack: StackRow, action: actions.RetryStack) -> StackPlan:
    """The plan of the failed action."""
    check_idle(stack)
    if stack.status != FAILED:
        raise NotSupported(
            f"Stack {stack.name} is {stack.action}_{stack.status}: there is nothing to try again.",
            hint="'zonda stack update' carries out a change.",
        )
    failed = [each for each in services.reader().actions(stack.id) if each.action == stack.action]
    detail: dict[str, Any] = {"retries": stack.generation}
    if failed:  # the stack's present generation may be newer
        detail = {**failed[-1].detail, "retries": failed[-1].generation}
    proposal: StackPlan | None
    if stack.action == "DELETE":
        proposal = delete_stack(services, stack, actions.DeleteStack(stack.id))
    elif stack.action in CLEANING:
        proposal = _retry_template(services, stack, detail)
    else:
        proposal = _retry_verb(services, stack, detail["retries"])
    assert proposal is not None
    proposal = moves.repeat_moves(services, stack, proposal)
    return records.replace(proposal, demanded=True, given=Given(detail=detail))


def _retry_template(
    services: EngineServices, stack: StackRow, detail: Mapping[str, Any]
) -> StackPlan:
    definition = None if stack.template_id is None else services.definitions.get(stack.template_id)
    rows = services.reader().resource_rows(stack.id)
    # what was not restored yet is restored, whatever its definition
    open_names = {row.name for row in rows if row_annotations.has(row, row_annotations.RESTORE)}
    wanted = [
        records.replace(item, always=item.always or item.name in open_names)
        for item in ([] if definition is None else list_desired(services, definition))
    ]
    if stack.action == "ADOPT" and definition is not None and not detail.get("force"):
        check_still_free(services, rows, definition.resources)
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


def _retry_verb(services: EngineServices, stack: StackRow, generation: int) -> StackPlan:
    """The plan of a verb without what is done; a failed snapshot is made to its end."""
    verb = stack.action
    begun = _find_failed_snapshot(services, stack) if verb == "SNAPSHOT" else None

    def is_left(row: ResourceRow) -> bool:
        if verb == "RESUME":
            return is_suspended(row)
        return (row.action, row.status, row.generation) != (verb, COMPLETE, generation)

    def keep(work: UnitOfWork, planned: StackRow) -> None:
        """Keep what is left out in the new plan as well, should that fail, too."""
        for row in work.tx.resources_of(planned.id):
            if row.open == CLOSED and row.generation == generation:
                row.generation = planned.generation
        if begun is not None:
            snapshots.begin(work, planned, begun, "SNAPSHOT")

    changes: dict[str, object] = {"note": stack.note}
    return StackPlan(stack.id, verb, stack.generation, changes=changes, which=is_left, also=keep)


def _find_failed_snapshot(services: EngineServices, stack: StackRow) -> SnapshotRow:
    for row in reversed(services.reader().snapshots(stack.id)):
        if (row.action, row.status) == ("SNAPSHOT", FAILED):
            return row
    raise NotSupported(f"The snapshot of stack {stack.name} that failed has been deleted.")
