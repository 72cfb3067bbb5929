"""The process of the agent: a line of JSON asks, a line of JSON answers.

Standard input has the questions, the file descriptor of the argument takes the answers, so that
nothing that a library prints gets between them. Each question is answered by a child, so that many
are at work at a time, and one that hangs or breaks harms no other. When the input ends (zonda is
gone) no more are taken, and those at work come to their end.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import selectors
import shutil
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NoReturn

from . import queue, records, tasks
from .documentation import NoInterface, read_interface

#: Seconds that the removal of what a killed module has left may take.
_SWEEP: Final = 30


class Child:
    """A process that answers one question, and the pipe that its answer comes through."""

    def __init__(self, question: Mapping[str, Any], inherited: Callable[[], None]) -> None:
        self.question = {**question, "mark": secrets.token_hex(8)}
        limit = question.get("limit")
        self.ends_at = time.monotonic() + limit if limit else None
        self.said = b""
        self.late = False
        self.reader, writer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.reader)
            inherited()
            _answer(self.question, writer)
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
        shutil.rmtree(_get_folder(self.pid), ignore_errors=True)
        if self.late:
            return {"late": True}
        try:
            answer = dict(json.loads(self.said))
        except ValueError:
            return {"lost": os.waitstatus_to_exitcode(status)}
        if "timedout" in answer.get("result", ()):
            self._kill()  # Ansible gives the module up and leaves it running
            return {"late": True}
        return answer

    def ask_sweep(self) -> dict[str, Any] | None:
        """The question that removes what a module that was killed has left; None for others."""
        if "options" not in self.question:
            return None
        return {
            "id": self.question["id"],
            "swept": self.question["mark"],
            "variables": self.question["variables"],
            "limit": _SWEEP,
        }

    def kill_late(self) -> None:
        """Kill the process with all that it has started, where its time is over."""
        if self.ends_at is not None and time.monotonic() > self.ends_at and not self.late:
            self.late = True
            self._kill()

    def _kill(self) -> None:
        """Kill all that the process has started and that has not left it."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)


def _answer(question: Mapping[str, Any], writer: int) -> NoReturn:
    """Write the answer and end the process."""
    status, folder = 1, _get_folder(os.getpid())
    try:
        os.setsid()  # it has no terminal to ask for a password on
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        tasks.use_folder(folder, question["mark"])
        said = json.dumps(_find_answer(question)).encode()
        with open(writer, "wb") as pipe:
            pipe.write(said)
        status = 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(status)


def _find_answer(question: Mapping[str, Any]) -> dict[str, Any]:
    if "file" in question:
        try:
            return read_interface(question["module"], question["file"])
        except NoInterface as error:
            return {"error": str(error)}
    if "swept" in question:
        tasks.remove_left(question["swept"], question["variables"])
        return {}
    return records.run_once(question, tasks.run_module)


def _get_folder(pid: int) -> Path:
    """The folder for temporary files of a process."""
    return Path(os.environ["ANSIBLE_LOCAL_TEMP"]).with_name(str(pid))


class Server:
    """The loop over questions and children."""

    def __init__(self, answers: int) -> None:
        self._answers = answers
        self._events = selectors.DefaultSelector()
        self._events.register(0, selectors.EVENT_READ)
        self._children: dict[int, Child] = {}
        #: The answers that wait until what a killed module has left is removed, by question.
        self._held: dict[int, dict[str, Any]] = {}
        self._unread = b""
        self._is_open = True
        #: The questions that wait until fewer modules run.
        self._waiting = queue.Queue()
        self._places = tasks.get_parallel()

    def serve(self) -> None:
        """Answer until the input has ended and every child, too."""
        while self._is_open or self._children or self._waiting:
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
            self._waiting.put(json.loads(line))
        self._begin_waiting()

    def _begin_waiting(self) -> None:
        while self._waiting and len(self._children) < self._places:
            at_work = [each.question for each in self._children.values()]
            self._begin(self._waiting.take(at_work))

    def _begin(self, question: Mapping[str, Any]) -> None:
        child = Child(question, self._close_inherited)
        self._children[child.reader] = child
        self._events.register(child.reader, selectors.EVENT_READ)

    def _close_inherited(self) -> None:
        self._events.close()
        os.close(self._answers)
        for reader in self._children:
            os.close(reader)

    def _finish(self, reader: int) -> None:
        self._events.unregister(reader)
        child = self._children.pop(reader)
        number = child.question["id"]
        answer = child.end()
        sweep = child.ask_sweep() if answer.keys() & {"late", "lost"} else None
        if sweep is not None:
            self._held[number] = answer
            self._begin(sweep)
            return
        said = json.dumps({**self._held.pop(number, answer), "id": number}) + "\n"
        self._begin_waiting()
        with contextlib.suppress(BrokenPipeError):  # nobody is there any more
            unwritten = said.encode()
            while unwritten:
                unwritten = unwritten[os.write(self._answers, unwritten) :]


def remove_left_files(folder: Path) -> None:
    """Remove temporary files of processes that were killed: there may be secrets in them.

    A child goes on without its agent, and reads in the agent's folder.
    """
    folders = [each for each in folder.iterdir() if each.name.isdigit()]
    living = {each for each in folders if Path("/proc", each.name).exists()}
    used = {read for each in living for read in tasks.find_shared(each).parents}
    for left in {*folders} - living - used:
        shutil.rmtree(left, ignore_errors=True)


def main() -> None:
    """Answer until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's, which is meant for zonda
    folder = Path(sys.argv[2])
    remove_left_files(folder)
    os.environ["ANSIBLE_LOCAL_TEMP"] = str(folder / str(os.getpid()))
    try:
        tasks.prepare()
        Server(int(sys.argv[1])).serve()
    finally:
        shutil.rmtree(_get_folder(os.getpid()), ignore_errors=True)


if __name__ == "__main__":
    main()
