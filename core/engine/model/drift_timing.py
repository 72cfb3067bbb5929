"""The times of drift checks: the schedules of the engine, and how they are spread.

Everything is a function of the time that it is now: nothing is lost by a restart, what was missed
is made up by one firing, and a clock that was set back is noticed.
"""

from __future__ import annotations

import hashlib
from typing import Protocol

#: The longest that a stack is put off so that not all are looked at in the same moment.
MOST_JITTER = 60.0


class Timing(Protocol):
    """Schedules as text: cron expressions and intervals. Raises UsageError for other texts."""

    def next(self, text: str, after: float) -> float:
        """The first time after ``after`` (seconds since the epoch)."""


def compute_next_due(timing: Timing, text: str, stack_id: str, now: float) -> float:
    """Compute the next due time of a stack, after ``now``.

    Each time of the schedule has one, before the next time of the schedule.
    """
    digest = hashlib.blake2b(stack_id.encode(), digest_size=4).digest()
    share = int.from_bytes(digest, "big") / 2**32
    at = timing.next(text, now - MOST_JITTER)
    while True:
        following = timing.next(text, at)
        due = at + share * min((following - at) / 10, MOST_JITTER)
        if due > now:
            return due
        at = following
