"""Points in time and durations as texts. Called by the faces."""

from __future__ import annotations

from datetime import UTC, datetime


def format_time(seconds: float | None) -> str | None:
    """Format a point in time as in Heat, e.g. ``2026-11-21T10:00:00Z``; None for None.

    What no calendar has is told as the nearest time that it has: one bad row hides no list.
    """
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, OSError, ValueError):
        return "0001-01-01T00:00:00Z" if seconds < 0 else "9999-12-31T23:59:59Z"


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
