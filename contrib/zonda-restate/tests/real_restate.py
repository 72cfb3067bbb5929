"""A real Restate server and a service for it, on loopback, from the npm package of the server."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import requests

PACKAGE = "@restatedev/restate-server@1.7.12"
SERVICE = Path(__file__).with_name("disks.py")
#: ``required``: what is missing is an error. ``never``: not even what is there is used.
SAID = os.environ.get("ZONDA_RESTATE_TESTS", "")
_TRIES, _PAUSE = 400, 0.05


def server_command() -> Path:
    """The server's program; installed with npm into a cache. Skips where that cannot be."""
    if SAID == "never":
        pytest.skip("ZONDA_RESTATE_TESTS=never")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "zonda-tests" / PACKAGE.rpartition("/")[2].replace("@", "-")
    program = folder / "node_modules" / ".bin" / "restate-server"
    if program.exists():
        return program
    npm = shutil.which("npm")
    if npm is None:
        _absent("npm is missing: apt-get install npm")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(
            [str(npm), "install", "--no-audit", "--no-fund", "--prefix", str(folder), PACKAGE],
            capture_output=True,
            text=True,
            timeout=300,
        )
    if done.returncode or not program.exists():
        _absent(f"the server cannot be installed: npm install {PACKAGE}: {done.stderr[-500:]}")
    return program


def _absent(why: str) -> None:
    if SAID == "required":
        pytest.fail(why)
    pytest.skip(why)


def until(what: str, there: Callable[[], object]) -> None:
    """Wait until ``there`` gives something true; fails after 20 s."""
    pause = threading.Event()
    for _ in range(_TRIES):
        with contextlib.suppress(OSError):
            if there():
                return
        pause.wait(_PAUSE)
    pytest.fail(f"this did not happen: {what}")


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


class Restate:
    """Server and service; both can be killed and come back with what they knew."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._program = program
        self._folder = folder
        self.ledger = folder / "ledger"
        self.ledger.touch()
        self._ports = {name: _free_port() for name in ("ingress", "admin", "node", "service")}
        self._server: subprocess.Popen[bytes] | None = None
        self._service: subprocess.Popen[bytes] | None = None

    @property
    def ingress(self) -> str:
        return f"http://127.0.0.1:{self._ports['ingress']}"

    @property
    def admin(self) -> str:
        return f"http://127.0.0.1:{self._ports['admin']}"

    def done(self, begin: str = "") -> list[str]:
        """Lines of the ledger that begin so."""
        return [line for line in self.ledger.read_text().splitlines() if line.startswith(begin)]

    def start(self) -> None:
        """Start both and register the service."""
        self.start_service()
        self.start_server()
        answer = requests.post(
            f"{self.admin}/deployments",
            json={"uri": f"http://127.0.0.1:{self._ports['service']}"},
            timeout=20,
        )
        assert answer.ok, answer.text

    def start_server(self) -> None:
        """Start the server, with what it has stored."""
        here = "127.0.0.1"
        settings = {
            "RESTATE_BASE_DIR": str(self._folder / "data"),
            "RESTATE_LISTEN_MODE": "tcp",
            "RESTATE_BIND_IP": here,
            "RESTATE_ADVERTISED_HOST": here,
            "RESTATE_BIND_PORT": str(self._ports["node"]),
            "RESTATE_INGRESS__BIND_ADDRESS": f"{here}:{self._ports['ingress']}",
            "RESTATE_ADMIN__BIND_ADDRESS": f"{here}:{self._ports['admin']}",
            "RESTATE_DISABLE_TELEMETRY": "true",
        }
        # The program that npm installs starts the server as a child: both are one group.
        self._server = self._run([str(self._program), "--no-logo"], settings, "server.log")
        until("the server is up", self._is_up)

    def _is_up(self) -> bool:
        urls = (f"{self.admin}/health", f"{self.ingress}/restate/health")
        return all(requests.get(url, timeout=5).ok for url in urls)

    def start_service(self) -> None:
        """Start the service."""
        bind = f"127.0.0.1:{self._ports['service']}"
        command = [sys.executable, "-W", "ignore", "-m", "hypercorn", "disks:app", "-b", bind]
        settings = {"LEDGER": str(self.ledger), "PYTHONPATH": str(SERVICE.parent)}
        self._service = self._run(command, settings, "service.log")
        until("the service listens", lambda: self._listens("service"))

    def _listens(self, name: str) -> bool:
        with socket.create_connection(("127.0.0.1", self._ports[name]), 5):
            return True

    def _run(
        self, command: list[str], settings: dict[str, str], log: str
    ) -> subprocess.Popen[bytes]:
        with (self._folder / log).open("ab") as output:
            return subprocess.Popen(
                command,
                env={**os.environ, **settings},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def kill_server(self) -> None:
        """SIGKILL, as a power cut."""
        self._server = _kill(self._server)

    def kill_service(self) -> None:
        """The same for the service."""
        self._service = _kill(self._service)

    def stop(self) -> None:
        """End both."""
        self.kill_server()
        self.kill_service()


def _kill(process: subprocess.Popen[bytes] | None) -> None:
    if process is not None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(20)


class Zonda:
    """The command ``zonda`` in a home of its own, with a runner section for a server."""

    def __init__(self, home: Path, restate: Restate) -> None:
        self.home = home
        home.mkdir()
        (home / "zonda.toml").write_text(
            f'[runners.restate]\nkind = "restate"\nendpoint = "{restate.ingress}"\n'
            f'admin = "{restate.admin}"\n'
        )

    def begin(self, *words: str) -> subprocess.Popen[str]:
        """Start a command."""
        return subprocess.Popen(
            [sys.executable, "-m", "zonda", "--home", str(self.home), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.home,
        )

    def __call__(self, *words: str, code: int = 0) -> str:
        """What a command prints; its exit code must be ``code``."""
        process = self.begin(*words)
        output, errors = process.communicate(timeout=120)
        assert process.returncode == code, f"{words}: {process.returncode}\n{output}\n{errors}"
        return output + errors

    def shown(self, *words: str) -> dict[str, object]:
        """A command's JSON."""
        process = self.begin(*words, "-f", "json")
        output, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        found: dict[str, object] = json.loads(output)
        return found
