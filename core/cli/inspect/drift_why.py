"""What ``stack why`` adds where something is not as it was made: the newest verdicts."""

from __future__ import annotations

from zonda.core.store.read.drift_views import DriftNowView
from zonda.core.store.read.views import StackView
from zonda.core.store.schema.words import DRIFTED, MISSING

from ..options.scope import scoped
from ..session import Session


def wrong(session: Session, stack: StackView, resource: str | None) -> list[DriftNowView]:
    """What is known to have drifted or gone, of a stack with what is nested in it, or of one."""
    reader = session.app.reader
    if stack.deleted_at is not None or not reader.drift_checks(stack.root_id, 1):
        return []
    top, paths = scoped(session, stack.id, [] if resource is None else [resource])
    found = [each for each in reader.drift_now(top.id) if each.verdict in (DRIFTED, MISSING)]
    return [each for each in found if not paths or _within(each.path, paths[0])]


def _within(path: str, above: str) -> bool:
    return path == above or path.startswith(f"{above}/")
