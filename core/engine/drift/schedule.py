"""Schedules of drift checks: the next time, the stacks that are due, the begin of their checks.

The next time is a function of the time that it is now: nothing is lost by a restart, what was
missed is made up by one firing, and a clock that was set back is noticed. It is stored by
compare-and-set in the transaction that stores the check as running: of several processes one fires,
and after a crash the check is due again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from zonda.core.store.schema.rows import StackRow
from zonda.core.store.schema.words import SCHEDULE
from zonda.core.template.environment.drift_section import OFF, REPAIR
from zonda.hooks.errors import UsageError
from zonda.hooks.hashes import blake2b

from ..model.states import IDLE
from ..model.unit_of_work import UnitOfWork
from ..services import EngineServices, Timing
from . import store
from .findings import Check

log = logging.getLogger(__name__)

#: The longest that a stack is put off so that not all are looked at in the same moment.
_MOST_JITTER = 60.0
#: Seconds that two ways to compute the same time may differ.
_TOLERANCE = 1.0
#: The most checks that one sweep begins; the others stay due. A sweep holds up everything else.
_AT_ONCE = 200


def compute_next_due(
    compute_time: Callable[[str, float], float], text: str, stack_id: str, now: float
) -> float:
    """Compute the next due time of a stack, after ``now``.

    Each time of the schedule has one, before the next time of the schedule. ``compute_time`` gives
    the first time of a schedule after another time; raises UsageError for what is no schedule.
    """
    digest = blake2b(stack_id.encode(), digest_size=4).digest()
    share = int.from_bytes(digest, "big") / 2**32
    at = compute_time(text, now - _MOST_JITTER)
    while True:
        following = compute_time(text, at)
        due = at + share * min((following - at) / 10, _MOST_JITTER)
        if due > now:
            return due
        at = following


class DueChecks:
    """The schedules of all stacks, for one engine."""

    def __init__(self, services: EngineServices) -> None:
        self._services = services
        #: The time of the last sweep, by the wall clock: it may have been set back since.
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
    at = _find_next_due(work, timing, stack)
    if at is None or stack.drift_next > at + _TOLERANCE:
        stack.drift_next = at


def _begin_due(work: UnitOfWork, timing: Timing, key: str, since: float) -> bool:
    """Begin the due check of one stack; returns whether anything was done."""
    stack = work.tx.stack(key)
    if stack is None or stack.phase != IDLE or stack.next_action:
        return False  # put off: it stays due until what is being done has ended
    at = _find_next_due(work, timing, stack)
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


def _find_next_due(work: UnitOfWork, timing: Timing, stack: StackRow) -> float | None:
    try:
        return timing.compute_next_due(stack.drift_schedule, stack.id, work.now)
    except UsageError:
        log.warning("Stack %s has a schedule that is none: %r", stack.id, stack.drift_schedule)
        return None
