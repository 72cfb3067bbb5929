"""The steps between two attempts at an operation; ``attempts`` has their transactions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from ..model.effects import Step, Tx, Wait, of_operation
from ..model.outcomes import LOST, NEW, NO, Again, Answer, Failure, Final, Postponed, Waiting
from ..model.states import CLEANING, STARTING
from ..model.unit_of_work import Work
from ..model.work_item import Seen
from ..operations import transitions
from ..operations.retries import cleaned, go_on, pause_after, put_off
from ..operations.transitions import Held
from ..plugins.operation import Operation
from ..services import Room


def next_one(room: Room, operation: Operation) -> Step:
    """Wait until the next attempt is due and begin it; gives the answer of its handler."""
    while True:
        seen: Seen | None = yield from _awaited(room, operation)
        if seen is None:
            return LOST
        same = seen.row.op_id == operation.row.op_id
        operation.start_anew(seen)
        if seen.row.op_state == CLEANING:
            seen, same = (yield from _clean(room, operation)), False
            if seen is None:
                return LOST
            operation.start_anew(seen)
        if seen.row.op_state == STARTING:
            call = operation.handle_once_more if same else operation.handle
            return (yield of_operation(call, light=operation.is_light))


def _awaited(room: Room, operation: Operation) -> Step:
    clock, row = room.clock, operation.row
    pause = min(max(0.0, (row.retry_at or 0.0) - clock.now()), pause_after(row, 1.0))
    until = clock.monotonic() + pause
    if pause > 0:
        yield Wait(pause, row.id)
    is_due = clock.monotonic() >= until
    return (yield from _transact(operation, lambda work, handle: go_on(work, handle, is_due)))


def _transact(operation: Operation, run: Callable[[Work, Held], Seen | None]) -> Step:
    handle = transitions.held(operation.row)
    return (yield Tx(lambda work: run(work, handle)))


def _clean(room: Room, operation: Operation) -> Step:
    """Remove what the attempt before has left, as a deletion would.

    It is begun again after a crash: deletions may always be. One that fails has cost an attempt.
    """
    answer: Answer = yield from _deleted(room, operation)
    if isinstance(answer, Final):
        return (yield from _transact(operation, cleaned))
    assert isinstance(answer, Failure)
    chance, reason = room.chance(), f"{answer.reason} (removing a failed attempt)"
    # whatever became of the removal, the next one is begun anew
    again: Again = NO if answer.again == NO else NEW
    failure = dataclasses.replace(answer, reason=reason, again=again)
    return (
        yield from _transact(operation, lambda work, handle: put_off(work, handle, failure, chance))
    )


def _deleted(room: Room, operation: Operation) -> Step:
    cleaner, begun = operation.cleaner(), room.clock.now()
    answer: Answer = yield of_operation(cleaner.handle)
    if operation.row.take_overs:
        handle = transitions.held(operation.row)
        yield Tx(lambda work: transitions.came_back(work, handle))
    if isinstance(answer, Waiting) and answer.delay is None:
        answer = yield of_operation(cleaner.poll)
    while isinstance(answer, Waiting | Postponed):
        delay = answer.delay
        yield Wait(room.poll_delay(begun) if delay is None else delay, operation.row.id)
        call = cleaner.poll if isinstance(answer, Waiting) else cleaner.handle
        answer = yield of_operation(call)
    return answer
