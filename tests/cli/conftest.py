"""The command line in this process: no subprocess, streams captured."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from zonda.core.cli.main import main


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


@pytest.fixture
def zonda(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Zonda:
    """Run ``zonda WORDS`` with a home of the test's own; fails unless the exit code is ``code``."""

    def run(*words: str | Path, code: int = 0) -> Done:
        capsys.readouterr()
        ended = main([*map(str, words), "--home", str(tmp_path / "home")])
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
