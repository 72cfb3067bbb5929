"""Drift in ``stack why``: the newest verdicts on resources that have drifted."""

from __future__ import annotations

from zonda.core.store.read.drift_views import DriftNowView
from zonda.core.store.read.views import StackView
from zonda.core.store.schema.words import DRIFTED, MISSING

from ..options.scope import resolve_scope
from ..session import Session


def list_drifted(session: Session, stack: StackView, resource: str | None) -> list[DriftNowView]:
    """List the drifted or missing resources, of a stack with its nested ones, or of one."""
    reader = session.app.reader
    if stack.deleted_at is not None or not reader.drift_checks(stack.root_id, 1):
        return []
    top, paths = resolve_scope(session, stack.id, [] if resource is None else [resource])
    found = [each for each in reader.drift_now(top.id) if each.verdict in (DRIFTED, MISSING)]
    return [each for each in found if not paths or _is_within(each.path, paths[0])]


def _is_within(path: str, above: str) -> bool:
    return path == above or path.startswith(f"{above}/")
