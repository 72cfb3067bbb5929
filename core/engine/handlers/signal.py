"""Signals: handed to one resource; what its attributes say then is stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from zonda.core.store.schema.rows import ResourceRow
from zonda.hooks.errors import NotFound, ResourceFailure
from zonda.hooks.text.suggestions import suggestion

from .. import actions
from ..actions import Accepted
from ..model.effects import Call, Step, Tx
from ..model.outcomes import Failure
from ..model.states import PRESENT
from ..model.unit_of_work import UnitOfWork
from ..model.work_item import WorkItem
from ..plan.accept import Noted, accepted_as, noting
from ..progress.history import signed
from ..services import EngineServices
from .breakpoints import UNSET, clear_by_signal
from .signal_delivery import Delivered, delivered


def signal(services: EngineServices, action: actions.SignalResource, note: Noted) -> Step:
    """Hand a signal to a resource; store what its attributes say then.

    What it hands on to other resources is delivered with it: all of that is stored, or nothing. It
    is asked once more if an operation has begun or ended meanwhile. A signal that clears a
    breakpoint does not reach the resource.
    """
    if isinstance(action.details, Mapping) and UNSET in action.details:
        return (yield from clear_by_signal(services, action, note))
    user = services.settings.user
    reached: list[Delivered] = []
    accepted = None
    while accepted is None:
        seen = yield Call(_finding(services, action))
        if not reached or all(each.is_gathered for each in reached):
            reached = yield Call(_delivering(services, seen, action))
        else:
            reached = yield Call(_asking_again(services, reached))
        failed = next((each for each in reached if isinstance(each.answer, Failure)), None)
        if failed is not None:
            if failed is reached[0]:
                yield Tx(_failing(seen, signed(_reason(failed), user)))
            assert isinstance(failed.answer, Failure)
            raise ResourceFailure(_told_by(seen, failed, reached[0]), hint=failed.answer.hint)
        accepted = yield Tx(noting(_storing(seen, reached, user), note))
    return accepted


def _finding(services: EngineServices, action: actions.SignalResource) -> Callable[[], WorkItem]:
    return lambda: found(services, action.stack, action.resource)


def _delivering(
    services: EngineServices, seen: WorkItem, action: actions.SignalResource
) -> Callable[[], list[Delivered]]:
    return lambda: delivered(services, seen, action.details)


def _asking_again(
    services: EngineServices, reached: list[Delivered]
) -> Callable[[], list[Delivered]]:
    return lambda: [each.asked_again(services) for each in reached]


def _reason(failed: Delivered) -> str:
    assert isinstance(failed.answer, Failure)
    return failed.answer.reason


def _told_by(seen: WorkItem, failed: Delivered, first: Delivered) -> str:
    """Why a signal could not be delivered, as something of the resource that was signalled."""
    reason = _reason(failed)
    if failed is first:
        return reason
    return reason.replace(f"resources.{failed.seen.row.name}", f"resources.{seen.row.name}", 1)


def _failing(seen: WorkItem, reason: str) -> Callable[[UnitOfWork], None]:
    """Record that a handler has raised; nothing else has changed, as far as anybody knows."""

    def store(work: UnitOfWork) -> None:
        row = work.tx.resource(seen.row.id)
        if row is not None:
            work.resource_event(row, "SIGNAL", "FAILED", reason)

    return store


def _storing(
    seen: WorkItem, reached: list[Delivered], by: str
) -> Callable[[UnitOfWork], Accepted | None]:
    """Store what a signal has changed, unless an operation has come between."""
    accepted = accepted_as(seen.stack)

    def store(work: UnitOfWork) -> Accepted | None:
        first = work.tx.resource(seen.row.id)
        if first is None:
            return accepted
        if not all(each.fits(work) for each in reached):
            return None
        if any(each.is_void for each in reached):
            return accepted
        for each in reached:
            each.store(work)
        work.resource_event(first, "SIGNAL", "COMPLETE", signed("signal received", by))
        return accepted

    return store


def found(services: EngineServices, stack_name: str, name: str) -> WorkItem:
    """The instance that is meant by a name or an id, as it is stored now; raises NotFound."""
    reader = services.reader()
    with reader.snapshot():
        stack = reader.stack_named(stack_name, services.settings.project)
        row = _meant(reader.resource_rows(stack.id), name, stack.name)
        data = reader.sealed_data(row.id)
    return WorkItem(row, stack, data)


def _meant(rows: list[ResourceRow], name: str, stack_name: str) -> ResourceRow:
    """By its id, else the present one of that name, else one that is just being removed."""
    there = {row.name: row for row in rows if row.op}
    there.update({row.name: row for row in rows if row.want == PRESENT})
    there.update({row.id: row for row in rows if row.op or row.want == PRESENT})
    if name not in there:
        hint = suggestion(name, {row.name for row in rows})
        raise NotFound("Resource", name, hint=hint, stack=stack_name)
    return there[name]
