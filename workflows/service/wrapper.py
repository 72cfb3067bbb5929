"""Runs one command, apart from the service, and journals how it ended.

Started by the service as ``main(FOLDER)`` in a process and a session of its own, with the folder's
lock held by an inherited descriptor: as long as this process lives, the lock is taken. It outlives
the service. SIGTERM cancels. Standard library only: no site packages are there.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from .. import atomic_files as files
from .clock import ServiceClock
from .processes import read_identity

LONGEST_OUTPUT = 1024 * 1024
LONGEST_REASON = 3000
GRACE = 5.0
_LOOK = 0.05


class Wrapper:
    """Runs one command and watches it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._plan: Mapping[str, Any] = json.loads((folder / files.PLAN).read_bytes())
        self._child: subprocess.Popen[bytes] | None = None
        self._ended_by = ""

    def run(self) -> None:
        """Start the command, wait for its end, write the result."""
        signal.signal(signal.SIGTERM, self._on_cancel)
        signal.signal(signal.SIGALRM, self._on_alarm)
        try:
            code = self._wait(self._start())
        except OSError as error:
            name = self._plan["argv"][0]
            what = f"{error.filename or name}: {error.strerror}"
            self._finish("failed", None, f"The command cannot be run: {what}")
            return
        except ValueError as error:
            self._finish("failed", None, f"The command cannot be run: {error}")
            return
        self._interpret_code(code)

    def _start(self) -> subprocess.Popen[bytes]:
        with (
            open(self._folder / files.BODY, "rb") as stdin,
            _open_private(self._folder / files.OUT) as stdout,
            _open_private(self._folder / files.ERR) as stderr,
        ):
            self._child = subprocess.Popen(
                self._plan["argv"],
                cwd=self._plan["cwd"],
                env=self._build_environment(),
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        processes = {
            "wrapper": read_identity(os.getpid()),
            "command": read_identity(self._child.pid),
        }
        # Pids mean nothing after a crash of the machine.
        files.write_json(self._folder / files.RUN, processes, durable=False)
        # The service leaves the mark first and then looks for a pid to send the signal to.
        if files.is_cancel_requested(self._folder):
            self._ended_by = "cancelled"
        return self._child

    def _build_environment(self) -> dict[str, str]:
        """The service's environment without zonda's own settings, secrets among them."""
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("ZONDA_")}
        return {**inherited, **self._plan["env"]}

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
        for _ in range(int(GRACE / _LOOK)):
            try:
                os.killpg(group, 0)
            except ProcessLookupError:
                return
            select.select([], [], [], _LOOK)
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
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._child.pid, number)

    def _interpret_code(self, code: int) -> None:
        output, fault = read_output(self._folder / files.OUT)
        if self._ended_by == "cancelled":
            self._finish("cancelled", output, "The run was cancelled.")
        elif self._ended_by == "timeout":
            reason = f"The run was ended after {self._plan['timeout']:g} s (timeout)."
            self._finish("failed", output, reason)
        elif code != 0:
            tail, marked, reason = read_tail(self._folder / files.ERR).partition(files.REASON_MARK)
            tail = tail or (output or {}).get(files.TEXT, "")[-LONGEST_REASON:]
            if not marked:
                reason = f"{_describe_end(code)}: {tail}" if tail else _describe_end(code)
            self._finish("failed", output, reason)
        elif fault:
            self._finish("failed", None, fault)
        else:
            self._finish("succeeded", output, "")

    def _finish(self, state: str, output: dict[str, Any] | None, reason: str) -> None:
        # From here on the run has ended, whoever may still want to cancel it.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        now = ServiceClock().now()
        result = {"state": state, "output": output, "reason": reason, "finished_at": now}
        files.write_json(self._folder / files.RESULT, result)
        for name in files.NEEDLESS:
            (self._folder / name).unlink(missing_ok=True)


def _open_private(path: Path) -> Any:
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")


def _describe_end(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):
        return f"ended by {signal.Signals(-code).name}"
    return f"ended by signal {-code}"


def read_output(path: Path) -> tuple[dict[str, Any] | None, str]:
    """The JSON object in what a command wrote (all of it, or its last line), or a fault.

    Text of another kind is the output ``stdout``; what begins as an object was meant as one.
    """
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_size > LONGEST_OUTPUT:
            return None, f"The command wrote more than {LONGEST_OUTPUT} bytes of output."
        text = path.read_bytes().decode("utf-8", "replace").strip()
        fault, last = "", text.rpartition("\n")[2]
        for candidate in (last, text):
            if candidate.startswith("{") and (candidate == last or text.endswith("}")):
                try:
                    return json.loads(candidate, parse_constant=_refuse), ""
                except (ValueError, RecursionError) as error:
                    fault = f"The command wrote no JSON object: {error}"
        if fault or not text:
            return None, fault
        return {files.TEXT: text}, ""
    return None, ""


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def read_tail(path: Path) -> str:
    """The end of what a command said on stderr."""
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - LONGEST_REASON))
        return file.read().decode("utf-8", "replace").strip()
    return ""


def main(folder: str) -> None:
    """Run one command: the process that the service starts for a run."""
    Wrapper(Path(folder)).run()
