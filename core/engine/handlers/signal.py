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
from ..model.unit_of_work import Work
from ..model.work_item import Seen
from ..plan.accept import Noted, accepted_as, noting
from ..progress.history import signed
from ..services import Room
from .breakpoints import UNSET, clear_by_signal
from .signal_delivery import Delivered, delivered


def signal(room: Room, action: actions.SignalResource, note: Noted) -> Step:
    """Hand a signal to a resource; store what its attributes say then.

    What it hands on to other resources is delivered with it: all of that is stored, or nothing. It
    is asked once more if an operation has begun or ended meanwhile. A signal that clears a
    breakpoint does not reach the resource.
    """
    if isinstance(action.details, Mapping) and UNSET in action.details:
        return (yield from clear_by_signal(room, action, note))
    user = room.settings.user
    reached: list[Delivered] = []
    accepted = None
    while accepted is None:
        seen = yield Call(_finding(room, action))
        if not reached or all(each.is_gathered for each in reached):
            reached = yield Call(_delivering(room, seen, action))
        else:
            reached = yield Call(_asking_again(room, reached))
        failed = next((each for each in reached if isinstance(each.answer, Failure)), None)
        if failed is not None:
            if failed is reached[0]:
                yield Tx(_failing(seen, signed(_reason(failed), user)))
            assert isinstance(failed.answer, Failure)
            raise ResourceFailure(_told_by(seen, failed, reached[0]), hint=failed.answer.hint)
        accepted = yield Tx(noting(_storing(seen, reached, user), note))
    return accepted


def _finding(room: Room, action: actions.SignalResource) -> Callable[[], Seen]:
    return lambda: found(room, action.stack, action.resource)


def _delivering(
    room: Room, seen: Seen, action: actions.SignalResource
) -> Callable[[], list[Delivered]]:
    return lambda: delivered(room, seen, action.details)


def _asking_again(room: Room, reached: list[Delivered]) -> Callable[[], list[Delivered]]:
    return lambda: [each.asked_again(room) for each in reached]


def _reason(failed: Delivered) -> str:
    assert isinstance(failed.answer, Failure)
    return failed.answer.reason


def _told_by(seen: Seen, failed: Delivered, first: Delivered) -> str:
    """Why a signal could not be delivered, as something of the resource that was signalled."""
    reason = _reason(failed)
    if failed is first:
        return reason
    return reason.replace(f"resources.{failed.seen.row.name}", f"resources.{seen.row.name}", 1)


def _failing(seen: Seen, reason: str) -> Callable[[Work], None]:
    """Record that a handler has raised; nothing else has changed, as far as anybody knows."""

    def store(work: Work) -> None:
        row = work.tx.resource(seen.row.id)
        if row is not None:
            work.resource_event(row, "SIGNAL", "FAILED", reason)

    return store


def _storing(seen: Seen, reached: list[Delivered], by: str) -> Callable[[Work], Accepted | None]:
    """Store what a signal has changed, unless an operation has come between."""
    accepted = accepted_as(seen.stack)

    def store(work: Work) -> Accepted | None:
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


def found(room: Room, stack_name: str, name: str) -> Seen:
    """The instance that is meant by a name or an id, as it is stored now; raises NotFound."""
    reader = room.reader()
    with reader.snapshot():
        stack = reader.stack_named(stack_name, room.settings.project)
        row = _meant(reader.resource_rows(stack.id), name, stack.name)
        data = reader.sealed_data(row.id)
    return Seen(row, stack, data)


def _meant(rows: list[ResourceRow], name: str, stack_name: str) -> ResourceRow:
    """By its id, else the present one of that name, else one that is just being removed."""
    there = {row.name: row for row in rows if row.op}
    there.update({row.name: row for row in rows if row.want == PRESENT})
    there.update({row.id: row for row in rows if row.op or row.want == PRESENT})
    if name not in there:
        hint = suggestion(name, {row.name for row in rows})
        raise NotFound("Resource", name, hint=hint, stack=stack_name)
    return there[name]
