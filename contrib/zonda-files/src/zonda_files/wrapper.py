"""Runs one command, apart from zonda, and writes down how it ended.

Started by ``runs`` as a script of its own, in a session of its own, with the folder's lock held by
an inherited descriptor: ``wrapper.py FOLDER LOCK``, the plan as JSON on standard input. It outlives
zonda. SIGTERM cancels: the command is ended, and nothing is kept. Standard library only.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

STARTED, RESULT = "started", "result.json"
GRACE = 5.0
#: How long output is waited for after the command has ended: what it left in the background may
#: hold the pipe open for ever.
QUIET = 0.3


def main(folder: str, lock: str) -> int:
    """The whole of the process."""
    plan = json.loads(sys.stdin.buffer.read())
    here = Path(folder)
    write(here / STARTED, {"wrapper": os.getpid()})
    watch = Watch(plan, int(lock))
    result = watch.run()
    if watch.ended_by == "cancelled":
        shutil.rmtree(here, ignore_errors=True)
    else:
        write(here / RESULT, result)
    return 0


def write(path: Path, value: Any) -> None:
    """Write JSON so that it is there as a whole or not at all."""
    made = path.with_suffix(".new")
    with open(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(value, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(made, path)


class Kept:
    """The beginning and the end of a stream, ``limit`` bytes together."""

    def __init__(self, limit: int) -> None:
        self._half = max(1, limit // 2)
        self._head = b""
        self._tail = b""
        self._dropped = 0

    def add(self, data: bytes) -> None:
        """Keep what there is room for."""
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room > 0 else data
        surplus = len(self._tail) - self._half
        if surplus > 0:
            self._tail = self._tail[surplus:]
            self._dropped += surplus

    def text(self) -> str:
        """What was kept, with a line about what was not."""
        gap = b"\n[... %d bytes left out ...]\n" % self._dropped if self._dropped else b""
        return (self._head + gap + self._tail).decode("utf-8", "replace")


class Watch:
    """One command under watch: its output, its time, its end."""

    def __init__(self, plan: dict[str, Any], lock: int) -> None:
        self._plan = plan
        self._lock = lock
        self._out, self._err = Kept(plan["limit"]), Kept(plan["limit"])
        self._deadline = time.monotonic() + plan["timeout"]
        self.ended_by = ""
        self._asked: list[int] = []

    def run(self) -> dict[str, Any]:
        """Start the command, wait for its end, tell how it was."""
        woken, wake = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(woken, False)
        signal.signal(signal.SIGTERM, self._on_term)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        try:
            child = self._start()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            return {"error": f"it cannot be run: {reason}"}
        code = self._follow(child, woken)
        return {
            "exit_code": code,
            "stdout": self._out.text(),
            "stderr": self._err.text(),
            "ended_by": self.ended_by,
        }

    def _start(self) -> subprocess.Popen[bytes]:
        with tempfile.TemporaryFile() as stdin:
            stdin.write(self._plan["stdin"].encode())
            stdin.seek(0)
            return subprocess.Popen(
                self._plan["argv"],
                cwd=self._plan["cwd"] or "/",
                env=self._plan["env"],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                # As long as anything of it lives the run counts as running, even without us.
                pass_fds=[self._lock],
            )

    def _follow(self, child: subprocess.Popen[bytes], woken: int) -> int:
        with selectors.DefaultSelector() as selector:
            selector.register(woken, selectors.EVENT_READ, None)
            for stream, kept in ((child.stdout, self._out), (child.stderr, self._err)):
                assert stream is not None
                os.set_blocking(stream.fileno(), False)
                selector.register(stream, selectors.EVENT_READ, kept)
            while child.poll() is None:
                self._read(selector, self._time_left(child.pid))
            while len(selector.get_map()) > 1 and self._read(selector, QUIET):
                pass
        if self.ended_by:
            self._end_rest(child.pid)
        return child.returncode

    def _read(self, selector: selectors.BaseSelector, seconds: float) -> bool:
        """Take what is there within ``seconds``; whether there was output."""
        found = False
        for key, _ in selector.select(seconds):
            data = _bytes(key.fd)
            if key.data is None:
                continue
            found = True
            if data:
                key.data.add(data)
            elif data is not None:
                selector.unregister(key.fileobj)
        return found

    def _time_left(self, group: int) -> float:
        """Seconds until something is to be done; does what is due."""
        if self._asked and not self.ended_by:
            self.ended_by = "cancelled"
            self._end(group, signal.SIGTERM)
        left: float = self._deadline - time.monotonic()
        if left > 0:
            return min(left, 3600.0)
        if self.ended_by:
            self._end(group, signal.SIGKILL)
        else:
            self.ended_by = "timeout"
            self._end(group, signal.SIGTERM)
        return GRACE

    def _end(self, group: int, number: signal.Signals) -> None:
        self._deadline = time.monotonic() + GRACE
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)

    def _end_rest(self, group: int) -> None:
        """What the command has started gets some time to end, and then no more."""
        until = time.monotonic() + GRACE
        while time.monotonic() < until:
            try:
                os.killpg(group, 0)
            except (ProcessLookupError, PermissionError):
                return
            time.sleep(0.05)
        self._end(group, signal.SIGKILL)

    def _on_term(self, number: int, frame: FrameType | None) -> None:
        self._asked.append(number)


def _bytes(descriptor: int) -> bytes | None:
    try:
        return os.read(descriptor, 65536)
    except BlockingIOError:
        return None


def _exit() -> NoReturn:
    raise SystemExit(main(*sys.argv[1:]))


if __name__ == "__main__":
    _exit()
