"""Signals: delivered to one resource, whose attributes are then stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

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
from ..plan.accept import Noted, build_answer, edit_stack, with_note
from ..progress.history import add_user
from ..services import EngineServices
from .breakpoints import UNSET, build_clearance
from .signal_delivery import Delivered, deliver_all


def signal(services: EngineServices, action: actions.SignalResource, note: Noted) -> Step:
    """Deliver a signal to a resource; then store its attributes.

    What it hands on to other resources is delivered with it: all of that is stored, or nothing. It
    is asked once more if an operation has begun or ended meanwhile. A signal that clears a
    breakpoint does not reach the resource.
    """
    if isinstance(action.details, Mapping) and UNSET in action.details:
        return (yield from edit_stack(services, build_clearance(action), note))
    user = services.settings.user
    reached: list[Delivered] = []
    accepted = None
    while accepted is None:
        seen = yield Call(partial(find_target, services, action.stack, action.resource))
        if not reached or all(each.is_gathered for each in reached):
            reached = yield Call(partial(deliver_all, services, seen, action.details))
        else:
            reached = yield Call(partial(_read_states, services, reached))
        for each in reached:
            if isinstance(each.answer, Failure):
                reason = each.answer.reason
                if each is reached[0]:
                    yield Tx(_build_failure_unit(seen, add_user(reason, user)))
                else:  # worded for the resource that was signalled
                    other = f"resources.{each.seen.row.name}"
                    reason = reason.replace(other, f"resources.{seen.row.name}", 1)
                raise ResourceFailure(reason, hint=each.answer.hint)
        accepted = yield Tx(with_note(_build_store_unit(seen, reached, user), note))
    return accepted


def _read_states(services: EngineServices, reached: list[Delivered]) -> list[Delivered]:
    return [each.ask_again(services) for each in reached]


def _build_failure_unit(seen: WorkItem, reason: str) -> Callable[[UnitOfWork], None]:
    """Record that a handler has raised; nothing else is known to have changed."""

    def store(work: UnitOfWork) -> None:
        row = work.tx.resource(seen.row.id)
        if row is not None:
            work.resource_event(row, "SIGNAL", "FAILED", reason)

    return store


def _build_store_unit(
    seen: WorkItem, reached: list[Delivered], by: str
) -> Callable[[UnitOfWork], Accepted | None]:
    """Store the result of a signal, unless an operation has begun meanwhile."""
    accepted = build_answer(seen.stack)

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
        work.resource_event(first, "SIGNAL", "COMPLETE", add_user("signal received", by))
        return accepted

    return store


def find_target(services: EngineServices, stack_name: str, name: str) -> WorkItem:
    """The instance of a name or an id, as it is stored now; raises NotFound."""
    reader = services.reader()
    with reader.snapshot():
        stack = reader.stack_named(stack_name, services.settings.project)
        row = _select_instance(reader.resource_rows(stack.id), name, stack.name)
        data = reader.read_sealed_data(row.id)
    return WorkItem(row, stack, data)


def _select_instance(rows: list[ResourceRow], name: str, stack_name: str) -> ResourceRow:
    """By its id, else the present one of that name, else one that is being deleted."""
    there = {row.name: row for row in rows if row.op}
    there.update({row.name: row for row in rows if row.want == PRESENT})
    there.update({row.id: row for row in rows if row.op or row.want == PRESENT})
    if name not in there:
        hint = suggestion(name, {row.name for row in rows})
        raise NotFound("Resource", name, hint=hint, stack=stack_name)
    return there[name]
