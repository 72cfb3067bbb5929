"""Commands that outlive zonda: each run is a folder, found again by the operation's id.

A run is begun once: the folder's lock is taken before the wrapper is started, and inherited by it,
and ``started`` is written before the command is. So whoever is killed when: a later attempt finds
that it was never begun and begins it, or finds it running, ended, or lost.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zonda.hooks import ResourceFailure

from . import wrapper

_LOCK = "lock"

#: What a command sees of zonda's own environment; zonda's settings and secrets are not among it.
INHERITED = (
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TMPDIR",
    "TZ",
    "USER",
)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended. ``error``: it could not be run; ``ended_by``: ``timeout``."""

    exit_code: int = -1
    stdout: str = ""
    stderr: str = ""
    ended_by: str = ""
    error: str = ""


class Lost(Exception):
    """The run was begun, has not ended in order, and is not running: nobody knows what it did."""


def inherited_environment() -> dict[str, str]:
    """The part of zonda's environment that commands see."""
    return {name: os.environ[name] for name in INHERITED if name in os.environ}


def home() -> Path:
    """Where the runs are: ``zonda-files`` in the user's folder for states."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "zonda-files"


class Run:
    """One run of one command."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)

    @classmethod
    def of(cls, operation_id: str) -> Run:
        """The run that belongs to an operation, begun or not."""
        return cls(str(home() / operation_id))

    def begin(self, plan: Mapping[str, Any]) -> None:
        """Start the command unless that was done before. Raises ResourceFailure."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with self._locked() as lock:
                if lock is not None and not self._was_begun():
                    self._spawn(plan, lock)
        except OSError as error:
            raise ResourceFailure(
                f"The command could not be started: {error.strerror} ({self.folder}; set "
                "XDG_STATE_HOME to a folder that can be written to)"
            ) from error

    def begin_again(self, plan: Mapping[str, Any]) -> None:
        """Start a command that was lost once more."""
        self.forget()
        self.begin(plan)

    def look(self) -> Ended | None:
        """How it ended; None while it runs. Raises Lost."""
        found = self._result()
        if found is not None:
            return found
        if not self.folder.is_dir():
            raise Lost
        with self._locked() as lock:
            if lock is None:
                return None
        found = self._result()  # it may have ended between the two looks
        if found is None:
            raise Lost
        return found

    def cancel(self) -> None:
        """End the command and all that it has started; nothing is kept of it."""
        with contextlib.suppress(OSError, ValueError, KeyError):
            with self._locked() as lock:
                running = lock is None
            if running:
                started = json.loads((self.folder / wrapper.STARTED).read_bytes())
                os.kill(started["wrapper"], signal.SIGTERM)

    def forget(self) -> None:
        """Remove what was written down."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _was_begun(self) -> bool:
        return (self.folder / wrapper.STARTED).exists() or self._result() is not None

    def _result(self) -> Ended | None:
        try:
            return Ended(**json.loads((self.folder / wrapper.RESULT).read_bytes()))
        except FileNotFoundError:
            return None

    @contextlib.contextmanager
    def _locked(self) -> Any:
        """The descriptor of the lock; None where somebody else holds it."""
        descriptor = os.open(self.folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            yield None
            return
        try:
            yield descriptor
        finally:
            os.close(descriptor)  # not unlocked: the wrapper may have inherited it

    def _spawn(self, plan: Mapping[str, Any], lock: int) -> None:
        words = [sys.executable, "-I", "-S", wrapper.__file__, str(self.folder), str(lock)]
        child = subprocess.Popen(
            words,
            cwd="/",
            env=inherited_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=[lock],
        )
        assert child.stdin is not None
        # What is secret goes through the pipe: it is in no file and in no list of processes.
        with child.stdin as pipe:
            pipe.write(json.dumps(plan).encode())
        _not_waited_for(child)


def _not_waited_for(child: subprocess.Popen[bytes]) -> None:
    """Nobody waits for the wrapper: it tells by its folder, and outlives zonda."""
    child.returncode = 0
