"""The parts of a case, and the ground that it stands on."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import pytest


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
        pytest.skip(f"{program} is missing: apt-get install {package}")


def need_library(name: str) -> None:
    """Skip the case where a library for the modules is missing."""
    if find_spec(name) is None:
        skip(f"{name} is missing: pip install 'zonda-ansible[test]'")


def need_root() -> None:
    """Skip the case where others are not ours to change."""
    if os.geteuid() != 0:
        pytest.skip("it needs root: run the tests in a container as root")
