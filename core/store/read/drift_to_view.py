"""Rows about drift as views. Called by ``drift``, which imports it when asked."""

from __future__ import annotations

import json

from ..schema.rows import DriftCheckRow, DriftFindingRow, DriftRow, StackRow
from ..schema.words import NOT_CHECKED
from .drift_views import Difference, DriftCheckView, DriftFindingView, DriftIgnoreView, DriftNowView
from .to_view import copy_columns


def to_check_view(row: DriftCheckRow) -> DriftCheckView:
    """One check."""
    return copy_columns(
        DriftCheckView, row, scope=tuple(json.loads(row.scope)), counts=json.loads(row.counts)
    )


def to_finding_view(row: DriftFindingRow) -> DriftFindingView:
    """The finding of a check on one resource."""
    differences = tuple(Difference.read(each) for each in json.loads(row.diff))
    return copy_columns(DriftFindingView, row, differences=differences)


def to_unchecked_view(path: str, row: DriftRow) -> DriftNowView:
    """A resource that was not looked at since it was changed."""
    return DriftNowView(row.id, row.stack_id, path, row.type, NOT_CHECKED, None)


def to_verdict_view(
    path: str, row: DriftRow, at: float | None, told: DriftFindingView | None
) -> DriftNowView:
    """The newest verdict on a resource, which was looked at then."""
    blank = tuple(json.loads(row.unseen)) if row.unseen else ()
    return DriftNowView(row.id, row.stack_id, path, row.type, row.current, at, told, blank)


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
