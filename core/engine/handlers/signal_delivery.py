"""The delivery of a signal to a resource and to those it is forwarded to: plug-in calls.

In the pool; ``Delivered.fits`` and ``store`` in a transaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.core.store.schema.rows import ResourceRow
from zonda.hooks import records
from zonda.hooks.errors import (
    ActionNotSupported,
    Conflict,
    NoActionRequired,
    NotFound,
    NotSupported,
)
from zonda.hooks.records import dataclass
from zonda.hooks.resources.nested_stack import Converge

from ..model.lending import Onward, Write
from ..model.outcomes import Answer, Failure, Final
from ..model.states import may_follow
from ..model.unit_of_work import UnitOfWork
from ..model.work_item import WorkItem
from ..nested.operation_kinds import make_operation
from ..operations import transitions
from ..progress import children, progress
from ..services import EngineServices

#: The most steps that a signal is passed on.
MOST_HOPS = 8
#: The actions after which a resource takes no signal, and what to do about it.
_DEAF = {
    "SUSPEND": "Resume the stack first.",
    "DELETE": "Update the stack so that it stays, or delete the stack.",
}


@dataclass(frozen=True, slots=True)
class Delivered:
    """The answer of a handler; of a type without side effects also its writes.

    ``is_void``: the signal changes nothing. ``converges``: the resource's nested stack is to become
    what it shall be now. ``is_gathered``: nothing is stored yet, so it may be delivered once more.
    """

    seen: WorkItem
    answer: Answer
    writes: list[Write]
    is_gathered: bool
    is_void: bool = False
    converges: bool = False

    def ask_again(self, services: EngineServices) -> Delivered:
        """The present state of the resource; its handler is not called again."""
        seen = WorkItem.read(services.reader(), self.seen.row.id)
        if seen is None:
            raise NotFound("Resource", self.seen.row.name)
        answer = make_operation(services, seen).state()
        return records.replace(self, seen=seen, answer=answer, writes=[])

    def fits(self, work: UnitOfWork) -> bool:
        """Whether no operation has begun meanwhile."""
        row, was = work.tx.resource(self.seen.row.id), self.seen.row
        if row is None:
            return False
        return _answer_basis(row) == _answer_basis(was)

    def store(self, work: UnitOfWork) -> None:
        """Store the changes and wake everything that waits for them."""
        row, final = work.tx.resource(self.seen.row.id), self.answer
        assert row is not None
        assert isinstance(final, Final)
        for write in self.writes:
            write(work)
        if row.op != "DELETE":  # of which nobody reads anything any more
            _store_shown(work, row, final)
        if self.converges:
            _begin_converge(work, row)
        for key in (row.id, *work.tx.dependants(row)):
            work.after.poke[key] = None


def _answer_basis(row: ResourceRow) -> tuple[object, ...]:
    """The values on which an answer depends: the operation, the shown state, the state below."""
    return row.fence, row.op, row.outputs_hash, row.below


def _store_shown(work: UnitOfWork, row: ResourceRow, final: Final) -> None:
    row.reference, row.outputs = final.reference, final.outputs
    if row.outputs_hash != final.outputs_hash:
        row.outputs_hash = final.outputs_hash
        progress.mark_dependants(work, row)
        children.mark_owners(work, row)
        children.refresh_owner(work, row)


def _begin_converge(work: UnitOfWork, row: ResourceRow) -> None:
    """Begin the operation that updates a nested stack outside of any plan.

    Not where a plan has yet to come to the resource, or has been halted, there or above.
    """
    halted = children.find_halted(work, row)
    if row.op or row.open or halted is not None:
        why = row.op or (halted or work.stack_of(row)).action
        raise Conflict(
            f"Resource {row.name} is being worked on ({why}).", hint="Send the signal later."
        )
    if _is_suspended(work, row):
        raise NotSupported(
            f"Cannot signal resource {row.name} while it is suspended.",
            hint="Resume the stack first.",
        )
    if not may_follow(row.action, row.status, "SIGNAL"):
        raise Conflict(
            f"Resource {row.name} is {row.action}_{row.status}: nothing is to become of it.",
            hint="Update the stack so that it stays, or delete the stack.",
        )
    transitions.begin(work, row, "SIGNAL", None)
    work.look(row)


def _is_suspended(work: UnitOfWork, row: ResourceRow) -> bool:
    """Whether a resource, or a stack that it is in, is suspended; a new member would not be."""
    root = work.tx.stack(work.stack_of(row).root)
    asleep = root is not None and root.suspended and root.action != "RESUME"
    return bool(asleep or row.suspended)


def deliver_all(
    services: EngineServices, seen: WorkItem, details: Mapping[str, Any]
) -> list[Delivered]:
    """Deliver a signal to a resource, and to those it is forwarded to; the first one first."""
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
            waiting += [_find_next(services, seen.stack.root, *each) for each in onward]
        except _Missing as error:
            reason = f"NotFound: resources.{seen.row.name}: {error}"
            reached[-1] = records.replace(made, answer=Failure(reason))
    return reached


class _Missing(Exception):
    """No resource has the reference that a signal was to be forwarded to."""


def _find_next(
    services: EngineServices, root: str, reference: str, details: Mapping[str, Any], missing: str
) -> tuple[WorkItem, Mapping[str, Any]]:
    """The instance with that reference, somewhere in a tree of stacks; raises _Missing."""
    key = services.reader().find_referred(root, reference)
    seen = None if key is None else WorkItem.read(services.reader(), key)
    if seen is None:
        raise _Missing(missing or NotFound("Resource", reference).message)
    return seen, details


def _deliver(
    services: EngineServices, seen: WorkItem, details: Mapping[str, Any], onward: list[Onward]
) -> Delivered:
    row, writes = seen.row, list[Write]()
    operation = make_operation(services, records.replace(seen, onward=onward), writes)
    operation.request = services.request
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
        said.append(_call_handler(handler, details))
        return operation.state()

    answer = operation.guard(call)()
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


def _call_handler(handler: Any, details: Mapping[str, Any]) -> Any:
    try:
        return handler(dict(details or {}))
    except NoActionRequired:
        return NoActionRequired
