"""The process of the agent: a line of JSON asks, a line of JSON answers.

Standard input has the questions, the file descriptor of the argument takes the answers, so that
nothing that a library prints gets between them. Each question is answered by a child, so that any
number are at work, and one that hangs or breaks harms no other. When the input ends (zonda is gone)
no more are taken, and those at work come to their end.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import selectors
import shutil
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from . import tasks
from .documentation import NoInterface, read_interface


class Child:
    """A process that answers one question, and the pipe that its answer comes through."""

    def __init__(self, question: Mapping[str, Any], inherited: Callable[[], None]) -> None:
        self.id = question["id"]
        limit = question.get("limit")
        self.ends_at = time.monotonic() + limit if limit else None
        self.said = b""
        self.late = False
        self.reader, writer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.reader)
            inherited()
            _answer(question, writer)
        os.close(writer)
        os.set_blocking(self.reader, False)

    def read(self) -> bool:
        """Read what is there; whether that was the end."""
        with contextlib.suppress(BlockingIOError):
            while part := os.read(self.reader, 1 << 16):
                self.said += part
            return True
        return False

    def end(self) -> dict[str, Any]:
        """Wait for the process, and return the answer."""
        os.close(self.reader)
        _, status = os.waitpid(self.pid, 0)
        if self.late:
            return {"id": self.id, "late": True}
        try:
            return {**json.loads(self.said), "id": self.id}
        except ValueError:
            return {"id": self.id, "lost": os.waitstatus_to_exitcode(status)}

    def kill_late(self) -> None:
        """Kill the process with all that it has started, where its time is over."""
        if self.ends_at is not None and time.monotonic() > self.ends_at and not self.late:
            self.late = True
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)


def _answer(question: Mapping[str, Any], writer: int) -> NoReturn:
    """Write the answer and end the process."""
    status = 1
    try:
        os.setsid()  # it has no terminal to ask for a password on
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        said = json.dumps(_find_answer(question)).encode()
        with open(writer, "wb") as pipe:
            pipe.write(said)
        status = 0
    finally:
        os._exit(status)


def _find_answer(question: Mapping[str, Any]) -> dict[str, Any]:
    if "file" in question:
        try:
            return read_interface(question["module"], question["file"])
        except NoInterface as error:
            return {"error": str(error)}
    lock = os.open(question["lock"], os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)  # an earlier run of the same thing comes to its end first
    return {"result": tasks.run_module(question)}


class Server:
    """The loop over questions and children."""

    def __init__(self, answers: int) -> None:
        self._answers = answers
        self._events = selectors.DefaultSelector()
        self._events.register(0, selectors.EVENT_READ)
        self._children: dict[int, Child] = {}
        self._unread = b""
        self._is_open = True

    def serve(self) -> None:
        """Answer until the input has ended and every child, too."""
        while self._is_open or self._children:
            for key, _ in self._events.select(1.0):
                if key.fd == 0:
                    self._take_questions()
                elif self._children[key.fd].read():
                    self._finish(key.fd)
            for child in self._children.values():
                child.kill_late()

    def _take_questions(self) -> None:
        part = os.read(0, 1 << 16)
        if not part:
            self._is_open = False
            self._events.unregister(0)
            return
        *lines, self._unread = (self._unread + part).split(b"\n")
        for line in lines:
            child = Child(json.loads(line), self._close_inherited)
            self._children[child.reader] = child
            self._events.register(child.reader, selectors.EVENT_READ)

    def _close_inherited(self) -> None:
        self._events.close()
        os.close(self._answers)
        for reader in self._children:
            os.close(reader)

    def _finish(self, reader: int) -> None:
        self._events.unregister(reader)
        said = json.dumps(self._children.pop(reader).end()) + "\n"
        with contextlib.suppress(BrokenPipeError):  # nobody is there any more
            unwritten = said.encode()
            while unwritten:
                unwritten = unwritten[os.write(self._answers, unwritten) :]


def remove_left_files(folder: Path) -> None:
    """Remove temporary files of agents that were killed: there may be secrets in them."""
    for left in folder.glob("ansible-local-*"):
        pid = "".join(filter(str.isdigit, left.name.split("-")[2][:7]))
        if not Path("/proc", pid).exists():
            shutil.rmtree(left, ignore_errors=True)


def main() -> None:
    """Answer until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's, which is meant for zonda
    remove_left_files(Path(os.environ["ANSIBLE_LOCAL_TEMP"]))
    tasks.prepare()
    Server(int(sys.argv[1])).serve()


if __name__ == "__main__":
    main()
