"""The command line in this process: no subprocess, streams captured.

With ``ZONDA_CLI_TESTS=remote`` every command is sent to a server, see ``remote.py``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from zonda.core.cli.main import main

from . import remote

if TYPE_CHECKING:
    from .server import Server


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """What it showed, as data."""
        return json.loads(self.out)


Zonda = Callable[..., Done]
#: Gives the words of a command while a server runs that it is for, if it is for one.
Serve = Callable[[list[str]], AbstractContextManager[list[str]]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out of a remote run what sends no command through ``zonda``."""
    if is_remote():
        items[:] = [each for each in items if "zonda" in getattr(each, "fixturenames", ())]


def is_remote() -> bool:
    """Whether commands are sent to a server."""
    return os.environ.get("ZONDA_CLI_TESTS") == "remote"


@pytest.fixture(scope="session")
def remote_server() -> Iterator[Server | None]:
    """The server of this run; None where commands work on their home."""
    if not is_remote():
        yield None
        return
    from .server import Server

    made = Server()
    yield made
    made.close()


@pytest.fixture
def serve(remote_server: Server | None, request: pytest.FixtureRequest) -> Serve:
    """Run a server for each command, in a remote run."""
    if remote_server is None:
        return nullcontext
    if reason := remote.find_reason(request.node.nodeid):
        pytest.skip(f"not for a server: {reason}")

    @contextmanager
    def serving(words: list[str]) -> Iterator[list[str]]:
        if remote.is_local(words):
            yield words
            return
        with remote_server.serve(remote.read_flags(words)):
            yield words

    return serving


@pytest.fixture
def zonda(capsys: pytest.CaptureFixture[str], tmp_path: Path, serve: Serve) -> Zonda:
    """Run ``zonda WORDS`` with a home of the test's own; fails unless the exit code is ``code``."""

    def run(*words: str | Path, code: int = 0) -> Done:
        capsys.readouterr()
        with serve([*map(str, words), "--home", str(tmp_path / "home")]) as given:
            ended = main(given)
        shown = capsys.readouterr()
        assert "Traceback" not in shown.err
        assert ended == code, shown.out + shown.err
        return Done(ended, shown.out, shown.err)

    return run


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """Write a file of a test; gives its path."""

    def written(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return written
