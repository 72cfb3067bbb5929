"""Delays that an endpoint asks for, and those before the next poll.

Pure: time and randomness are arguments.
"""

from __future__ import annotations

import random
from email.utils import parsedate_to_datetime

LONGEST_RETRY_AFTER = 300.0
LONGEST_POLL = 15.0


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


def compute_poll_interval(age: float, chance: random.Random) -> float:
    """Seconds to the next poll of an execution that runs for ``age`` seconds.

    1 s growing by 1.5 to 15 s: the n-th interval 1.5^n ends the time 2 (1.5^n - 1), so that the
    interval at an age is 1 + age / 2, and nothing needs to be counted. Jittered by a fifth.
    """
    return min(LONGEST_POLL, 1.0 + max(0.0, age) / 2) * chance.uniform(0.8, 1.2)
