"""Schedules of drift checks: the stacks that are due, and the begin of their checks.

When a stack is due next is stored by compare-and-set in the transaction that stores the check as
running: of several processes one fires, and after a crash the check is due again.
"""

from __future__ import annotations

import logging

from zonda.core.store.schema.rows import StackRow
from zonda.core.store.schema.words import SCHEDULE
from zonda.core.template.environment.drift_section import OFF, REPAIR
from zonda.hooks.errors import UsageError

from ..model.drift_timing import Timing, compute_next_due
from ..model.states import IDLE
from ..model.unit_of_work import UnitOfWork
from ..services import EngineServices
from . import store
from .findings import Check

log = logging.getLogger(__name__)

#: Seconds that two ways to compute the same time may differ.
_TOLERANCE = 1.0
#: How many checks one sweep begins; the others stay due. It holds up everything else.
_AT_ONCE = 200


class DueChecks:
    """The schedules of all stacks, for one engine."""

    def __init__(self, services: EngineServices) -> None:
        self._services = services
        #: When the last sweep was, by the wall clock: it may have been set back since.
        self._swept: float | None = None
        #: Stacks whose time may lie farther away than their schedule says.
        self._doubted: list[str] = []

    def __call__(self, work: UnitOfWork) -> None:
        """One sweep."""
        timing = self._services.settings.timing
        if timing is None:
            return
        work.tx.flush()
        doubted = self._doubted
        if self._swept is None or work.now < self._swept:
            doubted = work.tx.drift.list_scheduled()
        for key in doubted[-_AT_ONCE:]:
            _limit_due(work, timing, key)
        work.after.then.append(lambda: self._end_sweep(work.now, doubted[:-_AT_ONCE]))
        work.tx.flush()
        left = _AT_ONCE
        for key, since in work.tx.drift.due(work.now):
            left -= _begin_due(work, timing, key, since)
            if not left:
                break

    def _end_sweep(self, at: float, doubted: list[str]) -> None:
        self._swept, self._doubted = at, doubted


def _limit_due(work: UnitOfWork, timing: Timing, key: str) -> None:
    """Move the next time of a stack back where the schedule says an earlier one."""
    stack = work.tx.stack(key)
    if stack is None or stack.drift_next is None or stack.drift_next <= work.now:
        return
    at = _next_due(work, timing, stack)
    if at is None or stack.drift_next > at + _TOLERANCE:
        stack.drift_next = at


def _begin_due(work: UnitOfWork, timing: Timing, key: str, since: float) -> bool:
    """Begin the due check of one stack; returns whether anything was done."""
    stack = work.tx.stack(key)
    if stack is None or stack.phase != IDLE or stack.next_action:
        return False  # put off: it stays due until what is being done has ended
    at = _next_due(work, timing, stack)
    if at is None:
        stack.drift_next = None
        return True
    if not work.tx.drift.advance(stack.id, since, at):
        return True
    stack.drift_next = at
    if work.tx.drift.running(stack.id) or stack.suspended or stack.action == "DELETE":
        return True  # there is one already, or nothing to be looked at
    if stack.drift_policy == OFF:
        return True
    row = store.begin(work, stack, SCHEDULE, "", ())
    work.after.checks.append(Check(row, repairs=stack.drift_policy == REPAIR))
    return True


def _next_due(work: UnitOfWork, timing: Timing, stack: StackRow) -> float | None:
    try:
        return compute_next_due(timing, stack.drift_schedule, stack.id, work.now)
    except UsageError:
        log.warning("Stack %s has a schedule that is none: %r", stack.id, stack.drift_schedule)
        return None
