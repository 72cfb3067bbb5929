"""Schedules for an engine: APScheduler is imported by the first schedule that is read.

Most commands have nothing to do with schedules, and loading it takes as long as they do.
"""

from __future__ import annotations


class Timing:
    """See ``zonda.core.engine.model.drift_timing.Timing``."""

    def next(self, text: str, after: float) -> float:
        """Compute the first time after ``after``; raises UsageError for a bad schedule."""
        from .triggers import Triggers

        return Triggers().next(text, after)
