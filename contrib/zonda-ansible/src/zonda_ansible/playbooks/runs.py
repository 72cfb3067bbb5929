"""The runs: one folder per key, and a mark for each key whose run is forgotten.

::

    runs/<sha256 of the key>/     the files of a ``DetachedRun``, and report.json
    ended/<sha256 of the key>     empty: the key had a run, which never is begun again

A run is a process of its own that lives on when zonda ends. Its folder goes when zonda has stored
the result, or a week after the end where nobody has asked.
"""

from __future__ import annotations

import hashlib
import shutil
import threading
from pathlib import Path
from typing import Final

from zonda.hooks.processes import DetachedRun, Plan

_WEEK: Final = 7 * 86400.0


class Runs:
    """The runs of one runner, for many threads and processes."""

    def __init__(self, folder: Path, parallel: int) -> None:
        self._runs = folder / "runs"
        self._ended = folder / "ended"
        self._parallel = parallel
        self._lock = threading.Lock()

    def find(self, key: str) -> DetachedRun:
        """The run of ``key``, begun or not."""
        return DetachedRun(self._runs / _make_name(key))

    def is_forgotten(self, key: str) -> bool:
        """Whether the run of ``key`` has ended and was forgotten."""
        return (self._ended / _make_name(key)).exists()

    def has_begun(self, key: str) -> bool:
        """Whether there is a run of ``key``, or was one."""
        run = self.find(key)
        return self.is_forgotten(key) or (
            run.folder.is_dir() and (run.was_started() or run.is_running())
        )

    def begin(self, key: str, plan: Plan) -> bool:
        """Begin the run of ``key``, unless it has begun; False if there is no room for it now.

        Raises OSError where the folder cannot be written.
        """
        with self._lock:
            if self.has_begun(key):
                return True
            if sum(run.is_running() for run in self._list_runs()) >= self._parallel:
                return False
            run = self.find(key)
            (run.folder / "tmp").mkdir(parents=True, exist_ok=True, mode=0o700)
            for folder in (self._runs.parent, self._runs, run.folder):
                folder.chmod(0o700)
            child = run.start(plan)
        if child is not None:  # a process that has ended stays in the table until somebody waits
            threading.Thread(target=child.wait, name="ansible run", daemon=True).start()
        return True

    def forget(self, key: str) -> None:
        """Remove all of the run of ``key`` but that there was one."""
        self._ended.mkdir(parents=True, exist_ok=True, mode=0o700)
        (self._ended / _make_name(key)).touch()
        shutil.rmtree(self.find(key).folder, ignore_errors=True)

    def prune(self, now: float) -> None:
        """Remove what ended more than a week ago."""
        for run in self._list_runs():
            if _is_old(run.folder / "result.json", now):
                shutil.rmtree(run.folder, ignore_errors=True)
        for mark in self._ended.glob("*"):
            if _is_old(mark, now):
                mark.unlink(missing_ok=True)

    def _list_runs(self) -> list[DetachedRun]:
        return [DetachedRun(folder) for folder in self._runs.glob("*")]


def _is_old(path: Path, now: float) -> bool:
    try:
        return path.stat().st_mtime < now - _WEEK
    except OSError:
        return False


def _make_name(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
