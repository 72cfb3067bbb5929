"""The queue of a member: a worker of Procrastinate that brings it free trees, in a thread.

A job is under way exactly as long as its tree is driven here, so that the queue shows what waits
and what is worked on. Beside that it has what is to happen once in a cluster, at fixed times.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Collection
from concurrent.futures import Future
from contextlib import suppress
from typing import Protocol

from procrastinate import App, BaseRetryStrategy, PsycopgConnector, RetryDecision
from procrastinate.exceptions import ProcrastinateException
from procrastinate.jobs import Job, Status

from zonda.core.engine.runtime.trees import Placed
from zonda.core.store.database.placement import TREE
from zonda.core.store.postgresql.connection import PatientConnection, ServerConnection, add_option
from zonda.core.store.write.duties import Ownership
from zonda.hooks.errors import StoreError

from .placement import DRIVE, QUEUE, SCHEMA

log = logging.getLogger(__name__)

#: Connections of the worker, at most; one more listens.
_CONNECTIONS = 4
#: Seconds between two looks for jobs that were not told of: those for later, and those that come
#: just while the worker has found none. Members with room find their trees before that.
_POLL = 10.0
#: Seconds for which a job waits for room here before another member may have it.
_ROOM_WAIT = 1.0
#: Seconds until a worker that has failed begins again.
_RETRY = 5.0
#: Seconds between two signs of life of a worker, and without one until its jobs are removed.
_HEARTBEAT, _STALLED = 20.0, 90.0
#: Seconds that a stopping member waits for the thread.
_GRACE = 5.0
#: The minutes of each hour at which old rows and the jobs of dead workers are removed.
_OLD_ROWS, _OLD_JOBS = "7 * * * *", "37 * * * *"


class Driven(Protocol):
    """The engine of a member, as the queue needs it."""

    def place(self, root_id: str) -> Future[Placed]:
        """Take a tree that the queue brings."""

    def delete_old(self) -> None:
        """Delete old events and unused rows."""


class NoRoom(Exception):
    """This member has no room for the tree of a job: it goes back into the queue."""


class _BackToQueue(BaseRetryStrategy):
    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        """Let another member try what this one could not; anything else is a fault of ours."""
        others = NoRoom | StoreError | asyncio.CancelledError  # the last: the worker has ended
        return RetryDecision() if isinstance(exception, others) else None


class Queue:
    """The worker of one life of a member; ``url`` is that of a server, not of a pooler."""

    def __init__(self, url: str, ownership: Ownership, engine: Driven) -> None:
        self._url, self._ownership, self._engine = url, ownership, engine
        self._loop: asyncio.AbstractEventLoop | None = None
        self._running: asyncio.Task[None] | None = None
        self._is_closed = False
        # By tree, for each job under way: set when the tree is not driven here any more.
        self._ends: dict[str, asyncio.Event] = {}
        self._room = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="zonda-queue", daemon=True)

    def start(self) -> None:
        """Start to take trees."""
        self._ownership.on_lost = self._note_lost
        self._thread.start()

    def close(self) -> None:
        """Take nothing more."""
        was_closed, self._is_closed = self._is_closed, True
        self._ownership.has_queue = False
        if not was_closed:  # a worker that is told twice leaves its jobs behind
            told = threading.Event()
            if self._call(lambda: self._cancel(told)):
                told.wait(_ROOM_WAIT)  # what is handed over from now on is for others

    def _cancel(self, told: threading.Event) -> None:
        if self._running is not None:
            self._running.cancel()
        told.set()

    def stop(self, *, waits: bool = True) -> None:
        """End all jobs, and the thread."""
        self.close()
        self._call(lambda: self._end_jobs(list(self._ends)))
        if waits and self._thread.is_alive():
            self._thread.join(_GRACE)

    def _call(self, what: Callable[[], object]) -> bool:
        loop = self._loop
        if loop is None:
            return False
        with suppress(RuntimeError):  # it has ended
            loop.call_soon_threadsafe(what)
            return True
        return False

    def _note_lost(self, roots: Collection[str]) -> None:
        lost = list(roots)
        self._call(lambda: self._end_jobs(lost))

    def _end_jobs(self, roots: Collection[str]) -> None:
        self._room.set()
        for root_id in roots:
            if root_id in self._ends:
                self._ends[root_id].set()

    # -- the thread -------------------------------------------------------------------------------

    def _run(self) -> None:
        asyncio.run(self._work_always())

    async def _work_always(self) -> None:
        self._loop = asyncio.get_running_loop()
        while not self._is_closed:
            self._running = asyncio.create_task(self._work())
            try:
                await self._running
            except asyncio.CancelledError:
                break
            except (ProcrastinateException, ServerConnection.Error, OSError) as error:
                log.warning("The queue cannot be read: %s", error.__cause__ or error)
            finally:
                self._ownership.has_queue = False
                self._end_jobs(list(self._ends))
            self._running = asyncio.create_task(asyncio.sleep(_RETRY))
            with suppress(asyncio.CancelledError):
                await self._running

    async def _work(self) -> None:
        connector = PsycopgConnector(
            conninfo=add_option(self._url, f"-c search_path={SCHEMA}"),
            min_size=1,
            max_size=_CONNECTIONS,
            connection_class=PatientConnection,
        )
        app = App(connector=connector)
        self._add_tasks(app)
        async with app.open_async():
            self._ownership.has_queue = not self._is_closed
            await app.run_worker_async(
                queues=[QUEUE],
                name=self._ownership.member,
                concurrency=self._ownership.most,
                delete_jobs="always",
                fetch_job_polling_interval=_POLL,
                abort_job_polling_interval=3600.0,  # nobody aborts any
                update_heartbeat_interval=_HEARTBEAT,
                stalled_worker_timeout=_STALLED,
                shutdown_graceful_timeout=0.0,  # trees go on without their jobs
                install_signal_handlers=False,
            )

    def _add_tasks(self, app: App) -> None:
        @app.task(name=DRIVE, queue=QUEUE, retry=_BackToQueue())
        async def drive(key: str) -> None:
            await self._drive(key.removeprefix(TREE))

        @app.periodic(cron=_OLD_ROWS)
        @app.task(name="zonda.delete_old_rows", queue=QUEUE)
        async def delete_old_rows(timestamp: int) -> None:
            self._engine.delete_old()

        @app.periodic(cron=_OLD_JOBS)
        @app.task(name="zonda.remove_stalled_jobs", queue=QUEUE)
        async def remove_stalled_jobs(timestamp: int) -> None:
            await remove_stalled(app)

    async def _drive(self, root_id: str) -> None:
        """Take a tree, and come back when it is at rest or given away."""
        if root_id in self._ends:  # another job for it
            return
        self._ends[root_id] = ended = asyncio.Event()
        try:
            placed = await self._place(root_id)
            if placed is Placed.FULL and not self._is_closed:
                with suppress(TimeoutError):
                    async with asyncio.timeout(_ROOM_WAIT):
                        await self._room.wait()
                placed = await self._place(root_id)
            if placed is Placed.FULL:
                self._ownership.tell("duty")
                raise NoRoom(root_id)
            if placed is Placed.HERE:
                await ended.wait()
        finally:
            del self._ends[root_id]

    async def _place(self, root_id: str) -> Placed:
        self._room.clear()
        return await asyncio.wrap_future(self._engine.place(root_id))


async def remove_stalled(app: App) -> None:
    """Remove the jobs of workers that have ended: whoever owns their trees has others."""
    for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=_STALLED):
        assert job.id is not None
        with suppress(ProcrastinateException):  # it ends just now
            await app.job_manager.finish_job_by_id_async(
                job.id, status=Status.FAILED, delete_job=True
            )
