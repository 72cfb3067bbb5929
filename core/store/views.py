"""What readers are given: frozen, plain, hidden values already redacted.

Times are seconds since the epoch (UTC). ``status`` alone is the second half of Heat's state; the
property ``state`` joins both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

REDACTED = "******"


@dataclass(frozen=True, slots=True)
class StackView:
    """One stack. ``phase`` is IDLE, UP or DOWN; ``deadline`` ends the running action."""

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

    @property
    def state(self) -> str:
        """``ACTION_STATUS``, e.g. ``CREATE_COMPLETE``."""
        return f"{self.action}_{self.status}"

    @property
    def idle(self) -> bool:
        """Whether nothing is planned or running."""
        return self.phase == "IDLE"


@dataclass(frozen=True, slots=True)
class ResourceView:
    """One resource instance; hidden properties and attributes are ``******``.

    ``op`` is the running action or '' with when it began and when it is given up. ``present`` is
    False for an instance that is to be deleted (removed or replaced).
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

    @property
    def state(self) -> str:
        """``ACTION_STATUS``; ``INIT_COMPLETE`` before anything was done."""
        return f"{self.action}_{self.status}"


@dataclass(frozen=True, slots=True)
class EventView:
    """One change of state of a stack (``resource_name`` is '') or of a resource."""

    id: str
    seq: int
    at: float
    stack_id: str
    stack_name: str
    resource_name: str
    resource_type: str
    physical_id: str | None
    action: str
    status: str
    reason: str
    resource_id: str | None = None

    @property
    def state(self) -> str:
        """``ACTION_STATUS``."""
        return f"{self.action}_{self.status}"


@dataclass(frozen=True, slots=True)
class TemplateView:
    """A stored template with all that was given with it. ``body`` is the bundle's JSON text."""

    id: str
    stack_id: str
    body: str
    created_at: float


@dataclass(frozen=True, slots=True)
class RequestView:
    """A command that another process left for the engine. ``answer`` is None until done."""

    id: str
    action: str
    created_at: float
    answer: str | None
    answered_at: float | None
