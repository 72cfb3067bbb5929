"""What schedules mean on the clock, for an engine: APScheduler is loaded by the first that is read.

Most commands have nothing to do with schedules, and loading it takes as long as they do.
"""

from __future__ import annotations


class Timing:
    """See ``zonda.core.engine.model.drift_timing.Timing``."""

    def next(self, text: str, after: float) -> float:
        """The first time after ``after``; raises UsageError for a schedule that is none."""
        from .triggers import Triggers

        return Triggers().next(text, after)
