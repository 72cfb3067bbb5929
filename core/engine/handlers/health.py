"""Marking a resource as unhealthy, so that the next update replaces it; and taking that back.

In a nested stack every owner up to the stack at the top is to be looked at then: its update is the
one that replaces it.
"""

from __future__ import annotations

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks.errors import Conflict, NotFound, NotSupported
from zonda.hooks.text.suggestions import suggestion

from ..actions import Accepted, MarkResource
from ..model.effects import Call, Step, Tx
from ..model.states import COMPLETE, FAILED, PRESENT
from ..model.unit_of_work import UnitOfWork
from ..plan.accept import Noted, accepted_as, noting
from ..plan.from_template import named
from ..plugins.operation import PluginOperation
from ..plugins.secrets import scrub
from ..progress import progress
from ..progress.history import signed
from ..services import EngineServices
from .signal import found


def mark(services: EngineServices, action: MarkResource, note: Noted) -> Step:
    """What a CHECK that failed would leave, without one; ``healthy`` undoes just that."""
    stack = yield Call(lambda: named(services, action.stack))
    reason = yield Call(lambda: _reason(services, action))

    def run(work: UnitOfWork) -> Accepted:
        row = _found(work, stack, action.resource)
        if row.op or row.open:
            raise Conflict(
                f"Resource {row.name} of stack {stack.name} is being worked on.",
                hint="Wait for the running action, or cancel it.",
            )
        if row.action == "INIT" or not (row.outputs_hash or row.external_id):
            raise NotSupported(f"Resource {row.name} has not been created yet.")
        if not action.healthy:
            _set(work, row, FAILED, reason or "marked as unhealthy", services.settings.user)
        elif (row.action, row.status) == ("CHECK", FAILED):
            _set(work, row, COMPLETE, reason or "marked as healthy", services.settings.user)
        return accepted_as(stack)

    return (yield Tx(noting(run, note)))


def _found(work: UnitOfWork, stack: StackRow, name: str) -> ResourceRow:
    rows = [row for row in work.tx.resources_of(stack.id) if row.want == PRESENT]
    for row in rows:
        if row.name == name:
            return row
    hint = suggestion(name, (row.name for row in rows))
    raise NotFound("Resource", name, hint=hint, stack=stack.name)


def _reason(services: EngineServices, action: MarkResource) -> str:
    """Why, without what is secret about the resource."""
    operation = PluginOperation(services.instances, found(services, action.stack, action.resource))
    return scrub(action.reason, operation.secrets.values) if action.reason else ""


def _set(work: UnitOfWork, row: ResourceRow, status: str, reason: str, by: str) -> None:
    row.action, row.status, row.status_reason = "CHECK", status, reason
    row.updated_at = work.now
    work.resource_event(row, "CHECK", status, signed(reason, by))
    progress.mark_owners(work, row)
