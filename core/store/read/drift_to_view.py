"""Rows about drift as views. Called by ``drift``, which imports it when asked."""

from __future__ import annotations

import json

from ..schema.rows import DriftCheckRow, DriftFindingRow, DriftIgnoreRow, DriftRow, StackRow
from ..schema.words import NOT_CHECKED
from .drift_views import Difference, DriftCheckView, DriftFindingView, DriftIgnoreView, DriftNowView


def to_check_view(row: DriftCheckRow) -> DriftCheckView:
    """One check."""
    return DriftCheckView(
        row.id,
        row.stack_id,
        row.generation,
        row.cause,
        row.by,
        tuple(json.loads(row.scope)),
        row.started_at,
        row.ended_at,
        row.status,
        row.reason,
        row.verdict,
        json.loads(row.counts),
    )


def to_finding_view(row: DriftFindingRow) -> DriftFindingView:
    """The finding of a check on one resource."""
    return DriftFindingView(
        row.check_id,
        row.resource_id,
        row.stack_id,
        row.path,
        row.type,
        row.verdict,
        row.reason,
        tuple(Difference.read(each) for each in json.loads(row.diff)),
        row.ignored,
    )


def to_unchecked_view(path: str, row: DriftRow) -> DriftNowView:
    """A resource that was not looked at since it was changed."""
    return DriftNowView(row.id, row.stack_id, path, row.type, NOT_CHECKED, None)


def to_verdict_view(
    path: str, row: DriftRow, at: float | None, told: DriftFindingView | None
) -> DriftNowView:
    """The newest verdict on a resource, which was looked at then."""
    blank = tuple(json.loads(row.unseen)) if row.unseen else ()
    return DriftNowView(row.id, row.stack_id, path, row.type, row.current, at, told, blank)


def to_ignore_view(row: DriftIgnoreRow) -> DriftIgnoreView:
    """An exception that a command has made."""
    return DriftIgnoreView(
        row.id, row.stack_id, row.path, row.property, row.until, row.reason, row.by, row.at
    )


def list_environment_ignores(stack: StackRow) -> list[DriftIgnoreView]:
    """The exceptions that the environment of a stack has made."""
    said = json.loads(stack.drift_said) if stack.drift_said else {}
    return [
        DriftIgnoreView(
            "",
            stack.id,
            each["resource"],
            each.get("property", ""),
            each.get("until"),
            each.get("reason", ""),
            "environment",
            None,
        )
        for each in said.get("ignore", ())
    ]
