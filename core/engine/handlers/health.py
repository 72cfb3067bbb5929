"""Marking a resource as unhealthy, so that the next update replaces it; and taking that back.

In a nested stack every owner up to the stack at the top is to be looked at then: its update is the
one that replaces it.
"""

from __future__ import annotations

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks.errors import Conflict, NotFound, NotSupported
from zonda.hooks.text.suggestions import suggestion

from ..actions import MarkResource
from ..model.states import COMPLETE, FAILED, PRESENT
from ..model.unit_of_work import UnitOfWork
from ..plan.accept import Change
from ..plugins.operation import PluginOperation
from ..plugins.redaction import scrub
from ..progress import children
from ..progress.history import add_user
from ..services import EngineServices
from .signal import find_target


def mark(services: EngineServices, stack: StackRow, action: MarkResource) -> Change:
    """Set the state that a failed CHECK gives; ``healthy`` undoes exactly that."""
    reason = _format_reason(services, action)

    def mark_found(work: UnitOfWork, stack: StackRow) -> None:
        row = _find_resource(work, stack, action.resource)
        if row.op or row.open:
            raise Conflict(
                f"Resource {row.name} of stack {stack.name} is being worked on.",
                hint="Wait for the running action, or cancel it.",
            )
        if row.action == "INIT" or not (row.outputs_hash or row.external_id):
            raise NotSupported(f"Resource {row.name} has not been created yet.")
        if not action.healthy:
            _set_state(work, row, FAILED, reason or "marked as unhealthy", services.settings.user)
        elif (row.action, row.status) == ("CHECK", FAILED):
            _set_state(work, row, COMPLETE, reason or "marked as healthy", services.settings.user)

    return mark_found


def _find_resource(work: UnitOfWork, stack: StackRow, name: str) -> ResourceRow:
    rows = [row for row in work.tx.resources_of(stack.id) if row.want == PRESENT]
    for row in rows:
        if row.name == name:
            return row
    hint = suggestion(name, (row.name for row in rows))
    raise NotFound("Resource", name, hint=hint, stack=stack.name)


def _format_reason(services: EngineServices, action: MarkResource) -> str:
    """The reason, without secrets of the resource."""
    operation = PluginOperation(
        services.instances, find_target(services, action.stack, action.resource)
    )
    return scrub(action.reason, operation.secrets.values) if action.reason else ""


def _set_state(work: UnitOfWork, row: ResourceRow, status: str, reason: str, by: str) -> None:
    row.action, row.status, row.status_reason = "CHECK", status, reason
    row.updated_at = work.now
    work.resource_event(row, "CHECK", status, add_user(reason, by))
    children.mark_owners(work, row)
