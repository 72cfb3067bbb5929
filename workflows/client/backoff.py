"""Delays that an endpoint asks for, and those before the next poll.

Pure: time and randomness are arguments.
"""

from __future__ import annotations

import random
from email.utils import parsedate_to_datetime

LONGEST_RETRY_AFTER = 300.0
FIRST_POLL, LONGEST_POLL = 0.5, 15.0


def parse_retry_after(text: str | None, now: float) -> float | None:
    """Seconds that a ``Retry-After`` header asks for (a number or a date), at most 5 minutes."""
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = _count_seconds_until(text, now)
    return limit_delay(seconds)


def limit_delay(seconds: float | None) -> float | None:
    """A delay that an endpoint asked for, within bounds; None where it is no usable number."""
    if seconds is None or not seconds >= 0:
        return None
    return min(seconds, LONGEST_RETRY_AFTER)


def _count_seconds_until(date: str, now: float) -> float:
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - now)
    except (ValueError, OverflowError):
        return -1.0


def compute_poll_interval(age: float, chance: random.Random, spent: float = 0.0) -> float:
    """Seconds to the next poll of an execution that runs for ``age`` seconds.

    From the begin of one poll to that of the next it is 0.5 s and a fifth of the age, at most 15 s,
    so that an end is seen a tenth of the run's length late on average; jittered by a tenth.
    ``spent``: seconds that the last poll has taken; at least half of the interval is left.
    """
    interval = min(LONGEST_POLL, FIRST_POLL + max(0.0, age) / 5) * chance.uniform(0.9, 1.1)
    return max(interval - spent, interval / 2)
