"""What can be asked of the engine, as data that travels through table ``request``.

A new one is a dataclass here and a member of ``Action``, whose work stands in a module of its own
and is found through ``acting.STEPS`` or ``plans.PLANS``. ``stack`` is a name or an id.
``to_json`` and ``from_json`` are each other's inverse.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, get_args

from zonda.core.template.bundle import Bundle

from .answers import Accepted, answered


@dataclass(frozen=True, slots=True)
class CreateStack:
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
class UpdateStack:
    """Make a stack as ``bundle`` says. None keeps what is stored.

    ``existing``: parameters that are not given again keep their values; with an empty
    ``bundle.template`` the template, environment and files stay as well. ``targets`` and
    ``excludes``: only a part of the template; the rest keeps what it has.
    """

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
class ApplyPlan:
    """Do what a plan file says (its text), and nothing if anything has changed since."""

    plan: str


@dataclass(frozen=True, slots=True)
class DeleteStack:
    """Delete every resource, then the stack. Overtakes whatever is running."""

    stack: str


@dataclass(frozen=True, slots=True)
class SuspendStack:
    """Suspend every resource, dependants first."""

    stack: str


@dataclass(frozen=True, slots=True)
class ResumeStack:
    """Resume every resource, requirements first."""

    stack: str


@dataclass(frozen=True, slots=True)
class CheckStack:
    """Ask every resource whether it is as it should be. Changes nothing."""

    stack: str


@dataclass(frozen=True, slots=True)
class CancelStack:
    """Start nothing more; ``rollback``: go back to the last good template."""

    stack: str
    rollback: bool = False


@dataclass(frozen=True, slots=True)
class RollbackStack:
    """Go back to the last good template, or to the one of generation ``to``.

    ``skip``: resources that are left as they are.
    """

    stack: str
    to: int | None = None
    skip: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RetryStack:
    """Carry out once more what has failed, with the same inputs."""

    stack: str


@dataclass(frozen=True, slots=True)
class AdoptStack:
    """Make a stack of what exists. ``resources``: name -> what Heat's ``stack abandon`` tells.

    ``force``: although other resources have the same physical ids.
    """

    name: str
    bundle: Bundle
    resources: Mapping[str, Any]
    timeout_mins: int = 60
    rollback: bool = False
    tags: tuple[str, ...] = ()
    force: bool = False


@dataclass(frozen=True, slots=True)
class AbandonStack:
    """Forget a stack and leave its resources alone.

    ``digest``: of the document that was made of it (``documents.digest``); it is refused if the
    stack has changed since. ``force``: although an action is in progress.
    """

    stack: str
    digest: str
    force: bool = False


@dataclass(frozen=True, slots=True)
class ImportResource:
    """Bind an object that exists to a resource of the template that does not.

    ``force``: although another resource has the same physical id.
    """

    stack: str
    resource: str
    physical_id: str
    force: bool = False


@dataclass(frozen=True, slots=True)
class SnapshotStack:
    """Take a snapshot of every resource."""

    stack: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class DeleteSnapshot:
    """Delete a snapshot; ``snapshot``: its id or name."""

    stack: str
    snapshot: str


@dataclass(frozen=True, slots=True)
class RestoreSnapshot:
    """Make a stack what it was when a snapshot was taken."""

    stack: str
    snapshot: str


@dataclass(frozen=True, slots=True)
class SignalResource:
    """Hand ``details`` to one resource."""

    stack: str
    resource: str
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClearHooks:
    """Let resources go on that wait at a breakpoint: names or patterns; no hooks: at any."""

    stack: str
    resources: tuple[str, ...]
    hooks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProtectStack:
    """Protect resources (without any: the stack) against deletion; not ``on``: no more."""

    stack: str
    resources: tuple[str, ...] = ()
    on: bool = True


@dataclass(frozen=True, slots=True)
class MarkResource:
    """Say that a resource is unhealthy, or ``healthy`` although a check of it has failed."""

    stack: str
    resource: str
    reason: str = ""
    healthy: bool = False


@dataclass(frozen=True, slots=True)
class CheckDrift:
    """Look at whether what was made is still as it was made. Changes nothing.

    ``resources``: paths ``OWNER/NAME``, which cover what is below them; none: all. The answer has
    the id of the check, which goes on after it.
    """

    stack: str
    resources: tuple[str, ...] = ()
    cause: str = "command"


@dataclass(frozen=True, slots=True)
class RepairDrift:
    """Put right what has drifted or is missing, and nothing else, after another look at it.

    ``resources`` as in ``CheckDrift``; none: what the newest verdicts tell of.
    """

    stack: str
    resources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SetDrift:
    """When drift is looked for: a cron expression (UTC) or an interval, ``off`` for never,
    ``environment`` for what the environment says.

    ``policy``: report, repair or off. None keeps what there is.
    """

    stack: str
    schedule: str | None = None
    policy: str | None = None


@dataclass(frozen=True, slots=True)
class IgnoreDrift:
    """Count differences as in sync: of one ``property`` (``tags`` or ``tags.env``), or any.

    ``resource`` is a path, which may have ``*`` in it. ``until``: seconds since the epoch.
    """

    stack: str
    resource: str
    property: str = ""
    reason: str = ""
    until: float | None = None


@dataclass(frozen=True, slots=True)
class UnignoreDrift:
    """Remove an exception; ``ignore``: its id, or a beginning of it that no other has."""

    stack: str
    ignore: str


__all__ = [
    "AbandonStack",
    "Accepted",
    "Action",
    "AdoptStack",
    "ApplyPlan",
    "CancelStack",
    "CheckDrift",
    "CheckStack",
    "ClearHooks",
    "CreateStack",
    "DeleteSnapshot",
    "DeleteStack",
    "IgnoreDrift",
    "ImportResource",
    "MarkResource",
    "ProtectStack",
    "RepairDrift",
    "RestoreSnapshot",
    "ResumeStack",
    "RetryStack",
    "RollbackStack",
    "SetDrift",
    "SignalResource",
    "SnapshotStack",
    "SuspendStack",
    "UnignoreDrift",
    "UpdateStack",
    "answered",
    "asked_by",
    "from_json",
    "to_json",
]

Action = (
    CreateStack
    | UpdateStack
    | ApplyPlan
    | DeleteStack
    | SuspendStack
    | ResumeStack
    | CheckStack
    | CancelStack
    | RollbackStack
    | AdoptStack
    | AbandonStack
    | ImportResource
    | SnapshotStack
    | DeleteSnapshot
    | RestoreSnapshot
    | RetryStack
    | SignalResource
    | ClearHooks
    | ProtectStack
    | MarkResource
    | CheckDrift
    | RepairDrift
    | SetDrift
    | IgnoreDrift
    | UnignoreDrift
)

_KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in get_args(Action)}


def to_json(action: Action, user: str = "") -> str:
    """The action as JSON text, with the ``user`` who asks for it."""
    values = {item.name: getattr(action, item.name) for item in fields(action)}
    if isinstance(values.get("bundle"), Bundle):
        values["bundle"] = values["bundle"].to_json()
    return json.dumps({"action": type(action).__name__, "asked by": user, **values})


def from_json(text: str) -> Action:
    """The action that ``to_json`` wrote."""
    values = json.loads(text)
    values.pop("asked by", None)
    kind = _KINDS[values.pop("action")]
    if values.get("bundle") is not None:
        values["bundle"] = Bundle.from_json(values["bundle"])
    for item in fields(kind):
        if isinstance(values.get(item.name), list) and "tuple" in str(item.type):
            values[item.name] = tuple(values[item.name])
    made: Action = kind(**values)
    return made


def asked_by(text: str) -> str:
    """The user that ``to_json`` was given."""
    return str(json.loads(text).get("asked by", ""))
