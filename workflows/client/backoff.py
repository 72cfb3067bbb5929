"""Delays that an endpoint asks for, and those before the next poll.

Pure: time and randomness are arguments.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

#: Seconds that are waited at least, and at most, where an endpoint asks for a time.
LEAST_RETRY_AFTER, LONGEST_RETRY_AFTER = 0.1, 300.0
FIRST_POLL, LONGEST_POLL = 0.5, 15.0


def parse_retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that ``Retry-After`` asks for (a number or a date), at most 5 minutes.

    A date is one of the sender's clock, which ``Date`` tells; else it is compared with ``now``.
    """
    text = headers.get("Retry-After")
    if not text:
        return None
    try:
        return limit_delay(float(text))
    except ValueError:
        until, sent = _parse_date(text), _parse_date(headers.get("Date", ""))
    return None if until is None else limit_delay(max(0.0, until - (now if sent is None else sent)))


def limit_delay(seconds: float | None) -> float | None:
    """A delay that an endpoint asked for, 0.1 s to 5 minutes; None where it is no usable number."""
    if seconds is None or not seconds >= 0:
        return None
    return min(max(seconds, LEAST_RETRY_AFTER), LONGEST_RETRY_AFTER)


def _parse_date(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError):
        return None


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
