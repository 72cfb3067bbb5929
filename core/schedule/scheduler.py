"""The scheduler of a running engine: calls it when something is due.

Made by ``core.app`` and owned by an engine. APScheduler is loaded once there is a time to wait for,
or when the engine has run for a while: a command that ends at once does not pay for it.
"""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING

from zonda.hooks.context import Clock

if TYPE_CHECKING:  # what loads APScheduler
    from zonda.core.engine.runtime.engine import Engine

    from .jobs import Jobs

#: Seconds between two looks for requests, and how often they come without APScheduler.
_PERIOD, _LOOKS = 0.25, 20


class Scheduler:
    """The scheduler of one engine."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._due = math.inf
        self._jobs: Jobs | None = None
        self._is_stopped = False
        self._needed = threading.Event()
        self._thread: threading.Thread | None = None
        # Held while the jobs are made, moved, or given up.
        self._lock = threading.Lock()

    @property
    def is_loaded(self) -> bool:
        """Whether setting a time costs next to nothing."""
        return self._jobs is not None

    def start(self, engine: Engine) -> None:
        """Start to call ``engine``."""
        run, name = self._load_when_needed, "zonda-scheduler"
        self._thread = threading.Thread(target=run, args=(engine,), name=name, daemon=True)
        self._thread.start()

    def wake_at(self, due: float) -> None:
        """See ``zonda.core.engine.runtime.engine.Scheduler``."""
        with self._lock:
            self._due = due
            if self._jobs is not None:
                self._jobs.wake_at(due)
        self._needed.set()

    def stop(self) -> None:
        """Stop; the engine is not called after this returns. Stopping twice is fine."""
        with self._lock:
            self._is_stopped = True
            jobs, self._jobs = self._jobs, None
        self._needed.set()
        if jobs is not None:
            jobs.shutdown()
        if self._thread is not None:  # Python would end in the middle of what this one imports
            self._thread.join()

    def _load_when_needed(self, engine: Engine) -> None:
        for _ in range(_LOOKS):
            if self._needed.wait(_PERIOD):
                break
            engine.sweep_requests()
            engine.sweep_deadlines()
        if self._is_stopped:
            return
        from .jobs import Jobs

        with self._lock:
            if not self._is_stopped:
                self._jobs = Jobs(engine, self._clock)
                self._jobs.start()
                self._jobs.wake_at(self._due)
