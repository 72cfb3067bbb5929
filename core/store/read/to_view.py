"""Rows as views: JSON opened, hidden values replaced. Called by ``reads.py``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from zonda.core.template.environment import policies
from zonda.core.template.environment.policies import Policies
from zonda.hooks.text.redaction import MASK

from ..schema.rows import PREFIX, EventRow, FailedRow, ResourceRow, StackRow, event_values
from ..values.sealing import Sealer
from .views import ActionView, EventView, FailedView, ResourceView, StackView


def to_stack_view(row: StackRow) -> StackView:
    """The view of a stack."""
    return StackView(
        id=row.id,
        name=row.name,
        project=row.project,
        action=row.action,
        status=row.status,
        status_reason=row.status_reason,
        generation=row.generation,
        phase=row.phase,
        timeout_mins=row.timeout_mins,
        deadline=row.deadline,
        disable_rollback=bool(row.disable_rollback),
        tags=tuple(json.loads(row.tags)),
        description=row.description,
        created_at=row.created_at,
        updated_at=row.updated_at,
        deleted_at=row.deleted_at,
        template_id=row.template_id,
        good_template_id=row.good_template_id,
        owner_resource_id=row.owner_resource_id,
        root_id=row.root,
        protected=bool(row.protect) or policies.parse_policies(row.policies).protects_stack,
        suspended=bool(row.suspended),
        drift_policy=row.drift_policy,
        drift_schedule=row.drift_schedule,
        drift_next=row.drift_next,
    )


def to_resource_view(
    row: ResourceRow, required_by: Iterable[str], sealer: Sealer, known: Policies
) -> ResourceView:
    """The view of a resource, hidden values redacted. ``known``: the policies of its stack."""
    hidden = json.loads(row.hidden)
    shown = row.op_properties if row.properties is None else row.properties
    return ResourceView(
        id=row.id,
        name=row.name,
        type=row.type,
        stack_id=row.stack_id,
        physical_id=row.physical_id,
        reference=_read_reference(row, hidden, sealer),
        action=row.op or row.action,
        status="IN_PROGRESS" if row.op else row.status,
        status_reason=row.status_reason,
        op=row.op,
        op_started_at=row.started_at if row.op else None,
        op_deadline=row.deadline if row.op else None,
        requires=tuple(json.loads(row.requires)),
        required_by=tuple(sorted(required_by)),
        created_at=row.created_at,
        updated_at=row.updated_at,
        properties=_mask(sealer.load(shown) or {}, hidden.get("properties", ())),
        attributes=_mask(sealer.load(row.outputs) or {}, hidden.get("attributes", ())),
        metadata=_read_metadata(row, sealer),
        present=row.want == "PRESENT",
        replaces_id=row.replaces_id,
        failed_attempts=row.failed_attempts,
        most_attempts=row.most_attempts,
        next_attempt_at=row.retry_at if row.op else None,
        hook="" if row.hook.startswith("+") else row.hook,
        hook_until=row.hook_until,
        protected=bool(row.protect or (row.outputs_hash and known.protects(row.name, row.type))),
        deletion_policy=row.deletion_policy,
    )


def to_action_view(key: str, stack_id: str, generation: int, *rest: Any) -> ActionView:
    """The view of a row of ``action``."""
    action, detail, *others = rest
    return ActionView(key, stack_id, generation, action, json.loads(detail), *others)


def to_failed_view(row: FailedRow, sealer: Sealer) -> FailedView:
    """The view of an operation that failed, hidden properties redacted."""
    hidden = json.loads(row.hidden)
    return FailedView(
        generation=row.generation,
        resource_id=row.resource_id,
        resource_name=row.resource_name,
        resource_type=row.resource_type,
        physical_id=row.physical_id,
        op=row.op,
        op_id=row.op_id,
        template_id=row.template_id,
        properties=_mask(sealer.load(row.properties) or {}, hidden.get("properties", ())),
        attempt=row.attempt,
        started_at=row.started_at,
        at=row.at,
        during=row.during,
        kind=row.kind,
        code=row.code,
        path=tuple(json.loads(row.path)),
        reason=row.reason,
        trace=sealer.load(row.trace) or "",
    )


def to_event_view(found: tuple[Any, ...]) -> EventView:
    """The view of a row of ``event``."""
    (
        seq,
        key,
        stack_id,
        stack,
        generation,
        resource_id,
        name,
        kind,
        physical,
        action,
        status,
        reason,
        at,
    ) = found
    return EventView(
        id=key,
        seq=seq,
        at=at,
        stack_id=stack_id,
        stack_name=stack,
        resource_name=name,
        resource_type=kind,
        physical_id=physical,
        action=action,
        status=status,
        reason=reason,
        resource_id=resource_id,
        generation=generation,
    )


def to_new_event_view(seq: int, row: EventRow) -> EventView:
    """The view of an event that was just written."""
    (key, stack_id, stack, generation, *rest) = event_values(row)
    return to_event_view((seq, key, stack_id, stack, generation, *rest))


def _mask(values: Mapping[str, Any], hidden: Iterable[str]) -> dict[str, Any]:
    masked = set(hidden)
    return {key: MASK if key in masked else value for key, value in values.items()}


def _read_metadata(row: ResourceRow, sealer: Sealer) -> dict[str, Any]:
    """The metadata; sealed metadata is masked as a whole."""
    found: dict[str, Any] = sealer.load(row.meta) or {}
    return dict.fromkeys(found, MASK) if row.meta.startswith(PREFIX) else found


def _read_reference(row: ResourceRow, hidden: Mapping[str, Any], sealer: Sealer) -> Any:
    if row.reference is None:
        return row.name
    return MASK if hidden.get("reference") else sealer.load(row.reference)
