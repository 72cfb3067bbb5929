"""The parts of a case, and the ground that it stands on."""

from __future__ import annotations

import fcntl
import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import pytest

_numbers = itertools.count()


@dataclass
class Life:
    """The options of a resource at first and then, and how it is seen and changed by hand.

    ``is_there``: whether what the module makes is there. ``spoil``: None where check mode cannot
    tell. ``keeps``: deletion leaves it. ``changes``: False where the module always says so.
    """

    module: str
    given: Mapping[str, Any]
    changed: Mapping[str, Any]
    is_there: Callable[[], bool]
    spoil: Callable[[], object] | None = None
    keeps: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Ground:
    """A folder of its own, what is to be done at the end, and a PostgreSQL when asked for."""

    folder: Path
    later: ExitStack
    get_postgresql: Callable[[], Mapping[str, Any]]

    def write(self, name: str, text: str = "") -> Path:
        """A file in the folder."""
        path = self.folder / name
        path.write_text(text)
        return path

    def make_account(self) -> str:
        """A user of the case alone, for what every user has one of."""
        need_root()
        name = f"za{os.getpid()}n{next(_numbers)}"
        subprocess.run(["useradd", "--no-create-home", name], check=True)
        # by force: a connection that Ansible keeps for the next task is a process of that user
        self.later.callback(subprocess.run, ["userdel", "--force", name], check=True)
        return name

    def lock_packages(self) -> None:
        """Have the packages of the system alone until the end of the case."""
        need_root()
        self.later.enter_context(lock_packages())


@contextmanager
def lock_packages() -> Iterator[None]:
    """Have the packages of the system alone: other workers of the tests wait."""
    with Path(tempfile.gettempdir(), "zonda-ansible-packages.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def run(*words: str, cwd: Path | None = None) -> str:
    """The output of a command."""
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False).stdout


def skip(reason: str) -> NoReturn:
    """Skip a test; in the CI it fails."""
    if os.environ.get("ZONDA_ANSIBLE_TESTS") == "required":
        pytest.fail(reason)
    pytest.skip(reason)


def need(program: str, package: str) -> None:
    """Skip the case where a program of the system is missing."""
    if shutil.which(program) is None and shutil.which(program, path="/usr/sbin:/sbin") is None:
        skip(f"{program} is missing: apt-get install {package}")


def need_library(name: str) -> None:
    """Skip the case where a library for the modules is missing."""
    if find_spec(name) is None:
        skip(f"{name} is missing: pip install 'zonda-ansible[test]'")


def need_apt() -> None:
    """Skip the case where the modules cannot use apt."""
    need_root()
    need("dpkg-deb", "dpkg")
    if subprocess.run(["/usr/bin/python3", "-c", "import apt"], check=False).returncode:
        skip("python3-apt is missing: apt-get install python3-apt")


def need_root() -> None:
    """Skip the case where others are not ours to change."""
    if os.geteuid() != 0:
        pytest.skip("it needs root: run the tests in a container as root")
