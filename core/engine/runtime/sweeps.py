"""Sweeps and recovery, as units of a transaction. Level-triggered: always safe to repeat.

Called by the engines; the database says what is unfinished, whatever messages were lost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ..model.unit_of_work import UnitOfWork
from ..operations import cut_off, timeouts

_HOUR = 3600.0
_DAY = 24 * _HOUR


def take_up_all(work: UnitOfWork) -> None:
    """Look at all unfinished instances."""
    reconcile(work, lambda key: False)


def take_up_after_end(work: UnitOfWork) -> None:
    """Look at all unfinished instances when an engine begins, and count them."""
    take_up_all(work)
    cut_off.count_unfinished(work)


def take_up(work: UnitOfWork, roots: Sequence[str]) -> None:
    """Look at the unfinished instances of some trees."""
    work.after.look.update(work.tx.list_runnable(*roots))
    work.after.plan.update((key, None) for key in work.tx.pending_stacks() if key in roots)
    work.after.refresh.update((key, None) for key, root in work.tx.list_behind() if root in roots)


def reconcile(work: UnitOfWork, is_busy: Callable[[str], bool]) -> None:
    """Look at every instance that could run and does not."""
    for key, stack_id in work.tx.list_runnable():
        if not is_busy(key):
            work.after.look[key] = stack_id
    for stack_id in work.tx.pending_stacks():
        work.after.plan[stack_id] = None
    work.after.refresh.update((key, None) for key, _ in work.tx.list_behind())


class StopSuperseded:
    """Ends operations that a deletion, a rollback or a cancelled stack has waited for too long.

    ``running``: the steps of this process; what nobody drives is left to whoever takes it up, so
    that its plug-in is told. ``grace`` in seconds.
    """

    def __init__(self, running: timeouts.Running, grace: float) -> None:
        self._running = running
        self._grace = grace
        # Stack -> the generation in which nothing of an older one runs any more.
        self._settled: dict[str, int] = {}

    def __call__(self, work: UnitOfWork) -> None:
        """One sweep."""
        settled: dict[str, int] = {}
        work.after.then.append(lambda: self._note_settled(settled))
        for key in work.tx.overdue_stacks(math.inf):
            stack = work.tx.stack(key)
            if stack is None:
                continue
            if self._settled.get(key) == stack.generation:
                settled[key] = stack.generation
                continue
            if timeouts.compute_wait_end(stack, self._grace) is None:
                continue
            left = timeouts.stop_superseded(work, stack, self._running, self._grace)
            if not left and not timeouts.is_cancelled(stack):
                settled[key] = stack.generation

    def _note_settled(self, settled: dict[str, int]) -> None:
        self._settled = settled


def delete_old(work: UnitOfWork, keep_events: float) -> None:
    """Delete events older than ``keep_events`` seconds, and unused rows."""
    work.tx.forget(work.now - keep_events, work.now - _HOUR, work.now - _DAY)
