"""Starts a command in a process of its own, and finds it again by its folder.

::

    lock           held as long as the wrapper of the command lives
    run.json       the pids of wrapper and command with their births; written before the command
    cancel         there if the end of the run was asked for
    wrapper.log    what the wrapper complained of, if it did
    result.json    how the command ended, and its output; written last
    stderr         what the command said
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

from . import wrapper
from .files import read_json, write_whole
from .identity import send_signal

_LOCK, _LOG = "lock", "wrapper.log"
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND
#: Without site packages a wrapper starts in two thirds of the time; it needs none.
WRAPPER = (
    sys.executable,
    "-I",
    "-S",
    "-c",
    f"import sys; sys.path.append({str(Path(__file__).parents[3])!r}); "
    f"from {wrapper.__name__} import main; main(*sys.argv[1:])",
)


class Plan(TypedDict):
    """One command.

    ``env`` is the whole environment. ``limits``: of ``stdout`` and ``stderr``, how many bytes stand
    in the result. ``hold_lock``: the run counts as running while anything of the command lives,
    even without its wrapper. ``forget_cancelled``: a cancelled run leaves no folder.
    """

    argv: Sequence[str]
    cwd: str
    env: Mapping[str, str]
    stdin: str
    timeout: float | None
    limits: Mapping[str, int]
    hold_lock: bool
    forget_cancelled: bool


class DetachedRun:
    """One run of one command, begun or not. Its folder is its name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def start(self, plan: Plan, *, again: bool = False) -> subprocess.Popen[bytes] | None:
        """Start the wrapper, which is returned; None where one is running. Raises OSError.

        None, too, where the command may have been run before, unless ``again``.
        """
        descriptor = self._open_lock()
        try:
            if not try_lock(descriptor) or (self.was_started() and not again):
                return None
            # The wrapper inherits the locked descriptor: from before it begins until it is gone,
            # the lock is taken, and the pid of a stranger can never be mistaken for it.
            with open(os.open(self.folder / _LOG, _APPEND, 0o600), "ab") as log:
                child = subprocess.Popen(
                    [*WRAPPER, str(self.folder.absolute()), str(descriptor)],
                    cwd="/",
                    env=own_environment(),
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=log,
                    pass_fds=[descriptor],
                    start_new_session=True,
                )
        finally:
            os.close(descriptor)
        # Secret values go through the pipe: they are in no file and in no list of processes.
        with contextlib.suppress(BrokenPipeError):
            assert child.stdin is not None
            with child.stdin as pipe:
                pipe.write(json.dumps(plan).encode())
        return child

    def was_started(self) -> bool:
        """Whether the command may have been run."""
        return (self.folder / wrapper.STARTED).exists()

    def is_running(self) -> bool:
        """Whether the wrapper lives."""
        return not self._try_lock(block=False)

    def wait(self) -> None:
        """Return when the wrapper is gone."""
        self._try_lock(block=True)

    def read_result(self) -> dict[str, Any] | None:
        """``exit_code``, ``stdout``, ``stderr``, ``ended_by``, ``error``; None before the end."""
        return read_json(self.folder / wrapper.RESULT)

    def read_complaint(self) -> str:
        """The last line that the wrapper itself wrote, usually none."""
        with contextlib.suppress(FileNotFoundError):
            return (self.folder / _LOG).read_text(errors="replace").strip().rpartition("\n")[2]
        return ""

    def cancel(self) -> None:
        """End the command and all that it has started; a wrapper that starts now sees it, too."""
        write_whole(self.folder / wrapper.CANCEL, b"")
        send_signal(self._processes().get("wrapper"), signal.SIGTERM)

    def is_cancelled(self) -> bool:
        """Tell whether the run was asked to end."""
        return (self.folder / wrapper.CANCEL).exists()

    def kill_command(self) -> None:
        """End what the command has left alive without a wrapper."""
        send_signal(self._processes().get("command"), signal.SIGKILL, group=True)

    def _processes(self) -> dict[str, Any]:
        return read_json(self.folder / wrapper.STARTED) or {}

    def _open_lock(self) -> int:
        return os.open(self.folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)

    def _try_lock(self, *, block: bool) -> bool:
        descriptor = self._open_lock()
        try:
            return try_lock(descriptor, block=block)
        finally:
            os.close(descriptor)


def try_lock(descriptor: int, *, block: bool = False) -> bool:
    """Take the lock of a file; False where somebody holds it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if block else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def own_environment() -> dict[str, str]:
    """The environment of this process without zonda's own settings, secrets among them."""
    return {name: text for name, text in os.environ.items() if not name.startswith("ZONDA_")}
