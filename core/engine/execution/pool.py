"""The threads in which plug-ins run. They end with the process, even if a plug-in hangs.

What is under way goes before what is new: a poll, or the answer of a run, does not wait for the end
of other runs. Some threads are kept for that, since all others may be held by calls that last.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from queue import SimpleQueue
from typing import Final

from zonda.core.system.memory import limit_malloc_arenas

from ..model.effects import LAST, UNDER_WAY

#: The time in which a thread without a job ends (seconds).
_ENDING: Final = 0.2

Job = Callable[[], None]


class Pool:
    """At most ``size`` threads, started when there is work for them.

    ``spare``: further ones for what is under way, while the others are all taken. ``leave`` is
    called by each thread before it ends.
    """

    def __init__(
        self, size: int, name: str, leave: Callable[[], None] = lambda: None, spare: int = 0
    ) -> None:
        limit_malloc_arenas()
        self._size = size
        self._name = name
        self._leave = leave
        #: Jobs by their order. For each there is one wake, so that a thread looks for it.
        self._jobs: tuple[deque[Job], ...] = tuple(deque() for _ in range(LAST + 1))
        self._wakes: SimpleQueue[bool] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._spare_wakes: SimpleQueue[bool] = SimpleQueue()
        self._spare, self._spare_threads = spare, list[threading.Thread]()
        # Jobs that were handed in and have not ended.
        self._unfinished = 0
        self._lock = threading.Lock()

    def submit(self, job: Job, order: int = UNDER_WAY) -> None:
        """Run ``job`` (which must not raise) in a thread, in order of arrival within ``order``."""
        with self._lock:
            self._unfinished += 1
            self._jobs[order].append(job)
            self._wakes.put(True)
            self._start_one()
            if order == UNDER_WAY and self._unfinished > self._size:
                self._start_spare()

    @property
    def is_full(self) -> bool:
        """Whether a job that is handed in now waits for the end of another."""
        return self._unfinished >= self._size

    @property
    def load(self) -> float:
        """The number of jobs that run or wait, as a part of the number of threads."""
        return self._unfinished / max(self._size, 1)

    def widen(self, by: int) -> None:
        """Run so many threads more (or fewer): some are lost to calls that do not come back."""
        with self._lock:
            self._size += by
            self._start_one()

    # -- the lock is held -----------------------------------------------------------------------

    def _start_one(self) -> None:
        """Start a thread if there is work for it."""
        if len(self._threads) < min(self._unfinished, self._size):
            self._start_thread(self._threads, self._name, self._wakes, self._jobs)

    def _start_spare(self) -> None:
        """Wake one of the threads that are kept for what is under way, or start one."""
        if self._spare:
            self._spare_wakes.put(True)
        if len(self._spare_threads) < self._spare:
            name = f"{self._name}-spare"
            self._start_thread(
                self._spare_threads, name, self._spare_wakes, self._jobs[: UNDER_WAY + 1]
            )

    def _start_thread(
        self,
        threads: list[threading.Thread],
        name: str,
        wakes: SimpleQueue[bool],
        jobs: Sequence[deque[Job]],
    ) -> None:
        run = partial(self._run_thread, wakes, jobs)
        thread = threading.Thread(target=run, name=f"{name}-{len(threads)}", daemon=True)
        threads.append(thread)
        thread.start()

    # -- in the threads -------------------------------------------------------------------------

    def _run_thread(self, wakes: SimpleQueue[bool], jobs: Sequence[deque[Job]]) -> None:
        try:
            while wakes.get():
                job = _take_first(jobs)
                if job is not None:  # else another thread has taken it
                    job()
                    if self._ends_after_job():
                        return
        finally:
            self._leave()

    def _ends_after_job(self) -> bool:
        """Count a job that has ended; whether its thread is one too many."""
        with self._lock:
            self._unfinished -= 1
            thread = threading.current_thread()
            if len(self._threads) <= self._size or thread not in self._threads:
                return False
            self._threads.remove(thread)
            return True

    def stop(self) -> None:
        """Let every thread end after its running job; wait for those that have none.

        Not for ever: a plug-in that loads ``threading`` once more in a thread, as eventlet does,
        takes the lock by which Python tells that the thread has ended.
        """
        threads = [*self._threads, *self._spare_threads]
        for _ in self._threads:
            self._wakes.put(False)
        for _ in self._spare_threads:
            self._spare_wakes.put(False)
        for thread in threads if self._unfinished == 0 else ():
            thread.join(_ENDING)


def _take_first(queues: Sequence[deque[Job]]) -> Job | None:
    for jobs in queues:
        try:
            return jobs.popleft()
        except IndexError:
            continue
    return None
