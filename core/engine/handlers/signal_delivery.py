"""A signal at one resource, and at those that it is handed on to: the plug-in's part of it.

Called by ``signals``, in the pool; ``Delivered.fits`` and ``store`` in a transaction.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zonda.core.store.schema.rows import ResourceRow
from zonda.hooks.errors import (
    ActionNotSupported,
    Conflict,
    NoActionRequired,
    NotFound,
    NotSupported,
)
from zonda.hooks.resources.nested_stack import Converge

from ..model.lending import Onward, Write
from ..model.outcomes import Answer, Failure, Final
from ..model.states import follows
from ..model.unit_of_work import UnitOfWork
from ..model.work_item import WorkItem
from ..nested.operation import operation_of
from ..operations import transitions
from ..progress import progress
from ..services import EngineServices

#: How often a signal may be handed on.
MOST_HOPS = 8
#: The actions after which a resource takes no signal, and what to do about it.
_DEAF = {
    "SUSPEND": "Resume the stack first.",
    "DELETE": "Update the stack so that it stays, or delete the stack.",
}


@dataclass(frozen=True, slots=True)
class Delivered:
    """What a handler has answered; of a type that does nothing outside, with what it stores.

    ``is_void``: the signal changes nothing. ``converges``: the resource's nested stack is to become
    what it shall be now. ``is_gathered``: nothing is stored yet, so it may be delivered once more.
    """

    seen: WorkItem
    answer: Answer
    writes: list[Write]
    is_gathered: bool
    is_void: bool = False
    converges: bool = False

    def asked_again(self, services: EngineServices) -> Delivered:
        """What the resource says now; its handler is not called again."""
        seen = _seen(services, self.seen.row.id)
        answer = operation_of(services, seen).state()
        return dataclasses.replace(self, seen=seen, answer=answer, writes=[])

    def fits(self, work: UnitOfWork) -> bool:
        """Whether no operation has come between."""
        row, was = work.tx.resource(self.seen.row.id), self.seen.row
        if row is None:
            return False
        return _asked_of(row) == _asked_of(was)

    def store(self, work: UnitOfWork) -> None:
        """Store what has changed, and have whoever waits for that look."""
        row, final = work.tx.resource(self.seen.row.id), self.answer
        assert row is not None
        assert isinstance(final, Final)
        for write in self.writes:
            write(work)
        if row.op != "DELETE":  # of which nobody reads anything any more
            _show(work, row, final)
        if self.converges:
            _converge(work, row)
        for key in (row.id, *work.tx.dependants(row)):
            work.after.poke[key] = None


def _asked_of(row: ResourceRow) -> tuple[object, ...]:
    """What an answer is out of date without: the operation, what is shown, what is below."""
    return row.fence, row.op, row.outputs_hash, row.below


def _show(work: UnitOfWork, row: ResourceRow, final: Final) -> None:
    row.reference, row.outputs = final.reference, final.outputs
    if row.outputs_hash != final.outputs_hash:
        row.outputs_hash = final.outputs_hash
        progress.mark_dependants(work, row)
        progress.mark_owners(work, row)
        progress.tell_owner(work, row)


def _converge(work: UnitOfWork, row: ResourceRow) -> None:
    """Begin the operation that makes a nested stack what it shall be, outside of any plan.

    Not where a plan has yet to come to the resource, or has been halted.
    """
    stack = work.stack_of(row)
    if row.op or row.open or stack.halted:
        why = row.op or stack.action
        raise Conflict(
            f"Resource {row.name} is being worked on ({why}).", hint="Send the signal later."
        )
    if _is_asleep(work, row):
        raise NotSupported(
            f"Cannot signal resource {row.name} while it is suspended.",
            hint="Resume the stack first.",
        )
    if not follows(row.action, row.status, "SIGNAL"):
        raise Conflict(
            f"Resource {row.name} is {row.action}_{row.status}: nothing is to become of it.",
            hint="Update the stack so that it stays, or delete the stack.",
        )
    transitions.begin(work, row, "SIGNAL", None)
    work.look(row)


def _is_asleep(work: UnitOfWork, row: ResourceRow) -> bool:
    """Whether a resource is suspended, or what it is in; what is made in it would not be."""
    root = work.tx.stack(work.stack_of(row).root)
    asleep = root is not None and root.suspended and root.action != "RESUME"
    return bool(asleep or row.suspended)


def delivered(
    services: EngineServices, seen: WorkItem, details: Mapping[str, Any]
) -> list[Delivered]:
    """Hand a signal to a resource, and to those that it hands it on to; the first one first."""
    reached: list[Delivered] = []
    waiting = [(seen, details)]
    while waiting:
        seen, details = waiting.pop(0)
        if len(reached) >= MOST_HOPS:
            raise NotSupported(f"A signal was handed on more than {MOST_HOPS} times.")
        onward: list[Onward] = []
        made = _deliver(services, seen, details, onward)
        reached.append(made)
        if made.is_void or isinstance(made.answer, Failure):
            break
        try:
            waiting += [_next(services, seen.stack.root, *each) for each in onward]
        except _Missing as error:
            reason = f"NotFound: resources.{seen.row.name}: {error}"
            reached[-1] = dataclasses.replace(made, answer=Failure(reason))
    return reached


class _Missing(Exception):
    """Nobody has the reference that a signal was to be handed on to."""


def _next(
    services: EngineServices, root: str, reference: str, details: Mapping[str, Any], missing: str
) -> tuple[WorkItem, Mapping[str, Any]]:
    try:
        return _referred(services, root, reference), details
    except NotFound as error:
        raise _Missing(missing or error.message) from error


def _deliver(
    services: EngineServices, seen: WorkItem, details: Mapping[str, Any], onward: list[Onward]
) -> Delivered:
    row, writes = seen.row, list[Write]()
    operation = operation_of(services, dataclasses.replace(seen, onward=onward), writes)
    handler = getattr(operation.instance, "handle_signal", None)
    if row.action in _DEAF:
        raise NotSupported(
            f"Signal resource during {row.action} is not supported.", hint=_DEAF[row.action]
        )
    if handler is None or (row.action == "INIT" and not row.op):
        raise ActionNotSupported("signal", hint=f"{row.name} is of type {row.type}.")
    cls = type(operation.instance)
    said: list[Any] = []

    def call() -> Final:
        said.append(_answered(handler, details))
        return operation.state()

    answer = operation.guarded(call)()
    if not isinstance(answer, Final | Failure):
        answer = Failure(f"resources.{row.name}: a signal cannot lead to a replacement")
    return Delivered(
        seen,
        answer,
        writes,
        not cls.has_side_effects,
        is_void=any(each is NoActionRequired for each in said),
        converges=any(isinstance(each, Converge) for each in said),
    )


def _answered(handler: Any, details: Mapping[str, Any]) -> Any:
    try:
        return handler(dict(details or {}))
    except NoActionRequired:
        return NoActionRequired


def _seen(services: EngineServices, key: str) -> WorkItem:
    reader = services.reader()
    with reader.snapshot():
        row = reader.resource_row(key)
        if row is None:
            raise NotFound("Resource", key)
        return WorkItem(row, reader.stack_row(row.stack_id), reader.sealed_data(key))


def _referred(services: EngineServices, root: str, reference: str) -> WorkItem:
    """The instance with that reference, somewhere in a tree of stacks; raises NotFound."""
    key = services.reader().referred(root, reference)
    if key is None:
        raise NotFound("Resource", reference, hint="The signal was to be handed on to it.")
    return _seen(services, key)
