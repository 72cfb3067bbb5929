"""A real Mistral, a door in front of it that tests may keep shut, and zonda that uses it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import requests

from ..conftest import absent

SCRIPT = Path(__file__).parent.parent / "mistral.sh"
INSTALL = "bash tests/acceptance/mistral.sh install"


def venv() -> Path:
    """Where the script installs Mistral."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("MISTRAL_VENV") or cache / "zonda" / "mistral")


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Mistral:
    """One Mistral with a database of its own. It can be killed, and started again."""

    def __init__(self, folder: Path, port: int, until: Callable[..., Any]) -> None:
        self.folder = folder
        self.port = port
        self._until = until
        self._process: subprocess.Popen[bytes] | None = None
        self._session = requests.Session()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v2"

    def start(self) -> None:
        """Start, and wait until API and database answer."""
        command = ["bash", str(SCRIPT), "serve", str(self.folder), str(self.port)]
        with (self.folder / "out").open("ab") as out:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env={**os.environ, "MISTRAL_VENV": str(venv())},
            )
        self._until(self._answers, "Mistral answers")

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self.folder / "out").read_text()[-2000:]
        try:
            return self.call("GET", "workflows?limit=1").status_code == 200
        except requests.ConnectionError:
            return False

    def kill(self) -> None:
        """End it without a word."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def call(self, method: str, path: str, **more: Any) -> requests.Response:
        return self._session.request(method, f"{self.url}/{path}", timeout=30, **more)

    def ask(self, method: str, path: str, **more: Any) -> Any:
        """What an answer says that must be a good one."""
        reply = self.call(method, path, **more)
        assert reply.ok, reply.text
        return reply.json() if reply.content else None

    def define(self, text: str) -> None:
        """Define workflows, in place of those of the same names."""
        for name in (line.split(":")[0] for line in text.splitlines() if line[:1].isalpha()):
            self.call("DELETE", f"workflows/{name}")
        headers = {"Content-Type": "text/plain"}
        self.ask("POST", "workflows", data=f"version: '2.0'\n{text}", headers=headers)

    def executions(self, workflow: str) -> list[dict[str, Any]]:
        """The executions of workflows whose name contains ``workflow``, by their second."""
        path = "executions?include_output=true&sort_keys=created_at&sort_dirs=asc"
        found = self.ask("GET", path)["executions"]
        for one in found:
            for key in ("input", "output", "params"):
                one[key] = json.loads(one[key] or "{}")
        return [one for one in found if workflow in one["workflow_name"]]

    def finish(self, execution: str) -> None:
        """Complete the asynchronous action that an execution waits for."""
        for action in self._until(lambda: self.waiting(execution), "an action waits"):
            self.ask("PUT", f"action_executions/{action}", json={"state": "SUCCESS"})

    def waiting(self, execution: str) -> list[str]:
        """The ids of actions that an execution waits for."""
        tasks = self.ask("GET", f"executions/{execution}/tasks")["tasks"]
        paths = [f"tasks/{task['id']}/action_executions" for task in tasks]
        found = [one for path in paths for one in self.ask("GET", path)["action_executions"]]
        return [one["id"] for one in found if one["state"] == "RUNNING"]


@pytest.fixture(scope="session")
def running_mistral(
    tmp_path_factory: pytest.TempPathFactory, until: Callable[..., Any]
) -> Iterator[Mistral]:
    if not (venv() / "installed.txt").exists():
        absent(f"no Mistral is installed: {INSTALL}", "ZONDA_MISTRAL_TESTS")
    made = Mistral(tmp_path_factory.mktemp("mistral"), free_port(), until)
    made.start()
    yield made
    made.kill()


@pytest.fixture
def mistral(running_mistral: Mistral) -> Mistral:
    """The Mistral of this session; a test that kills it starts it again."""
    return running_mistral


class Door:
    """Stands in front of Mistral on a port of its own and hands requests on.

    ``before`` may answer in Mistral's place: (status, headers, body). While ``shut`` holds the
    line of a request (``POST /v2/executions``), answers to it are kept back; ``kept`` has them.
    """

    def __init__(self, mistral: Mistral) -> None:
        self.shut = ""
        self.kept: list[str] = []
        self.seen: list[tuple[str, Mapping[str, str]]] = []
        self.before: Callable[[str, Mapping[str, str], bytes], Any] = lambda *_: None
        self.opened = threading.Event()
        door = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                line = f"{self.command} {self.path}"
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                headers = dict(self.headers.items())
                door.seen.append((line, headers))
                status, more, content = door.before(line, headers, body) or door.through(
                    mistral, line, headers, body
                )
                if door.shut and line == door.shut:
                    door.kept.append(line)
                    door.opened.wait(120)
                    return
                self.send_response(status)
                for name, value in {**more, "Content-Length": str(len(content))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PUT = do_DELETE = answer

            def log_message(self, *_: Any) -> None:
                """Nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def through(
        self, mistral: Mistral, line: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        method, _, path = line.partition(" /v2/")
        kept = {name: headers[name] for name in ("Content-Type", "Accept") if name in headers}
        reply = requests.request(
            method, f"{mistral.url}/{path}", data=body, headers=kept, timeout=30
        )
        kind = reply.headers.get("Content-Type", "application/json")
        return reply.status_code, {"Content-Type": kind}, reply.content

    def open(self) -> None:
        """Keep nothing back any more."""
        self.shut = ""
        self.opened.set()

    def close(self) -> None:
        self.open()
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def door(mistral: Mistral) -> Iterator[Door]:
    made = Door(mistral)
    yield made
    made.close()


def section(endpoint: str, **more: Any) -> str:
    """The settings of a runner named mistral, for zonda.toml."""
    entries = {"kind": "mistral", "endpoint": endpoint, **more}
    lines = (f"{name} = {json.dumps(value)}\n" for name, value in entries.items())
    return "[runners.mistral]\n" + "".join(lines)


@pytest.fixture(scope="session")
def settings() -> Callable[..., str]:
    """``section``, for tests whose Mistral is somewhere else."""
    return section


@pytest.fixture
def stage(zonda: Any, mistral: Mistral) -> Any:
    """``zonda``, with the Mistral as its runner."""
    zonda.configure(section(mistral.url))
    return zonda
