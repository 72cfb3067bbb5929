"""The load of an engine, for whoever watches it."""

from __future__ import annotations

from zonda.hooks.records import dataclass


@dataclass(frozen=True, slots=True)
class EngineLoad:
    """The work of an engine at one moment.

    ``inbox``: messages that wait; ``calls``: resources that are worked on; ``late``: seconds since
    the poll that has waited longest was due; ``sweep_age``: seconds since the last sweep.
    """

    inbox: int
    calls: int
    late: float
    sweep_age: float
