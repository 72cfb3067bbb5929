"""Views of the database: frozen, plain, hidden values already redacted.

Times are seconds since the epoch (UTC). ``status`` alone is the second half of Heat's state; the
property ``state`` joins both.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from zonda.hooks.records import dataclass


@dataclass(frozen=True, slots=True)
class StackView:
    """One stack. ``phase`` is IDLE, UP or DOWN; ``deadline`` ends the running action.

    ``suspended``: from the moment a SUSPEND begins until a RESUME has worked. ``drift_policy`` is
    OFF, report or repair; ``drift_next``: when drift is looked for by ``drift_schedule``.
    """

    id: str
    name: str
    project: str
    action: str
    status: str
    status_reason: str
    generation: int
    phase: str
    timeout_mins: int
    deadline: float | None
    disable_rollback: bool
    tags: tuple[str, ...]
    description: str
    created_at: float
    updated_at: float | None
    deleted_at: float | None
    template_id: str | None
    good_template_id: str | None = None
    owner_resource_id: str | None = None
    root_id: str = ""
    protected: bool = False
    suspended: bool = False
    drift_policy: str = "OFF"
    drift_schedule: str = ""
    drift_next: float | None = None

    @property
    def state(self) -> str:
        """``ACTION_STATUS``, e.g. ``CREATE_COMPLETE``."""
        return f"{self.action}_{self.status}"

    @property
    def idle(self) -> bool:
        """Whether nothing is planned or running."""
        return self.phase == "IDLE"


def format_deletion_time(stack: StackView) -> str:
    """The time when a deleted (or abandoned) stack was deleted, as Heat writes it; UTC."""
    return datetime.fromtimestamp(stack.deleted_at or 0, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True)
class ResourceView:
    """One resource instance; hidden properties and attributes are ``(hidden)``.

    ``op`` is the running action or '' with when it began and when it is given up. ``present`` is
    False for an instance that is to be deleted (removed or replaced). ``failed_attempts`` of
    ``most_attempts`` are those of the last operation; ``hook`` is the breakpoint that it waits at
    or ''; ``protected``: by command or by the environment.
    """

    id: str
    name: str
    type: str
    stack_id: str
    physical_id: str | None
    reference: Any
    action: str
    status: str
    status_reason: str
    op: str
    op_started_at: float | None
    op_deadline: float | None
    requires: tuple[str, ...]
    required_by: tuple[str, ...]
    created_at: float
    updated_at: float
    properties: dict[str, Any]
    attributes: dict[str, Any]
    metadata: dict[str, Any]
    present: bool = True
    replaces_id: str | None = None
    failed_attempts: int = 0
    most_attempts: int = 1
    next_attempt_at: float | None = None
    hook: str = ""
    hook_until: float | None = None
    protected: bool = False
    deletion_policy: str = "Delete"

    @property
    def state(self) -> str:
        """``ACTION_STATUS``; ``INIT_COMPLETE`` before anything was done."""
        return f"{self.action}_{self.status}"


@dataclass(frozen=True, slots=True)
class ResourceSummary:
    """One resource instance without its values: what lists and explanations tell of it.

    ``want`` is PRESENT, or what becomes of an instance that is to go; ``verb``: what is planned.
    ``dirty``: whether something that it requires has changed since.
    """

    id: str
    stack_id: str
    name: str
    type: str
    physical_id: str | None
    want: str
    verb: str
    action: str
    status: str
    status_reason: str
    op: str
    attempt: int
    started_at: float | None
    deadline: float | None
    hook: str
    hook_until: float | None
    updated_at: float
    dirty: int

    @property
    def state(self) -> str:
        """``ACTION_STATUS``, of the running operation if there is one."""
        return f"{self.op}_IN_PROGRESS" if self.op else f"{self.action}_{self.status}"


@dataclass(frozen=True, slots=True)
class EventView:
    """One change of state of a stack (``resource_name`` is '') or of a resource."""

    seq: int
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

    @property
    def state(self) -> str:
        """``ACTION_STATUS``."""
        return f"{self.action}_{self.status}"


@dataclass(frozen=True, slots=True)
class ActionView:
    """One plan of a stack, its user, and its end.

    ``status``: IN_PROGRESS, COMPLETE, FAILED, CANCELLED, TIMED_OUT or SUPERSEDED. ``template_id``
    is the template that the stack had from then on; equal hashes mean equal texts and parameters.
    """

    id: str
    stack_id: str
    generation: int
    action: str
    detail: dict[str, Any]
    by: str
    started_at: float
    ended_at: float | None
    status: str
    status_reason: str
    template_id: str | None
    template_hash: str
    environment_hash: str

    @property
    def state(self) -> str:
        """The state that the stack had at the end of it, as Heat calls it."""
        ours = {"CANCELLED", "TIMED_OUT"}
        status = "FAILED" if self.status in ours else self.status
        return f"{self.action}_{'IN_PROGRESS' if status == 'SUPERSEDED' else status}"


@dataclass(frozen=True, slots=True)
class FailedView:
    """An operation that failed. ``during``, ``kind`` and ``code`` classify the failure.

    ``attempt``: how many times the handler was called; 0 where nothing was begun. ``trace``: where
    a plug-in has raised the error.
    """

    generation: int
    resource_id: str
    resource_name: str
    resource_type: str
    physical_id: str | None
    op: str
    op_id: str | None
    template_id: str | None
    properties: dict[str, Any]
    attempt: int
    started_at: float | None
    at: float
    during: str
    kind: str
    code: str
    path: tuple[str | int, ...]
    reason: str
    trace: str = ""


@dataclass(frozen=True, slots=True)
class TemplateView:
    """A stored template with environment and files: the form of ``format_bundle``, or a spec."""

    id: str
    stack_id: str
    body: Mapping[str, Any]
    created_at: float
    base_id: str | None = None


@dataclass(frozen=True, slots=True)
class RequestView:
    """A command that another process left for the engine. ``answer`` is None until done."""

    id: str
    action: str
    created_at: float
    answer: str | None
    answered_at: float | None


@dataclass(frozen=True, slots=True)
class OutputView:
    """One output. ``error``: the reason for no value; ``secrecy``: open, sealed or hidden."""

    name: str
    description: str
    value: Any
    error: str = ""
    secrecy: str = "open"
