"""The interfaces of modules: read by ansible-core in a process of its own, once, and then kept.

Called by ``types`` when a template uses a module, and by the check of all modules.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from typing import Any, Final

from .index import FORMAT, Index, find_cache_folder, find_configuration, read_kept, write_kept


class NoInterface(Exception):
    """Nothing tells what a module takes; the text is the reason."""


class Agent:
    """A process with ansible-core, started when it is first asked, for any number of threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._answers: Any = None
        self._knows = ""

    def ask(self, index: Index, module: str) -> dict[str, Any]:
        """The interface of a module, or ``error`` with the reason; raises NoInterface.

        It is raised where ansible-core cannot be run, which says nothing of the module.
        """
        with self._lock:
            if self._knows != index.fingerprint:  # it would not find what was installed since
                self.close()
            if self._process is None:
                self._start()
                self._knows = index.fingerprint
            question = {"module": module, "file": index.modules[module]}
            assert self._process is not None
            assert self._process.stdin is not None
            try:
                self._process.stdin.write(json.dumps(question) + "\n")
                self._process.stdin.flush()
                said = self._answers.readline()
            except OSError:
                said = ""
            if not said:
                self.close()
                raise NoInterface("ansible-core cannot be run: try `ansible --version`")
        found: dict[str, Any] = json.loads(said)
        return found

    def _start(self) -> None:
        reader, writer = os.pipe()
        words = [sys.executable, "-P", "-m", "zonda_ansible.agent", str(writer)]
        self._process = subprocess.Popen(
            words,
            cwd="/",
            env=make_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[writer],
            text=True,
            start_new_session=True,
        )
        os.close(writer)
        self._answers = os.fdopen(reader, encoding="utf-8")

    def close(self) -> None:
        """End the process; the next question starts another."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(OSError):
                assert process.stdin is not None
                process.stdin.close()
            process.wait()
            self._answers.close()


def make_environment() -> dict[str, str]:
    """The environment of ansible-core: without zonda's own settings, and never asking anybody."""
    left_out = ("ZONDA_", "ANSIBLE_CONFIG")
    kept = {name: text for name, text in os.environ.items() if not name.startswith(left_out)}
    file = find_configuration()
    return {
        **kept,
        **({"ANSIBLE_CONFIG": file} if file else {}),
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_DEPRECATION_WARNINGS": "0",
        "ANSIBLE_DEVEL_WARNING": "0",
        "PYTHONUTF8": "1",
        "LC_ALL": kept.get("LC_ALL") or "C.UTF-8",
    }


_AGENT: Final = Agent()


def load_interface(index: Index, module: str) -> dict[str, Any]:
    """The interface of a module of the index; raises NoInterface."""
    file = index.modules[module]
    folder = find_cache_folder() / "modules" / index.get_collection(module)
    kept = folder / f"{module}.json"
    state = [FORMAT, file, index.get_version(module), *_get_state(file)]
    known = read_kept(kept)
    if not isinstance(known, list) or len(known) != 2 or known[0] != state:
        known = [state, _AGENT.ask(index, module)]
        write_kept(kept, known)
    interface: dict[str, Any] = known[1]
    if "error" in interface:
        raise NoInterface(interface["error"])
    return interface


def _get_state(file: str) -> list[int]:
    try:
        found = os.stat(file)
    except OSError:
        return []
    return [found.st_size, found.st_mtime_ns]
