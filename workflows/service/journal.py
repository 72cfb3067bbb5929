"""The journal of the bundled service: one folder per run, named after its key.

::

    runs/<sha256 of the key>/
      request.json   key, workflow, action, digest of the body, when accepted, when to forget
      body           the request's JSON, until the run has ended
      http.json      where the request is sent on to, until the run has ended
      starts         one line per start of a wrapper
      result.json    how the command ended; state and reason where no wrapper has ended the run

and the other files of a ``DetachedRun``. Whole files are written beside their place, synced and
renamed, so a crash leaves the old file or the new one.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zonda.hooks.processes import DetachedRun, read_json, sync_folder, write_json, write_new

from .outcome import interpret

BODY, HTTP = "body", "http.json"
_REQUEST, _STARTS = "request.json", "starts"


@dataclass(frozen=True)
class Run(DetachedRun):
    """One accepted request. Times in seconds since the epoch."""

    folder: Path
    key: str
    workflow: str
    action: str
    digest: str
    accepted_at: float
    forget_at: float

    def read_outcome(self) -> dict[str, Any] | None:
        """The outcome of the run: state, output, reason; None while it goes on."""
        result = self.read_result()
        return None if result is None else interpret(result)

    def starts(self) -> int:
        """The number of wrappers that were started for this run."""
        return (self.folder / _STARTS).read_bytes().count(b"\n")

    def note_start(self) -> None:
        """Count a start."""
        with open(self.folder / _STARTS, "ab") as file:
            file.write(b"start\n")

    def end(self, state: str, reason: str) -> None:
        """Write a result that no wrapper wrote."""
        write_json(self.folder / "result.json", {"state": state, "reason": reason})
        self.tidy()

    def tidy(self) -> None:
        """Delete the files that an ended run no longer needs."""
        for name in (BODY, HTTP):
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
            if run.forget_at < now and run.read_result() is not None:
                shutil.rmtree(run.folder)

    def _load(self, folder: Path) -> Run | None:
        fields = read_json(folder / _REQUEST)
        return None if fields is None else Run(folder=folder, **fields)


def _make_folder_name(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
