"""Attempts: never more than the user allows, never before their pause is over."""

from __future__ import annotations

from typing import Any

from zonda.core.engine.model.states import BACKOFF, CLEANING, RETRY, STARTING

from .clock import SetClock
from .world import Violation


class Attempts:
    """Counts them, per operation."""

    def __init__(self, clock: SetClock) -> None:
        self._clock = clock
        self._made: dict[str, int] = {}
        self._most: dict[str, int] = {}
        # Since when, and for how long.
        self._pauses: dict[str, tuple[float, float]] = {}

    def changed(self, change: Any) -> None:
        """A row has changed."""
        before, now = change.before, change.now
        if now is None or not now.op:
            return
        if change.began:
            retry = change.policies.retry(now.name, now.type, now.op.lower())
            self._made[now.id], self._most[now.id] = 1, retry.attempts
            return
        if before is None or not before.op:
            return
        pausing = before.op_state in (BACKOFF, CLEANING) or before.retry_at is not None
        if pausing and now.op_state == STARTING and before.op_state != STARTING:
            self._again(now)
        if before.op_state in (BACKOFF, RETRY) and now.op_state in (CLEANING, STARTING):
            self._check_pause(now)
        if now.retry_at is not None and now.retry_at != before.retry_at:
            pause = self._clock.count_seconds_until(now.retry_at)
            self._pauses[now.id] = self._clock.elapsed, pause

    def _again(self, row: Any) -> None:
        self._made[row.id] += 1
        if self._made[row.id] > self._most[row.id]:
            raise Violation(f"attempt {self._made[row.id]} of {row.op} of {row.name}")

    def _check_pause(self, row: Any) -> None:
        known = self._pauses.pop(row.id, None)
        if known is None:
            return
        since, pause = known
        waited = self._clock.elapsed - since
        if waited + 0.001 < pause:
            raise Violation(f"{row.name} is tried again after {waited} s instead of {pause} s")
