"""Points in time and durations as texts. Called by the faces."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from functools import lru_cache


def format_time(seconds: float | None) -> str | None:
    """Format a point in time as in Heat, e.g. ``2026-11-21T10:00:00Z``; None for None.

    What no calendar has is told as the nearest time that it has: one bad row hides no list.
    """
    if seconds is None:
        return None
    try:
        return _format_second(math.floor(seconds))
    except (OverflowError, OSError, ValueError):
        return "0001-01-01T00:00:00Z" if seconds < 0 else "9999-12-31T23:59:59Z"


@lru_cache(maxsize=16)
def _format_second(second: int) -> str:
    """The text of a second: hundreds of events are of the same one."""
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def format_duration(seconds: float) -> str:
    """Format a duration: ``0.4 s``, ``12 s``, ``3:05`` or ``1:02:05``."""
    if seconds < 10:
        return f"{max(seconds, 0):.1f} s"
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    hours, rest = divmod(whole, 3600)
    minutes = f"{rest // 60:02}" if hours else f"{rest // 60}"
    return ":".join(filter(None, (str(hours) if hours else "", minutes, f"{rest % 60:02}")))
