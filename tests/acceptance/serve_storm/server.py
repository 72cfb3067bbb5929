"""The server of a storm: a process that is ended and started anew, and known to all clients."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

PATIENCE = 120.0


class Servers(Protocol):
    """All that clients know of one server or several."""

    def wait_for_url(self) -> str:
        """The URL of a server that runs, once one does; '' at the end of the storm."""


class Server:
    """``zonda serve`` in one home. ``url`` changes with each start.

    ``settings``: variables of its process; whoever changes them does so for the next start.
    """

    def __init__(self, home: Path, settings: Mapping[str, str] | None = None) -> None:
        self.home = home
        self.settings = {"ZONDA_HOME": str(home), **(settings or {})}
        self.url = ""
        #: Whether the storm is over for clients.
        self.is_over = False
        self._process: subprocess.Popen[str] | None = None
        self._is_up = threading.Event()

    def start(self) -> None:
        """Start it; comes back when it listens."""
        command = [sys.executable, "-P", "-m", "zonda", "serve", "--ready", "ready"]
        environ = {**os.environ, "ZONDA_LOG": "off", **self.settings}
        self._process = subprocess.Popen(
            [*command, "--address", "127.0.0.1:0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environ,
        )
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        if self._process.stdout.readline() != "ready\n":
            raise AssertionError(self._process.communicate()[1])
        said = next(line for line in self._process.stderr if "zonda at " in line)
        self.url = said.partition("zonda at ")[2].partition(";")[0]
        self._is_up.set()

    def end(self, number: int) -> float:
        """Send a signal and wait for the end; the seconds that it took."""
        process = self._process
        assert process is not None
        self._is_up.clear()
        begun = time.monotonic()
        process.send_signal(number)
        _, said = process.communicate(timeout=PATIENCE)
        code = -signal.SIGKILL if number == signal.SIGKILL else 0
        assert process.returncode == code, (number, process.returncode, said)
        assert "Traceback" not in said, said
        return time.monotonic() - begun

    @property
    def pid(self) -> int:
        """The id of the process."""
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """End it whatever happens."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.communicate()

    def wait_for_url(self) -> str:
        """The URL of the server that runs, once one does; '' at the end of the storm."""
        self._is_up.wait(PATIENCE)
        return "" if self.is_over else self.url

    def finish(self) -> None:
        """Let all clients end."""
        self.is_over = True
        self._is_up.set()
