"""The threads in which plug-ins run. They end with the process, even if a plug-in hangs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Final

from zonda.core.system.memory import limit_malloc_arenas

#: The time in which a thread without a job ends (seconds).
_LAST: Final = 0.2


class Pool:
    """At most ``size`` threads, started when there is work for them.

    ``leave`` is called by each thread before it ends.
    """

    def __init__(self, size: int, name: str, leave: Callable[[], None] = lambda: None) -> None:
        limit_malloc_arenas()
        self._size = size
        self._name = name
        self._leave = leave
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        # Jobs that were handed in and have not ended.
        self._unfinished = 0
        self._lock = threading.Lock()

    def submit(self, job: Callable[[], None]) -> None:
        """Run ``job`` (which must not raise) in a thread, in order of arrival."""
        with self._lock:
            self._unfinished += 1
            self._jobs.put(job)
            self._start_one()

    @property
    def is_full(self) -> bool:
        """Whether a job that is handed in now waits for the end of another."""
        return self._unfinished >= self._size

    def widen(self, by: int) -> None:
        """Run so many threads more (or fewer): some are lost to calls that do not come back."""
        with self._lock:
            self._size += by
            self._start_one()

    def _start_one(self) -> None:
        """Start a thread if there is work for it; the lock is held."""
        if len(self._threads) >= min(self._unfinished, self._size):
            return
        thread = threading.Thread(
            target=self._run_thread, name=f"{self._name}-{len(self._threads)}", daemon=True
        )
        self._threads.append(thread)
        thread.start()

    def _run_thread(self) -> None:
        try:
            self._run_jobs()
        finally:
            self._leave()

    def _run_jobs(self) -> None:
        while True:
            job = self._jobs.get()
            if job is None:
                return
            job()
            with self._lock:
                self._unfinished -= 1
                if len(self._threads) > self._size:
                    self._threads.remove(threading.current_thread())
                    return

    def stop(self) -> None:
        """Let every thread end after its running job; wait for those that have none.

        Not for ever: a plug-in that loads ``threading`` once more in a thread, as eventlet does,
        takes the lock by which Python tells that the thread has ended.
        """
        threads = list(self._threads)
        for _ in threads:
            self._jobs.put(None)
        for thread in threads if self._unfinished == 0 else ():
            thread.join(_LAST)
