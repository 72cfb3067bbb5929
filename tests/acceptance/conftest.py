"""Real processes: the command line, the runner service, endpoints that misbehave."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import pytest

WORK = Path(__file__).parent / "workflows" / "work.py"
LONGEST = 120.0


def absent(why: str, variable: str) -> NoReturn:
    """Skip what needs something that is not installed; fail where it must be there, as in CI."""
    if os.environ.get(variable) == "required":
        pytest.fail(why)
    pytest.skip(why)


def eventually(condition: Callable[[], Any], what: str, timeout: float = LONGEST) -> Any:
    """The first true value of ``condition``, asked twenty times a second."""
    never = threading.Event()
    for _ in range(int(timeout * 20)):
        value = condition()
        if value:
            return value
        never.wait(0.05)
    raise AssertionError(f"{what}: not within {timeout:g} s")


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Zonda:
    """The command line, each command in a process of its own, with one ZONDA_HOME."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.processes: list[subprocess.Popen[str]] = []

    @property
    def environment(self) -> dict[str, str]:
        """What a process of ours sees: nothing of zonda's but its home."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        home = str(self.home)
        return {**kept, "HOME": home, "ZONDA_HOME": home, "PYTHONFAULTHANDLER": "1"}

    def command(self, words: Sequence[str | Path]) -> list[str]:
        """The command line of ``zonda WORDS``."""
        return [sys.executable, "-m", "zonda", *map(str, words)]

    def run(
        self, *words: str | Path, code: int = 0, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        """Run to the end; fails unless the exit code is ``code``, and on any traceback."""
        options = {"timeout": LONGEST, "env": self.environment, "cwd": self.home, **options}
        done = subprocess.run(
            self.command(words),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            **options,
        )
        said = f"{' '.join(map(str, words))}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in said, said
        assert done.returncode == code, said
        return done

    def data(self, *words: str | Path) -> Any:
        """What a command shows, as data."""
        return json.loads(self.run(*words, "-f", "json").stdout)

    def start(self, *words: str | Path) -> subprocess.Popen[str]:
        """Start without waiting; killed at the end of the test at the latest."""
        process = subprocess.Popen(
            self.command(words),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=self.environment,
            cwd=self.home if self.home.exists() else None,
        )
        self.processes.append(process)
        return process

    def serve(self, file: Path, port: int = 0) -> subprocess.Popen[str]:
        """Start a runner service and wait until it listens; port 0 is any free one."""
        process = self.start("runner", "serve", file, "--address", f"127.0.0.1:{port}")

        def listens() -> bool:
            assert process.poll() is None, process.communicate()[0]
            try:
                found = json.loads((self.home / "runner.json").read_text())
            except (OSError, ValueError):
                return False
            return bool(found["pid"] == process.pid)

        eventually(listens, "the runner service listens", 30)
        return process

    def configure(self, text: str) -> None:
        """Write zonda.toml."""
        (self.home / "zonda.toml").write_text(text)

    def state(self, stack: str) -> str:
        """A stack's state, e.g. ``CREATE_COMPLETE``; empty where there is no such stack."""
        for row in self.data("stack", "list"):
            if row["Stack Name"] == stack:
                return str(row["Stack Status"])
        return ""

    def outputs(self, stack: str) -> dict[str, Any]:
        """Every output of a stack by name."""
        shown = self.data("stack", "output", "show", stack, "--all")
        return {name: one["output_value"] for name, one in shown.items()}

    def resources(self, stack: str) -> dict[str, dict[str, Any]]:
        """Every resource of a stack by name."""
        rows = self.data("stack", "resource", "list", stack)
        return {row["resource_name"]: row for row in rows}

    def events(self, stack: str) -> list[tuple[str, str]]:
        """(resource, state) of every event of a stack, oldest first."""
        rows = self.data("stack", "event", "list", stack)
        return [(row["resource_name"], row["resource_status"]) for row in rows]

    def close(self) -> None:
        """Kill what is still running."""
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.communicate()


@pytest.fixture(scope="session")
def until() -> Callable[..., Any]:
    """``eventually``, for tests that wait for something outside."""
    return eventually


@pytest.fixture
def zonda(tmp_path: Path) -> Iterator[Zonda]:
    """A command line with an empty home."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    made = Zonda(home)
    yield made
    made.close()


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """Write a file of a test; gives its path."""

    def written(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return written


class Service:
    """The bundled runner service, in a process of its own, and what its workflows noted."""

    def __init__(self, zonda: Zonda, folder: Path, workflows: str) -> None:
        self.zonda = zonda
        self.folder = folder
        self.file = folder / "workflows.yaml"
        self.file.write_text(workflows)
        self.port = free_port()  # the same after a restart, as with the setting
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it and wait until it listens."""
        self.process = self.zonda.serve(self.file, self.port)

    def kill(self) -> None:
        """``kill -9``."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def go(self) -> None:
        """Let the waiting workflows end."""
        (self.folder / "go").touch()

    @property
    def runs(self) -> list[tuple[str, str, str, int, int]]:
        """(action, resource, key, process, its parent) of every run that began."""
        log = self.folder / "runs.log"
        lines = log.read_text().splitlines() if log.exists() else []
        return [tuple(json.loads(line)) for line in lines]


@pytest.fixture
def service(zonda: Zonda, tmp_path: Path) -> Service:
    """A service (not yet started) with the workflow ``work`` and its idempotent twin."""
    folder = tmp_path / "service"
    folder.mkdir()
    command = json.dumps([sys.executable, str(WORK)])
    return Service(
        zonda,
        folder,
        f"""
workflows:
  work: {{command: {command}}}
  again: {{command: {command}, idempotent: true}}
""",
    )
