"""Wakes runs whose callback has come, whichever process has stored it.

Used by the runner's side of callbacks. One thread looks at the folder's time of change while a run
waits; nothing is read before that has changed.
"""

from __future__ import annotations

import threading
from pathlib import Path

from zonda.hooks.runners import Waker

#: Seconds between two looks at the folder.
PERIOD = 0.1


class CallbackWatch:
    """The runs that wait for a file of one folder. Many threads may call."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._waiting: dict[Path, Waker] = {}
        self._thread: threading.Thread | None = None
        # The time of change at the last look, and whether it was another one than before.
        self._seen = -1
        self._has_changed = False
        self._end = threading.Event()

    def add(self, answer: Path, waker: Waker) -> None:
        """Ring ``waker`` once the file ``answer`` is there."""
        with self._lock:
            self._waiting[answer] = waker
            if self._thread is None and not self._end.is_set():
                self._thread = threading.Thread(target=self._run, name="callbacks", daemon=True)
                self._thread.start()

    def drop(self, answer: Path) -> None:
        """Wait for a file no more."""
        with self._lock:
            self._waiting.pop(answer, None)

    def look(self) -> None:
        """Ring those whose file is there."""
        try:
            changed = self._folder.stat().st_mtime_ns
        except OSError:
            return
        # Two files may come within one tick of the file system's clock: after each change there is
        # one more look, when that is over.
        had_changed, self._has_changed = self._has_changed, changed != self._seen
        self._seen = changed
        if not self._has_changed and not had_changed:
            return
        with self._lock:
            waiting = list(self._waiting.items())
        for answer, waker in waiting:
            if answer.exists():
                self.drop(answer)
                waker.ring()

    def close(self) -> None:
        """End the thread."""
        self._end.set()

    def _run(self) -> None:
        while not self._end.wait(PERIOD):
            self.look()
            with self._lock:
                if not self._waiting:
                    self._thread = None
                    return
