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


def compute_lateness(age: float) -> float:
    """Seconds after which the end of a run of this length is to be seen."""
    return max(FIRST_POLL, age / 10)


def compute_poll_interval(
    age: float, chance: random.Random, spent: float = 0.0, length: float | None = None
) -> float:
    """Seconds to the next poll of an execution that runs for ``age`` seconds.

    ``length``: what such runs take, where that is known: older ones are asked so often that their
    end is seen in time, younger ones have a poll at that age. Else it is 0.5 s and a quarter of the
    age from the begin of one poll to that of the next, so that an end is seen an eighth of the
    run's length late on average. Never more than 15 s; jittered by a tenth. ``spent``: seconds that
    the last poll has taken; polls take a third of the time at most.
    """
    age = max(0.0, age)
    if length is not None and age + FIRST_POLL / 2 >= length:
        interval = min(LONGEST_POLL, compute_lateness(age)) * chance.uniform(0.9, 1.0)
        return max(interval - spent, interval / 5)
    interval = max(min(LONGEST_POLL, FIRST_POLL + age / 4), 3 * spent) * chance.uniform(0.9, 1.1)
    if length is not None:
        interval = min(interval, length - age)
    return max(interval - spent, interval / 2)
