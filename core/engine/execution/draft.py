"""The draft of an operation without side effects: its handler runs before anything is stored.

A type that does nothing outside zonda leaves nothing behind that an intent would have to tell of.
So its handler may run on a *draft* of its row. If that comes to an end at once, begin and end are
one transaction. A draft counts only while its row is what it was made from; else it is dropped,
and nothing has happened.

Called by ``steps`` in the pool; imports what prepares and calls an instance.
"""

from __future__ import annotations

from zonda.core.store.schema.rows import StackRow, copy_row
from zonda.hooks.records import dataclass, field, replace

from ..diff.prepare import Preparation
from ..model.lending import Write
from ..model.outcomes import Answer, Prepared, Waiting
from ..model.states import PRESENT
from ..model.unit_of_work import UnitOfWork
from ..model.work_item import WorkItem
from ..operations import transitions
from ..plugins.operation import PluginOperation
from ..services import EngineServices


@dataclass(slots=True)
class Intent:
    """An operation that is begun and to be driven.

    ``answer``: what its handler has answered on a draft; ``writes``: what that stores.
    """

    seen: WorkItem
    operation: PluginOperation | None = None
    answer: Answer | None = None
    writes: list[Write] = field(default_factory=list)


@dataclass(slots=True)
class Draft:
    """One instance as it was seen, and what is to be done with it; ``intent`` if that was begun."""

    seen: WorkItem
    prepared: Prepared
    intent: Intent | None = None

    @property
    def desired(self) -> Prepared | None:
        """The definition that an operation is begun with; a deletion needs none."""
        return None if self.prepared.op == "DELETE" else self.prepared

    def release(self) -> None:
        """Let go of what was made for it, which is settled by now."""
        if self.intent is not None and self.intent.operation is not None:
            self.intent.operation.release()


def prepare(services: EngineServices, seen: WorkItem) -> Draft:
    """Work out what is to be done with an instance; call the handler if that is without effects."""
    draft = Draft(seen, _prepare_row(services, seen))
    # what may have to wait, or be tried again, is not begun on a draft
    if not seen.stack.policies and _is_without_effects(services, draft.prepared):
        row = copy_row(seen.row)
        transitions.begin(_DraftWork(services, seen.stack), row, draft.prepared.op, draft.desired)
        writes: list[Write] = []
        operation = PluginOperation(services.instances, replace(seen, row=row, fresh=True), writes)
        draft.intent = Intent(operation.seen, operation, _call_handler(services, operation), writes)
    return draft


def _prepare_row(services: EngineServices, seen: WorkItem) -> Prepared:
    if seen.row.want != PRESENT:
        return Prepared("begin", "DELETE", class_type=seen.row.class_type)
    return Preparation(services.instances, seen).run()


def _is_without_effects(services: EngineServices, prepared: Prepared) -> bool:
    return prepared.verdict == "begin" and services.definitions.is_inward_type(prepared.class_type)


def _call_handler(services: EngineServices, operation: PluginOperation) -> Answer:
    """The answer of the handler, or of the first poll."""
    answer = operation.handle()
    if isinstance(answer, Waiting) and answer.delay is None:
        answer = operation.poll()
        if isinstance(answer, Waiting) and answer.delay is None:
            return replace(answer, delay=services.poll_delay(services.clock.monotonic()))
    return answer


class _DraftWork(UnitOfWork):
    """Work on a draft: there is no transaction, nobody is told."""

    __slots__ = ("_stack",)

    def __init__(self, services: EngineServices, stack: StackRow) -> None:
        super().__init__(None, services.clock.now(), services.ids, services.sealer, "")  # type: ignore[arg-type]
        self._stack = stack

    def stack_of(self, row: object) -> StackRow:
        return self._stack

    def resource_event(self, *_: object) -> None:
        return None
