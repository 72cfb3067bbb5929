"""The scheduler of a running engine: calls it when something is due.

Made by ``core.app`` and owned by an engine. APScheduler is loaded when the engine has run for a
while: a command that ends in its first seconds does not pay for it.
"""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING

from zonda.core.engine.runtime.engine import POLL_TICK, Engine
from zonda.hooks.context import Clock

if TYPE_CHECKING:  # what loads APScheduler
    from .jobs import Jobs

#: Seconds without APScheduler, and between two looks for requests and deadlines meanwhile.
_FIRST, _PERIOD = 5.0, 0.25


class Scheduler:
    """The scheduler of one engine."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._due = math.inf
        self._jobs: Jobs | None = None
        self._is_stopped = False
        self._moved = threading.Event()
        self._thread: threading.Thread | None = None
        # Held while the jobs are made, moved, or given up.
        self._lock = threading.Lock()

    def start(self, engine: Engine, *, stays: bool) -> None:
        """Start to call ``engine``."""
        name = "zonda-scheduler"
        self._thread = threading.Thread(
            target=self._run, args=(engine, stays), name=name, daemon=True
        )
        self._thread.start()

    def wake_at(self, due: float) -> None:
        """See ``zonda.core.engine.runtime.engine.Scheduler``."""
        with self._lock:
            self._due = due
            if self._jobs is not None:
                self._jobs.wake_at(due)
        self._moved.set()

    def stop(self) -> None:
        """Stop; the engine is not called after this returns. Stopping twice is fine."""
        with self._lock:
            self._is_stopped = True
            jobs, self._jobs = self._jobs, None
        self._moved.set()
        if jobs is not None:
            jobs.shutdown()
        if self._thread is not None:  # Python would end in the middle of what this one imports
            self._thread.join()

    def _run(self, engine: Engine, stays: bool) -> None:
        if not stays:
            self._call_first(engine)
        if self._is_stopped:
            return
        from .jobs import Jobs

        with self._lock:
            if not self._is_stopped:
                self._jobs = Jobs(engine, self._clock)
                self._jobs.start()
                self._jobs.wake_at(self._due)

    def _call_first(self, engine: Engine) -> None:
        """Call ``engine`` as the jobs do, for its first seconds."""
        now = self._clock.monotonic()
        end, look = now + _FIRST, now + _PERIOD
        while now < end and not self._is_stopped:
            self._moved.wait(max(min(self._due, look) - now, 0.0))
            self._moved.clear()
            now = self._clock.monotonic()
            if self._is_due(now):
                engine.wake()
            if look <= now:
                look = now + _PERIOD
                engine.sweep_requests()
                engine.sweep_deadlines()

    def _is_due(self, now: float) -> bool:
        """Whether the engine is to be woken; the next time is a tick later then."""
        with self._lock:
            is_due = self._due <= now
            if is_due:
                self._due = now + POLL_TICK
        return is_due
