"""The reads that look at what the engine does, and wait for it.

Whoever waits has a thread of the server: few may at a time, all others are answered at once and
ask again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from zonda.core.app.surface import PendingRequest
from zonda.core.store.read.drift_views import DriftCheckView
from zonda.core.store.read.views import StackView

from ..service.project import Project
from .reads import Read, drift_check

#: Seconds that one request waits at most, and how many may wait at a time.
LONGEST = 20.0
_PLACES = threading.BoundedSemaphore(16)
#: Seconds between two looks for new events.
_TICK = 0.1


@contextmanager
def _limit_waiting(seconds: float) -> Iterator[float]:
    """Give the seconds that may be waited: none where too many wait."""
    if seconds <= 0 or not _PLACES.acquire(blocking=False):
        yield 0.0
        return
    try:
        yield min(seconds, LONGEST)
    finally:
        _PLACES.release()


def look(project: Project, stack: StackView, seconds: float, seen: int) -> StackView:
    """A stack as soon as it is at rest, or has an event after ``seen``."""
    app = project.service.app
    with _limit_waiting(seconds) as allowed:
        until = app.clock.monotonic() + allowed
        while True:
            left = until - app.clock.monotonic()
            if left <= 0 or project.reader.tree_events(stack.root_id, seen, 1):
                return project.reader.stack_by_id(stack.id)
            found = app.engine.look(stack.id, min(left, _TICK))
            if app.engine.is_at_rest(found):
                return found


def wait_for_check(project: Project, check_id: str, seconds: float) -> DriftCheckView:
    """A drift check as soon as it has ended."""
    with _limit_waiting(seconds) as allowed:
        engine = project.service.app.engine
        return engine.wait_for_check(drift_check(project, check_id).id, allowed)


def waiting(project: Project, stack: StackView) -> list[PendingRequest]:
    """The operations that wait."""
    return project.service.app.engine.waiting(stack.id) or []


WAITING = {
    "engine.look": Read(look),
    "engine.wait_for_check": Read(wait_for_check),
    "engine.waiting": Read(waiting),
}
