"""Actions on drift: check, repair, schedule and exceptions."""

from __future__ import annotations

from zonda.hooks.records import dataclass

from .base import Action


@dataclass(frozen=True, slots=True)
class CheckDrift(Action):
    """Compare the resources with what was made. Changes nothing.

    ``resources``: paths ``OWNER/NAME``, which cover what is below them; none: all. The answer has
    the id of the check, which goes on after it.
    """

    stack: str
    resources: tuple[str, ...] = ()
    cause: str = "command"


@dataclass(frozen=True, slots=True)
class RepairDrift(Action):
    """Check the resources once more, then repair those that have drifted or are missing.

    ``resources`` as in ``CheckDrift``; none: what the newest verdicts tell of.
    """

    touches_all = False

    stack: str
    resources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SetDrift(Action):
    """The times of drift checks: a cron expression (UTC) or an interval, ``off`` for never,
    ``environment`` for what the environment says.

    ``policy``: report, repair or off. None keeps what there is.
    """

    stack: str
    schedule: str | None = None
    policy: str | None = None


@dataclass(frozen=True, slots=True)
class IgnoreDrift(Action):
    """Count differences as in sync: of one ``property`` (``tags`` or ``tags.env``), or any.

    ``resource`` is a path, which may have ``*`` in it. ``until``: seconds since the epoch.
    """

    stack: str
    resource: str
    property: str = ""
    reason: str = ""
    until: float | None = None


@dataclass(frozen=True, slots=True)
class UnignoreDrift(Action):
    """Remove an exception; ``ignore``: its id, or a beginning of it that no other has."""

    stack: str
    ignore: str
