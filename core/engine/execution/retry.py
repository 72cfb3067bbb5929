"""The steps between two attempts at an operation; ``attempts`` has their transactions."""

from __future__ import annotations

from collections.abc import Callable

from zonda.hooks import records

from ..model.effects import LAST, Step, Tx, Wait, make_operation_call
from ..model.outcomes import LOST, NEW, NO, Again, Answer, Failure, Final, Postponed, Waiting
from ..model.states import CLEANING, STARTING
from ..model.unit_of_work import UnitOfWork
from ..model.work_item import WorkItem
from ..operations import transitions
from ..operations.retries import begin_after_cleanup, compute_pause, continue_attempts, postpone
from ..operations.transitions import Lease
from ..plugins.operation import PluginOperation
from ..services import EngineServices


def begin_next_attempt(services: EngineServices, operation: PluginOperation) -> Step:
    """Wait until the next attempt is due and begin it; returns the answer of its handler."""
    while True:
        seen: WorkItem | None = yield from _wait_until_due(services, operation)
        if seen is None:
            return LOST
        same = seen.row.op_id == operation.row.op_id
        operation.start_anew(seen)
        if seen.row.op_state == CLEANING:
            seen, same = (yield from _clean_up(services, operation)), False
            if seen is None:
                return LOST
            operation.start_anew(seen)
        if seen.row.op_state == STARTING:
            call = operation.handle_once_more if same else operation.handle
            return (yield make_operation_call(call, light=operation.is_light, order=LAST))


def _wait_until_due(services: EngineServices, operation: PluginOperation) -> Step:
    clock, row = services.clock, operation.row
    pause = min(max(0.0, (row.retry_at or 0.0) - clock.now()), compute_pause(row, 1.0))
    until = clock.monotonic() + pause
    if pause > 0:
        yield Wait(pause, row.id)
    is_due = clock.monotonic() >= until
    return (
        yield from _transact(
            operation, lambda work, handle: continue_attempts(work, handle, is_due)
        )
    )


def _transact(
    operation: PluginOperation, run: Callable[[UnitOfWork, Lease], WorkItem | None]
) -> Step:
    handle = transitions.get_lease(operation.row)
    return (yield Tx(lambda work: run(work, handle)))


def _clean_up(services: EngineServices, operation: PluginOperation) -> Step:
    """Remove the remains of the attempt before, as a deletion would.

    It is begun again after a crash: deletions may always be. One that fails has cost an attempt.
    """
    answer: Answer = yield from _delete_remains(services, operation)
    if isinstance(answer, Final):
        return (yield from _transact(operation, begin_after_cleanup))
    assert isinstance(answer, Failure)
    chance, reason = services.chance(), f"{answer.reason} (removing a failed attempt)"
    # whatever became of the removal, the next one is begun anew
    again: Again = NO if answer.again == NO else NEW
    failure = records.replace(answer, reason=reason, again=again)
    return (
        yield from _transact(
            operation, lambda work, handle: postpone(work, handle, failure, chance)
        )
    )


def _delete_remains(services: EngineServices, operation: PluginOperation) -> Step:
    cleaner, begun = operation.cleaner(), services.clock.monotonic()
    answer: Answer = yield make_operation_call(cleaner.handle, order=LAST)
    if operation.row.take_overs:
        handle = transitions.get_lease(operation.row)
        yield Tx(lambda work: transitions.record_call(work, handle))
    if isinstance(answer, Waiting) and answer.delay is None:
        answer = yield make_operation_call(cleaner.poll)
    while isinstance(answer, Waiting | Postponed):
        delay = answer.delay
        yield Wait(services.poll_delay(begun) if delay is None else delay, operation.row.id)
        call = cleaner.poll if isinstance(answer, Waiting) else cleaner.handle
        answer = yield make_operation_call(call)
    return answer
