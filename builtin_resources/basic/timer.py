"""Waiting without a thread: the start and the length stand in the token, the clock decides.

Used by the types here whose operations take time on purpose. A clock that was set back to before
the start begins the wait anew.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from zonda.hooks import Clock, NotReady

#: Seconds that count as none: a difference of two times of today has no finer digits.
_LEAST = 1e-3


def make_wait_token(clock: Clock, seconds: float) -> dict[str, Any]:
    """A token that is complete ``seconds`` from now; never, if they are below zero."""
    return {"started_at": clock.now(), "wait_secs": seconds}


def get_age(clock: Clock, token: MutableMapping[str, Any]) -> float:
    """Seconds since the start that stands in a token."""
    token["started_at"] = min(token["started_at"], clock.now())
    return float(clock.now() - token["started_at"])


def is_over(clock: Clock, token: MutableMapping[str, Any]) -> bool:
    """Whether the time is over; raises NotReady with the rest of it where it is not."""
    seconds = token["wait_secs"]
    if seconds < 0:
        return False
    rest = seconds - get_age(clock, token)
    if rest > _LEAST:
        raise NotReady(rest, f"waits {rest:g} s more")
    return True
