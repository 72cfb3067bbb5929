"""Runs one command, apart from the process that wants it, and writes down how it ended.

Started by ``DetachedRun`` as ``main(FOLDER, LOCK)`` in a process and a session of its own, the plan
as JSON on standard input. The folder's lock is held by an inherited descriptor: as long as this
process lives, the lock is taken. SIGTERM cancels. No site packages are there.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType
from typing import IO, Any

from .files import write_json
from .identity import read_identity

#: Names in the folder of a run.
STARTED, CANCEL, RESULT = "run.json", "cancel", "result.json"
STDIN, STDOUT, STDERR = "stdin", "stdout", "stderr"
#: Seconds from SIGTERM to SIGKILL.
GRACE = 5.0
_PAUSE = 0.05


class Wrapper:
    """Runs one command and watches it."""

    def __init__(self, folder: Path, lock: int, plan: dict[str, Any]) -> None:
        self._folder = folder
        self._lock = lock
        self._plan = plan
        self._child: subprocess.Popen[bytes] | None = None
        self._ended_by = ""

    def run(self) -> None:
        """Start the command, wait for its end, write the result."""
        signal.signal(signal.SIGTERM, self._on_cancel)
        signal.signal(signal.SIGALRM, self._on_alarm)
        code, error = -1, ""
        try:
            code = self._wait(self._start())
        except OSError as fault:
            error = f"{fault.filename or self._plan['argv'][0]}: {fault.strerror}"
        except ValueError as fault:
            error = str(fault)
        # From here on the run has ended, whoever may still want to cancel it.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if self._ended_by == "cancelled" and self._plan["forget_cancelled"]:
            for path in self._folder.iterdir():
                path.unlink()
            self._folder.rmdir()
        else:
            self._write_result(code, error)

    def _start(self) -> subprocess.Popen[bytes]:
        wrapper = read_identity(os.getpid())
        # Before the command: without this file, nothing was run.
        write_json(self._folder / STARTED, {"wrapper": wrapper})
        with (
            self._open(STDIN) as stdin,
            self._open(STDOUT) as stdout,
            self._open(STDERR) as stderr,
        ):
            (self._folder / STDIN).unlink()
            stdin.write(self._plan["stdin"].encode("utf-8", "surrogateescape"))
            stdin.seek(0)
            self._child = subprocess.Popen(
                self._plan["argv"],
                cwd=self._plan["cwd"],
                env=self._plan["env"],
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
                pass_fds=[self._lock] if self._plan["hold_lock"] else [],
            )
        processes = {"wrapper": wrapper, "command": read_identity(self._child.pid)}
        # Pids mean nothing after a crash of the machine.
        write_json(self._folder / STARTED, processes, durable=False)
        # A cancellation writes the mark first and then looks for a pid to send the signal to.
        if (self._folder / CANCEL).exists():
            self._ended_by = "cancelled"
        return self._child

    def _open(self, name: str) -> IO[bytes]:
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC
        return open(os.open(self._folder / name, flags, 0o600), "w+b")

    def _wait(self, child: subprocess.Popen[bytes]) -> int:
        if self._ended_by:
            self._end_command()
        elif self._plan["timeout"] is not None:
            signal.setitimer(signal.ITIMER_REAL, self._plan["timeout"])
        code = child.wait()
        signal.setitimer(signal.ITIMER_REAL, 0)
        if self._ended_by:
            self._end_rest(child.pid)
        return code

    def _end_rest(self, group: int) -> None:
        """End the remaining processes of the command, after the grace time by force."""
        for _ in range(int(GRACE / _PAUSE)):
            try:
                os.killpg(group, 0)
            except (ProcessLookupError, PermissionError):
                return
            select.select([], [], [], _PAUSE)
        self._signal(signal.SIGKILL)

    def _on_cancel(self, number: int, frame: FrameType | None) -> None:
        if not self._ended_by:
            self._ended_by = "cancelled"
            self._end_command()

    def _on_alarm(self, number: int, frame: FrameType | None) -> None:
        if self._ended_by:
            self._signal(signal.SIGKILL)
        else:
            self._ended_by = "timeout"
            self._end_command()

    def _end_command(self) -> None:
        """Send SIGTERM; the alarm after the grace time sends SIGKILL."""
        if self._child is not None:
            self._signal(signal.SIGTERM)
            signal.setitimer(signal.ITIMER_REAL, GRACE)

    def _signal(self, number: signal.Signals) -> None:
        if self._child is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, number)

    def _write_result(self, code: int, error: str) -> None:
        result = {"exit_code": code, "ended_by": self._ended_by, "error": error}
        result["timeout"] = self._plan["timeout"]
        for name in () if error else (STDOUT, STDERR):
            result[name], result[f"{name}_dropped"] = self._read(name)
        write_json(self._folder / RESULT, result)
        (self._folder / STDOUT).unlink(missing_ok=True)

    def _read(self, name: str) -> tuple[str, int]:
        """The beginning and the end of an output, and the number of bytes between them."""
        half = max(1, self._plan["limits"][name] // 2)
        with open(self._folder / name, "rb") as file:
            head = file.read(half)
            dropped = max(0, os.fstat(file.fileno()).st_size - 2 * half)
            file.seek(len(head) + dropped)
            tail = file.read(half)
        gap = b"\n[... %d bytes left out ...]\n" % dropped if dropped else b""
        return (head + gap + tail).decode("utf-8", "replace"), dropped


def main(folder: str, lock: str) -> None:
    """Run one command: the whole of the process."""
    Wrapper(Path(folder), int(lock), json.loads(sys.stdin.buffer.read())).run()
