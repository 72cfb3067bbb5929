"""Rows as views: JSON opened, hidden values replaced. Called by ``reads.py``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar

from zonda.core.template.environment import policies
from zonda.core.template.environment.policies import Policies
from zonda.hooks.records import fields
from zonda.hooks.text.redaction import MASK

from ..schema.rows import PREFIX, FailedRow, ResourceRow, StackRow
from ..values.sealing import Sealer
from .views import ActionView, FailedView, ResourceSummary, ResourceView, StackView

View = TypeVar("View")


@cache
def _find_shared_columns(view: Any, row: Any) -> tuple[tuple[str, ...], Callable[[Any], Any]]:
    """The names of the columns that a view and a row share, and what reads them of a row."""
    columns = {field.name for field in fields(row)}
    shared = tuple(field.name for field in fields(view) if field.name in columns)
    return shared, attrgetter(*shared)


def copy_columns(view: Callable[..., View], row: Any, **others: Any) -> View:
    """The view of a row: columns of the same name as they are, and ``others``."""
    shared, read = _find_shared_columns(view, row.__class__)
    return view(**dict(zip(shared, read(row), strict=True)) | others)


def to_stack_view(row: StackRow) -> StackView:
    """The view of a stack."""
    return copy_columns(
        StackView,
        row,
        disable_rollback=bool(row.disable_rollback),
        tags=tuple(json.loads(row.tags)),
        root_id=row.root,
        protected=bool(row.protect) or policies.parse_policies(row.policies).protects_stack,
        suspended=bool(row.suspended),
    )


def to_resource_summary(row: ResourceRow) -> ResourceSummary:
    """The summary of a resource."""
    return copy_columns(ResourceSummary, row)


def to_resource_view(
    row: ResourceRow, required_by: Iterable[str], sealer: Sealer, known: Policies
) -> ResourceView:
    """The view of a resource, hidden values redacted. ``known``: the policies of its stack."""
    hidden = json.loads(row.hidden)
    shown = row.op_properties if row.properties is None else row.properties
    return copy_columns(
        ResourceView,
        row,
        reference=_read_reference(row, hidden, sealer),
        action=row.op or row.action,
        status="IN_PROGRESS" if row.op else row.status,
        op_started_at=row.started_at if row.op else None,
        op_deadline=row.deadline if row.op else None,
        requires=tuple(json.loads(row.requires)),
        required_by=tuple(sorted(required_by)),
        properties=_mask(sealer.load(shown) or {}, hidden.get("properties", ())),
        attributes=_mask(sealer.load(row.outputs) or {}, hidden.get("attributes", ())),
        metadata=_read_metadata(row, sealer),
        present=row.want == "PRESENT",
        next_attempt_at=row.retry_at if row.op else None,
        hook="" if row.hook.startswith("+") else row.hook,
        protected=bool(row.protect or (row.outputs_hash and known.protects(row.name, row.type))),
    )


def to_action_view(key: str, stack_id: str, generation: int, *rest: Any) -> ActionView:
    """The view of a row of ``action``."""
    action, detail, *others = rest
    return ActionView(key, stack_id, generation, action, json.loads(detail), *others)


def to_failed_view(row: FailedRow, sealer: Sealer) -> FailedView:
    """The view of an operation that failed, hidden properties redacted."""
    hidden = json.loads(row.hidden)
    return copy_columns(
        FailedView,
        row,
        properties=_mask(sealer.load(row.properties) or {}, hidden.get("properties", ())),
        path=tuple(json.loads(row.path)),
        trace=sealer.load(row.trace) or "",
    )


def mask_properties(text: str, hidden: Iterable[str], sealer: Sealer) -> dict[str, Any]:
    """Stored properties without what any of ``hidden`` (column ``hidden``) names."""
    names = {name for each in hidden for name in json.loads(each).get("properties", ())}
    return _mask(sealer.load(text) or {}, names)


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
