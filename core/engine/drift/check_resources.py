"""The checks that a driver runs: they observe the resources, some at a time.

Everything here belongs to the driver's thread, like the driver itself; only ``Observer.look`` runs
in the pool. A call that never comes back gives its place back (see ``hanging``); waiting holds no
thread.
"""

from __future__ import annotations

import logging
import math
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from zonda.core.store.read.drift import covers
from zonda.core.store.schema.words import IN_SYNC

from ..execution.loop import Done
from ..model import row_annotations
from ..model.effects import LAST, Call, Step, Tx, Wait, make_step
from ..model.unit_of_work import UnitOfWork
from ..services import EngineServices
from . import store as storing
from .exceptions import Exceptions
from .findings import Check, Found, Later, make_owed, make_unknown
from .interrupting import interrupt
from .observe import Job, Observer, Pace, explain_unobservable

log = logging.getLogger(__name__)

#: Runs a step; then calls what it is given with the value, or the error.
Start = Callable[[Step, Done], None]


class Checks:
    """All checks of one driver."""

    def __init__(
        self, services: EngineServices, start: Start, repair: Callable[[Check], Step]
    ) -> None:
        """``start`` runs a step, ``repair`` puts right what a check has found."""
        settings = services.settings
        self._services = services
        self._start = start
        self._repair = repair
        self._places = max(1, min(settings.drift_workers, settings.workers // 2 or 1))
        self._pace = Pace(settings.drift_rate, services.clock.monotonic)
        self._queue: deque[tuple[Check, Job]] = deque()
        self._asked: dict[Job, Check] = {}
        self._waiting: dict[Job, Check] = {}
        self._running: dict[str, Check] = {}
        self._is_closed = False

    @property
    def running(self) -> list[str]:
        """The stacks that are being checked here."""
        return [check.row.stack_id for check in self._running.values()]

    def begin(self, check: Check) -> None:
        """Run a check that is stored."""
        if self._is_closed:
            return
        self._running[check.row.id] = check
        self._call(lambda: prepare_jobs(self._services, check, self._pace), self._queue_jobs(check))

    def sweep(self) -> None:
        """Give up the observations that are past their time limit."""
        now = self._services.clock.monotonic()
        for job, check in list(self._asked.items()):
            if job.until is not None and now >= job.until and not job.is_abandoned:
                job.is_abandoned = True
                self._services.hanging.add(job, job.key, check.row.stack_id)
                self._give_up(check, job, self._format_late("it has not answered"))
        self._start_jobs()

    def close(self) -> None:
        """Begin nothing more and interrupt what runs: it begins anew with the next engine."""
        self._is_closed = True
        for job, check in [*self._waiting.items(), *((job, check) for check, job in self._queue)]:
            self._cancel(check.observer, job)
        self._queue.clear()
        for check in list(self._running.values()):
            self._end(check, partial(interrupt, row=check.row), False)

    def _call(self, run: Callable[[], Any], done: Done) -> None:
        """Make a call in the pool, without a time limit of its own."""
        self._start(make_step(Call(run, seconds=math.inf, order=LAST)), done)

    # -- one after the other ----------------------------------------------------------------------

    def _queue_jobs(self, check: Check) -> Done:
        def finish(jobs: Any, error: BaseException | None) -> None:
            if error is not None:
                self._fail(check, error)
                return
            check.left = len(jobs)
            self._queue.extend((check, job) for job in jobs)
            if not check.left:
                self._complete(check)
            self._start_jobs()

        return finish

    def _start_jobs(self) -> None:
        while self._queue and self._has_place and not self._is_closed:
            check, job = self._queue.popleft()
            if check.is_open:
                self._observe(check, job)

    @property
    def hanging(self) -> int:
        """The number of observations that did not return in time."""
        return sum(job.is_abandoned for job in self._asked)

    @property
    def _has_place(self) -> bool:
        return len(self._asked) - self.hanging < self._places

    def _observe(self, check: Check, job: Job) -> None:
        observer, clock = check.observer, self._services.clock
        assert observer is not None
        hanging = self._services.hanging.forbids(check.row.stack_id, job.key)
        if hanging:
            self._give_up(check, job, f"it was not looked at: {hanging}")
            return
        if job.until is None:
            job.started_at = clock.now()
            job.until = clock.monotonic() + self._services.settings.drift_timeout
        elif clock.monotonic() >= job.until:
            said = f" ({job.message})" if job.message else ""
            self._give_up(check, job, self._format_late(f"it was not ready{said}"))
            self._cancel(observer, job)
            return
        self._asked[job] = check
        self._call(
            lambda: observer.look(job),
            lambda *said: self._take_result(observer, job, *said),
        )

    def _take_result(
        self, observer: Observer, job: Job, answer: Any, error: BaseException | None
    ) -> None:
        check = self._asked.pop(job)
        self._services.hanging.drop(job)
        if isinstance(answer, Later) and (job.is_abandoned or not check.is_open):
            self._cancel(observer, job)
        elif not job.is_abandoned:
            if error is not None:
                log.error("A look at resource %s broke", job.path, exc_info=error)
                self._give_up(check, job, f"zonda failed: {type(error).__name__}")
            elif isinstance(answer, Later):
                self._postpone(check, job, answer)
            else:
                self._store_result(check, job, answer)
        self._start_jobs()

    def _postpone(self, check: Check, job: Job, later: Later) -> None:
        now = self._services.clock.monotonic()
        assert job.until is not None
        if later.is_turn:
            job.until += later.delay  # to wait for one's turn is no time of one's own
        else:
            job.message = later.message
        delay = min(later.delay, max(0.0, job.until - now))

        self._waiting[job] = check

        def due(_: Any, error: BaseException | None) -> None:
            self._waiting.pop(job, None)
            if check.is_open and error is None:
                self._queue.appendleft((check, job))
                self._start_jobs()

        self._start(make_step(Wait(delay, "")), due)

    def _cancel(self, observer: Observer | None, job: Job) -> None:
        """Cancel an observation that the type has begun and that nobody waits for any more."""
        if observer is not None and job.kept:
            self._call(lambda: observer.cancel(job), _log_failed_cancel)

    def _give_up(self, check: Check, job: Job, reason: str) -> None:
        self._store_result(check, job, make_unknown(reason, check.rows[job.key].fence))

    def _store_result(self, check: Check, job: Job, found: Found) -> None:
        if not check.is_open:
            return
        check.found[job.key] = found
        check.left -= 1
        if not check.left:
            self._complete(check)

    def _format_late(self, what: str) -> str:
        return f"{what} within {self._services.settings.drift_timeout:g} s"

    # -- the end ----------------------------------------------------------------------------------

    def _complete(self, check: Check) -> None:
        self._end(check, lambda work: storing.complete(work, check), True)

    def _fail(self, check: Check, error: BaseException) -> None:
        log.error("The drift check %s failed", check.row.id, exc_info=error)
        reason = f"zonda failed: {type(error).__name__}"
        self._end(check, lambda work: storing.fail(work, check.row, reason), False)

    def _end(self, check: Check, store: Callable[[UnitOfWork], Any], is_complete: bool) -> None:
        check.is_open = False

        def finish(value: Any, error: BaseException | None) -> None:
            if error is not None and is_complete:
                self._fail(check, error)
                return
            if error is not None:
                log.error("The end of drift check %s is lost", check.row.id, exc_info=error)
            self._running.pop(check.row.id, None)
            check.outcome = is_complete and bool(value) and error is None
            check.observer = None
            if check.repairs and check.outcome and check.wrong:
                self._start(self._repair(check), _log_failed_repair)

        self._start(make_step(Tx(store)), finish)


def _log_failed_cancel(_: Any, error: BaseException | None) -> None:
    if error is not None:
        log.warning("What was begun for a look could not be cancelled: %s", error)


def _log_failed_repair(_: Any, error: BaseException | None) -> None:
    if error is not None:
        log.error("A repair could not be begun", exc_info=error)


def prepare_jobs(services: EngineServices, check: Check, pace: Pace) -> list[Job]:
    """Read the resources of a check and return the jobs; resources with a verdict need none.

    In the pool. Of a type that does nothing outside there is nothing that could have changed.
    """
    reader, row = services.reader(), check.row
    with reader.snapshot():
        rows = reader.drift_rows(row.stack_id)
        rules = reader.drift_ignores(row.stack_id)
    exceptions = Exceptions(rules, services.clock.now())
    check.observer = Observer(services, exceptions, pace, services.settings.drift_timeout)
    scope = storing.read_scope(row)
    jobs: list[Job] = []
    for path, each in rows:
        if not covers(scope, path):
            continue
        check.paths[each.id], check.rows[each.id] = path, each
        reason = explain_unobservable(each)
        if row_annotations.is_owed(each):
            found = exceptions.apply(path, make_owed(each))
        elif reason:
            found = exceptions.apply(path, make_unknown(reason, each.fence))
        elif services.definitions.is_inward_type(each.class_type):
            found = Found(IN_SYNC, fence=each.fence)
        else:
            jobs.append(Job(each.id, path, f"{each.id}-drift-{row.id[-12:]}"))
            continue
        check.found[each.id] = found
    return jobs
