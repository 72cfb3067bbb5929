"""The times of polls, by how long earlier runs of the same workflow took.

Nobody can see every end soon with few polls if all lengths are possible. But runs of one workflow
are alike: the first few that are under way are asked often, the others rarely. When one has ended,
its length is known: the others are asked when they have that age, and often from then on.
Used by runners, for all their threads; knows neither requests nor answers. What is learned is for
this process.
"""

from __future__ import annotations

import random
import threading
from collections import deque
from dataclasses import dataclass, field
from itertools import islice

from zonda.hooks import Clock
from zonda.hooks.runners import Waker, get_waker

from . import backoff

#: The lengths that are kept of each workflow, the shortest of which counts.
_LENGTHS = 8
#: The runs of each workflow that are asked often while no length is known.
_ASKED_OFTEN = 4
#: Seconds by which a poll may come later than it should, so that nobody is woken for less.
_SOON = 0.1
_MOST_RUNS, _MOST_WORKFLOWS = 10_000, 1_000


@dataclass(slots=True, eq=False)
class _Run:
    """A run. Times are monotonic. ``due``: of the next poll; ``was_told``: woken to hear of it."""

    workflow: str
    begun: float
    due: float | None = None
    waker: Waker | None = None
    was_told: bool = False


@dataclass(slots=True, eq=False)
class _Workflow:
    runs: dict[str, _Run] = field(default_factory=dict)
    lengths: deque[float] = field(default_factory=lambda: deque(maxlen=_LENGTHS))

    @property
    def length(self) -> float | None:
        return min(self.lengths, default=None)


class PollSchedule:
    """The schedule of one runner. A run is known by its key, from its start to its end."""

    def __init__(self, clock: Clock, chance: random.Random) -> None:
        self._clock = clock
        self._chance = chance
        self._lock = threading.Lock()
        self._workflows: dict[str, _Workflow] = {}
        self._runs: dict[str, _Run] = {}

    def begin(self, key: str, workflow: str) -> float:
        """Note that a run has begun; gives the seconds until its first poll."""
        now = self._clock.monotonic()
        with self._lock:
            self._make_room()
            known = self._workflows.setdefault(workflow, _Workflow())
            run = self._runs[key] = known.runs[key] = _Run(workflow, now)
            return self._schedule(run, now, now)

    def plan_next(self, key: str, age: float, begun: float) -> float:
        """The seconds until the next poll of a run that goes on; ``begun``: of the last one.

        ``age`` is that of a run whose begin was not noted, as after a restart.
        """
        now = self._clock.monotonic()
        with self._lock:
            run = self._runs.get(key)
            if run is not None:
                return self._schedule(run, begun, now)
        return backoff.compute_poll_interval(age, self._chance, now - begun)

    def begin_poll(self, key: str) -> float | None:
        """Note that a run is about to be polled; seconds where it is too early for that.

        It is for a run that was woken to hear how long such runs take.
        """
        now = self._clock.monotonic()
        with self._lock:
            run = self._runs.get(key)
            if run is None:
                return None
            due, run.due = run.due, None
            was_told, run.was_told = run.was_told, False
            if not was_told or due is None or now >= due:
                return None
            run.due = due
            return due - now

    def note_end(self, key: str, begun: float) -> None:
        """Learn the length of a run that ended well, as the poll says that began at ``begun``."""
        with self._lock:
            run = self._runs.get(key)
            if run is None:
                return
            self._drop(key)
            known, length = self._workflows[run.workflow], begun - run.begun
            before = known.length
            known.lengths.append(length)
            if before is None or length < before:
                self._wake_late(known, length)

    def drop(self, key: str) -> None:
        """Forget a run."""
        with self._lock:
            self._drop(key)

    # -- all that follows: the lock is held ---------------------------------------------------

    def _schedule(self, run: _Run, begun: float, now: float) -> float:
        """Seconds until the next poll; ``begun``: of the last one."""
        known = self._workflows[run.workflow]
        age, length = begun - run.begun, known.length
        if length is None and run in islice(known.runs.values(), _ASKED_OFTEN):
            length = 0.0
        delay = backoff.compute_poll_interval(age, self._chance, now - begun, length)
        run.due, run.waker = now + delay, get_waker()
        return delay

    def _wake_late(self, known: _Workflow, length: float) -> None:
        """Wake those that would be asked too late, now that runs are known to be so short."""
        now = self._clock.monotonic()
        for run in known.runs.values():
            at = run.begun + length
            if run.waker is not None and run.due is not None and run.due > at + _SOON:
                run.due, run.was_told = max(now, at), True
                run.waker.ring()

    def _drop(self, key: str) -> None:
        run = self._runs.pop(key, None)
        if run is not None:
            del self._workflows[run.workflow].runs[key]

    def _make_room(self) -> None:
        while len(self._runs) >= _MOST_RUNS:
            self._drop(next(iter(self._runs)))
        if len(self._workflows) >= _MOST_WORKFLOWS:
            self._workflows = {name: one for name, one in self._workflows.items() if one.runs}
