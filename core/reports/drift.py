"""The drift of a stack, and of one resource, as the newest checks tell it."""

from __future__ import annotations

from collections.abc import Iterable

from zonda.core.store.read.drift_views import DriftCheckView, DriftNowView
from zonda.core.store.read.stack_reads import StackReads
from zonda.core.store.read.views import StackView
from zonda.core.store.schema.words import DRIFTED, IN_SYNC, MISSING, NOT_CHECKED, UNKNOWN

#: The last checks, of which one should be of the whole stack.
_LOOKED_AT = 50


def find_last_verdict(reader: StackReads, stack: StackView) -> tuple[str, DriftCheckView | None]:
    """Find the verdict on a root stack as it is now, and its last check of everything."""
    checks = reader.drift_checks(stack.id, _LOOKED_AT)
    last = next((each for each in checks if each.is_complete and not each.scope), None)
    current = last is not None and last.generation == stack.generation
    return last.verdict if last is not None and current else NOT_CHECKED, last


def find_worst(now: Iterable[DriftNowView]) -> str:
    """Find the verdict of all of them together; NOT_CHECKED is not in sync."""
    found = {each.verdict for each in now}
    order = (DRIFTED, MISSING, UNKNOWN, NOT_CHECKED)
    return next((each for each in order if each in found), IN_SYNC)
