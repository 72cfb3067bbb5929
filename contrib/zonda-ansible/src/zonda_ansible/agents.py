"""The agent: a process with ansible-core, asked by any number of threads.

Questions and answers go through pipes, so that no secret stands in a list of processes or a file.
Called by ``interfaces`` and ``runs``.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, Final

from zonda.hooks import ResourceFailure

from .index import find_cache_folder, find_configuration

Answer = dict[str, Any]


class Agent:
    """A process of the agent, which ends with this one."""

    def __init__(self) -> None:
        reader, writer = os.pipe()
        self.temporary = find_cache_folder() / "tmp"
        self.temporary.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "zonda_ansible.agent", str(writer), str(self.temporary)],
            cwd="/",
            env=make_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[writer],
            start_new_session=True,
        )
        os.close(writer)
        self._lock = threading.Lock()
        self._pending: dict[int, Future[Answer]] = {}
        self._count = 0
        threading.Thread(target=self._read, args=(reader,), daemon=True).start()
        atexit.register(self.close)

    @property
    def is_alive(self) -> bool:
        """Whether it may be asked."""
        return self._process.poll() is None

    def ask(self, question: Mapping[str, Any]) -> Future[Answer]:
        """The answer to come; it is ``{"lost": ...}`` where the agent ends before."""
        future: Future[Answer] = Future()
        with self._lock:
            self._count += 1
            self._pending[self._count] = future
            line = json.dumps({**question, "id": self._count}) + "\n"
            assert self._process.stdin is not None
            try:
                self._process.stdin.write(line.encode())
                self._process.stdin.flush()
            except (OSError, ValueError):
                self._pending.pop(self._count, None)
                future.set_result({"lost": "the agent has ended"})
        return future

    def close(self) -> None:
        """Ask nothing more: it ends when what it is doing has come to its end."""
        with self._lock, contextlib.suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        atexit.unregister(self.close)

    def _read(self, reader: int) -> None:
        with os.fdopen(reader, "rb") as answers:
            for line in answers:
                answer = json.loads(line)
                with self._lock:
                    future = self._pending.pop(answer.pop("id"))
                future.set_result(answer)
        self._process.wait()
        with self._lock:
            left, self._pending = self._pending, {}
        for future in left.values():
            future.set_result({"lost": "the agent has ended"})


def make_environment() -> dict[str, str]:
    """The environment of ansible-core: without zonda's own settings, and never asking anybody."""
    left_out = ("ZONDA_", "ANSIBLE_CONFIG")
    kept = {name: text for name, text in os.environ.items() if not name.startswith(left_out)}
    file = find_configuration()
    return {
        # Without it a module's options would stand in a file on the host while it runs.
        "ANSIBLE_PIPELINING": "1",
        **kept,
        **({"ANSIBLE_CONFIG": file} if file else {}),
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_DEPRECATION_WARNINGS": "0",
        "ANSIBLE_DEVEL_WARNING": "0",
        "PYTHONUTF8": "1",
        "LC_ALL": kept.get("LC_ALL") or "C.UTF-8",
    }


_LOCK: Final = threading.Lock()
_agents: dict[str, Agent] = {}


def get_agent(fingerprint: str) -> Agent:
    """The agent for a set of collections. One that knows another set would not find new modules."""
    with _LOCK:
        found = _agents.get(fingerprint)
        if found is None or not found.is_alive:
            for each in _agents.values():
                each.close()
            _agents.clear()
            try:
                found = _agents[fingerprint] = Agent()
            except OSError as error:
                raise ResourceFailure(f"ansible-core cannot be started: {error}") from error
        return found
