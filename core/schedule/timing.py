"""Schedules for an engine: APScheduler is imported by the first schedule that is read.

Most commands have nothing to do with schedules, and loading it takes as long as they do.
"""

from __future__ import annotations


class Timing:
    """See ``zonda.core.engine.services.Timing``."""

    def compute_next_due(self, text: str, stack_id: str, now: float) -> float:
        """Compute the next due time of a stack; raises UsageError for a bad schedule."""
        from zonda.core.engine.drift.schedule import compute_next_due

        from .triggers import compute_next_time

        return compute_next_due(compute_next_time, text, stack_id, now)
