"""The journal of the bundled service: one folder per run, named after its key.

::

    runs/<sha256 of the key>/
      request.json   key, workflow, action, digest of the body, when accepted, when to forget
      body           the request's JSON, until the run has ended
      plan.json      what the wrapper executes, until the run has ended
      starts         one line per start of a wrapper
      lock           held by the wrapper as long as it lives
      run.json       the pids of wrapper and command, and when they were born
      cancel         there if the end of the run was asked for
      wrapper.log    what the wrapper complained of, if it did
      result.json    state, output, reason; written last, by whoever ends the run

Whole files are written beside their place, synced and renamed, so a crash leaves the old file or
the new one. ``run.json`` and ``result.json`` are the wrapper's. Used by service_runs.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..atomic_files import (
    BODY,
    CANCEL,
    NEEDLESS,
    RESULT,
    RUN,
    read_json,
    sync_folder,
    write_json,
    write_new,
    write_whole,
)

WRAPPER_LOG = "wrapper.log"
_REQUEST, _STARTS, _LOCK = "request.json", "starts", "lock"


@dataclass(frozen=True, slots=True)
class Run:
    """One accepted request. Times in seconds since the epoch."""

    folder: Path
    key: str
    workflow: str
    action: str
    digest: str
    accepted_at: float
    forget_at: float

    def result(self) -> dict[str, Any] | None:
        """The result of the run: state, output, reason; None while it goes on."""
        return read_json(self.folder / RESULT)

    def processes(self) -> dict[str, Any]:
        """Pids and births of ``wrapper`` and ``command``, as far as known."""
        return read_json(self.folder / RUN) or {}

    def starts(self) -> int:
        """The number of wrappers that were started for this run."""
        try:
            return (self.folder / _STARTS).read_bytes().count(b"\n")
        except FileNotFoundError:
            return 0

    def note_start(self) -> None:
        """Count a start; durable when this returns."""
        descriptor = os.open(self.folder / _STARTS, os.O_WRONLY | os.O_APPEND)
        try:
            os.write(descriptor, b"start\n")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def ask_to_cancel(self) -> None:
        """Write a mark that the wrapper looks for when it starts."""
        write_whole(self.folder / CANCEL, b"")

    def open_lock(self) -> int:
        """A descriptor of the lock file, not inherited by children."""
        return os.open(self.folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)

    def end(self, state: str, reason: str, now: float) -> None:
        """Write a result that no wrapper wrote."""
        write_json(
            self.folder / RESULT,
            {"state": state, "output": None, "reason": reason, "finished_at": now},
        )
        self.tidy()

    def complaint(self) -> str:
        """The last line that the wrapper itself wrote, usually none."""
        try:
            said = (self.folder / WRAPPER_LOG).read_text(errors="replace")
        except FileNotFoundError:
            return ""
        return said.strip().rpartition("\n")[2]

    def tidy(self) -> None:
        """Delete the files that an ended run no longer needs."""
        for name in NEEDLESS:
            (self.folder / name).unlink(missing_ok=True)


class KeyReused(Exception):
    """The key was used before for another request."""


class Journal:
    """The runs in one folder, for many threads of one process."""

    def __init__(self, folder: Path) -> None:
        """Makes the folder where needed, for this user alone."""
        self._runs = folder / "runs"
        self._runs.mkdir(mode=0o700, parents=True, exist_ok=True)
        for rest in self._runs.glob(".new-*"):
            shutil.rmtree(rest)

    def find(self, key: str) -> Run | None:
        """The run of ``key``."""
        return self._load(self._runs / _make_folder_name(key))

    def runs(self) -> Iterator[Run]:
        """The runs, oldest first."""
        found = (self._load(folder) for folder in self._runs.iterdir() if folder.is_dir())
        yield from sorted((run for run in found if run), key=lambda run: run.accepted_at)

    def accept(
        self, key: str, workflow: str, action: str, body: bytes, now: float, forget_at: float
    ) -> tuple[Run, bool]:
        """The run of ``key`` and whether it is new; durable when this returns.

        Raises KeyReused where the key belongs to another workflow or body.
        """
        digest = hashlib.sha256(workflow.encode() + b"\0" + body).hexdigest()
        known = self.find(key)
        if known is not None:
            if known.digest != digest:
                raise KeyReused(key)
            return known, False
        fields = {
            "key": key,
            "workflow": workflow,
            "action": action,
            "digest": digest,
            "accepted_at": now,
            "forget_at": forget_at,
        }
        name = _make_folder_name(key)
        new = self._runs / f".new-{name}-{threading.get_ident()}"
        new.mkdir(mode=0o700)
        write_new(new / BODY, body)
        write_new(new / _REQUEST, json.dumps(fields).encode())
        write_new(new / _STARTS, b"")
        sync_folder(new)
        folder = self._runs / name
        try:
            new.rename(folder)
        except OSError:
            # Another thread was first with this key; a folder that is not empty is not replaced.
            shutil.rmtree(new)
            if self.find(key) is None:
                raise
            return self.accept(key, workflow, action, body, now, forget_at)
        sync_folder(self._runs)
        return Run(folder, key, workflow, action, digest, now, forget_at), True

    def forget(self, now: float) -> None:
        """Drop ended runs whose time is over."""
        for run in list(self.runs()):
            if run.forget_at < now and run.result() is not None:
                shutil.rmtree(run.folder)

    def _load(self, folder: Path) -> Run | None:
        fields = read_json(folder / _REQUEST)
        return None if fields is None else Run(folder=folder, **fields)


def try_lock(descriptor: int) -> bool:
    """Take the lock; False where somebody holds it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def wait_for_lock(descriptor: int) -> None:
    """Return when nobody holds the lock any more."""
    fcntl.flock(descriptor, fcntl.LOCK_EX)


def _make_folder_name(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
