"""Rows as the engine holds them while a transaction runs: mutable, one field per column.

The fields stand in the order of the columns in ``tables.py`` (a test compares them).
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from zonda.hooks.records import dataclass, fields

PREFIX = "sealed:"


@dataclass(slots=True)
class StackRow:
    """One row of ``stack``."""

    id: str
    project: str
    name: str
    owner_resource_id: str | None = None
    root_id: str = ""
    generation: int = 0
    phase: str = "IDLE"
    remaining: int = 0
    halted: int = 0
    failures: str = "[]"
    next_action: str = ""
    note: str = ""
    action: str = ""
    status: str = ""
    status_reason: str = ""
    template_id: str | None = None
    good_template_id: str | None = None
    good_parts: str = "{}"
    outside: str = "[]"
    disable_rollback: int = 1
    timeout_mins: int = 60
    deadline: float | None = None
    description: str = ""
    tags: str = "[]"
    suspended: int = 0
    before: str = ""
    policies: str = ""
    protect: int = 0
    drift_policy: str = "OFF"
    drift_schedule: str = ""
    drift_next: float | None = None
    drift_by: str = ""
    drift_said: str = ""
    created_at: float = 0.0
    updated_at: float | None = None
    deleted_at: float | None = None
    created_by: str = ""

    @property
    def root(self) -> str:
        """The id of the stack at the top of its tree; its own, if it is not nested."""
        return self.root_id or self.id


@dataclass(slots=True)
class ResourceRow:
    """One row of ``resource``."""

    id: str
    stack_id: str
    name: str
    type: str
    class_type: str = ""
    replaces_id: str | None = None
    cause: str = ""
    generation: int = 0
    want: str = "PRESENT"
    verb: str = ""
    want_hash: str = ""
    want_template_id: str | None = None
    requires: str = "[]"
    waiting: int = 0
    dirty: int = 0
    open: int = 0
    ceiling: str = ""
    action: str = "INIT"
    status: str = "COMPLETE"
    status_reason: str = ""
    have_hash: str = ""
    resolved_hash: str = ""
    have_template_id: str | None = None
    definition: str | None = None
    properties: str | None = None
    hidden: str = "{}"
    deletion_policy: str = "Delete"
    external_id: str | None = None
    physical_id: str | None = None
    reference: str | None = None
    outputs: str | None = None
    outputs_hash: str = ""
    below: int = 0
    below_seen: int = 0
    meta: str = "{}"
    suspended: int = 0
    given: str | None = None
    op: str = ""
    op_id: str | None = None
    op_gen: int = 0
    op_hash: str = ""
    op_template_id: str | None = None
    op_definition: str | None = None
    op_properties: str | None = None
    op_resolved: str = ""
    op_state: str = ""
    token: str | None = None
    is_volatile: int = 0
    attempt: int = 0
    failed_attempts: int = 0
    most_attempts: int = 1
    retry_delay: float = 0.0
    retry_at: float | None = None
    started_at: float | None = None
    deadline: float | None = None
    promised_deadline: float | None = None
    protect: int = 0
    hook: str = ""
    hook_until: float | None = None
    fence: int = 0
    take_overs: int = 0
    owner: str = ""
    created_at: float = 0.0
    updated_at: float = 0.0


@dataclass(slots=True)
class ActionRow:
    """One row of ``action``."""

    id: str
    stack_id: str
    generation: int
    action: str
    detail: str = "{}"
    by: str = ""
    started_at: float = 0.0
    ended_at: float | None = None
    status: str = ""
    status_reason: str = ""
    template_id: str | None = None
    template_hash: str = ""
    environment_hash: str = ""


@dataclass(slots=True)
class FailedRow:
    """One row of ``failed``."""

    id: str
    stack_id: str
    generation: int
    resource_id: str
    resource_name: str
    resource_type: str
    physical_id: str | None
    op: str
    op_id: str | None
    template_id: str | None
    properties: str | None
    hidden: str
    attempt: int
    started_at: float | None
    at: float
    during: str
    kind: str
    code: str
    path: str
    reason: str
    trace: str | None = None


@dataclass(slots=True)
class SnapshotRow:
    """One row of ``snapshot``."""

    id: str
    stack_id: str
    name: str
    generation: int = 0
    action: str = "SNAPSHOT"
    status: str = "IN_PROGRESS"
    status_reason: str = ""
    template_id: str | None = None
    data: str | None = None
    created_at: float = 0.0


@dataclass(slots=True)
class SinkRow:
    """One row of ``sink``."""

    name: str
    seq: int = 0
    delivered: int = 0
    delivered_at: float | None = None
    failures: int = 0
    failing_since: float | None = None
    error: str = ""
    next_at: float | None = None


@dataclass(slots=True)
class PlanRow:
    """The columns of an instance that a plan needs."""

    id: str
    name: str
    want: str
    want_hash: str
    action: str
    status: str
    have_hash: str
    have_template_id: str | None
    physical_id: str | None
    op: str
    dirty: int
    replaces_id: str | None = None


@dataclass(slots=True)
class EventRow:
    """One row of ``event``; ``seq`` is given by the database."""

    id: str
    stack_id: str
    stack_name: str
    generation: int
    resource_id: str | None
    resource_name: str
    resource_type: str
    physical_id: str | None
    action: str
    status: str
    reason: str
    at: float


@dataclass(slots=True)
class DriftCheckRow:
    """One row of ``drift_check``."""

    id: str
    stack_id: str
    generation: int = 0
    cause: str = ""
    by: str = ""
    scope: str = "[]"
    owner: str = ""
    started_at: float = 0.0
    ended_at: float | None = None
    status: str = "RUNNING"
    reason: str = ""
    verdict: str = ""
    counts: str = "{}"


@dataclass(slots=True)
class DriftFindingRow:
    """One row of ``drift_finding``."""

    check_id: str
    resource_id: str
    stack_id: str
    path: str
    type: str
    verdict: str
    reason: str = ""
    diff: str = "[]"
    ignored: str = ""


@dataclass(slots=True)
class DriftIgnoreRow:
    """One row of ``drift_ignore``."""

    id: str
    stack_id: str
    path: str
    property: str = ""
    until: float | None = None
    reason: str = ""
    by: str = ""
    at: float = 0.0


@dataclass(slots=True)
class DriftRow:
    """The columns of an instance that a drift check needs, with the newest verdict.

    ``check_id`` to ``verdict``: of that; None where there is none.
    """

    id: str
    stack_id: str
    name: str
    type: str
    class_type: str
    action: str
    status: str
    op: str
    suspended: int
    fence: int
    given: str | None
    want: str
    want_hash: str
    check_id: str | None
    checked_fence: int | None
    verdict: str | None
    unseen: str | None

    @property
    def current(self) -> str:
        """The newest verdict, '' where nothing was looked at since it was changed."""
        return self.verdict or "" if self.checked_fence == self.fence else ""


@dataclass(slots=True)
class SoftwareConfigRow:
    """One row of ``software_config``."""

    id: str
    project: str
    name: str
    kind: str
    body: str
    created_at: float = 0.0


@dataclass(slots=True)
class SoftwareDeploymentRow:
    """One row of ``software_deployment``."""

    id: str
    project: str
    server_id: str
    config_id: str
    body: str
    action: str = ""
    status: str = ""
    status_reason: str = ""
    created_at: float = 0.0
    updated_at: float | None = None


def list_columns(row_type: type[Any]) -> tuple[str, ...]:
    """The column names of a row type, in order."""
    return tuple(item.name for item in fields(row_type))


#: Never rewritten once a row is there.
FIXED = frozenset({"id", "stack_id", "created_at"})


stack_values = attrgetter(*list_columns(StackRow))
resource_values = attrgetter(*list_columns(ResourceRow))
#: The values that an update writes.
stack_changes = attrgetter(*(name for name in list_columns(StackRow) if name not in FIXED))
resource_changes = attrgetter(*(name for name in list_columns(ResourceRow) if name not in FIXED))
event_values = attrgetter(*list_columns(EventRow))
action_values = attrgetter(*list_columns(ActionRow))
failed_values = attrgetter(*list_columns(FailedRow))
snapshot_values = attrgetter(*list_columns(SnapshotRow))
sink_values = attrgetter(*list_columns(SinkRow))


drift_check_values = attrgetter(*list_columns(DriftCheckRow))
drift_finding_values = attrgetter(*list_columns(DriftFindingRow))
drift_ignore_values = attrgetter(*list_columns(DriftIgnoreRow))
software_config_values = attrgetter(*list_columns(SoftwareConfigRow))
software_deployment_values = attrgetter(*list_columns(SoftwareDeploymentRow))


def copy_row(row: ResourceRow) -> ResourceRow:
    """The row as it is now: what leaves a transaction must not change with it."""
    return ResourceRow(*resource_values(row))
