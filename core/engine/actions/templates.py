"""Actions on whole stacks, with a template."""

from __future__ import annotations

from zonda.core.template.source.bundle import Bundle
from zonda.hooks.records import dataclass

from .base import Action, Templated


@dataclass(frozen=True, slots=True)
class CreateStack(Templated):
    """Create a stack; ``rollback``: undo everything if it fails.

    ``targets`` and ``excludes``: only a part of the template (``selection``). ``drift_schedule``
    and ``drift_policy``: see ``SetDrift``; None leaves it to the environment.
    """

    name: str
    bundle: Bundle
    timeout_mins: int = 60
    rollback: bool = False
    tags: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    drift_schedule: str | None = None
    drift_policy: str | None = None


@dataclass(frozen=True, slots=True)
class UpdateStack(Templated):
    """Update a stack to ``bundle``. None keeps the stored value.

    ``existing``: parameters that are not given again keep their values; with an empty
    ``bundle.template`` the template, environment and files stay as well. ``targets`` and
    ``excludes``: only a part of the template; the rest keeps what it has.
    """

    touches_all = False

    stack: str
    bundle: Bundle
    existing: bool = False
    timeout_mins: int | None = None
    rollback: bool | None = None
    tags: tuple[str, ...] | None = None
    targets: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    drift_schedule: str | None = None
    drift_policy: str | None = None


@dataclass(frozen=True, slots=True)
class ApplyPlan(Action):
    """Apply a plan file (its text), unless anything has changed since it was made."""

    touches_all = may_wait = False

    plan: str
