"""Waiting without a thread: the start and the length stand in the token, the clock decides.

Used by the types here whose operations take time on purpose.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.hooks.context import Clock
from zonda.hooks.errors import NotReady


def wait_token(clock: Clock, seconds: float) -> dict[str, Any]:
    """A token that is complete ``seconds`` from now; never, if they are below zero."""
    return {"started_at": clock.now(), "wait_secs": seconds}


def waited(clock: Clock, token: Mapping[str, Any]) -> bool:
    """Whether the time is over; raises NotReady with the rest of it where it is not."""
    seconds = token["wait_secs"]
    if seconds < 0:
        return False
    rest = token["started_at"] + seconds - clock.now()
    if rest > 0:
        raise NotReady(rest, f"waits {rest:g} s more")
    return True
