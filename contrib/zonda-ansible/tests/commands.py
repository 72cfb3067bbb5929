"""Commands of zonda on stacks, each a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


class Zonda:
    """Commands in a home below a folder. ``given``: what those that take a template are given."""

    def __init__(self, folder: Path, given: Sequence[str], **variables: str) -> None:
        self._given = given
        self._environment = {"ZONDA_HOME": str(folder / "zonda"), **variables}

    def run(self, *words: str, code: int = 0) -> str:
        """The output of a command, in which no secret of these tests stands."""
        found = subprocess.run(
            [sys.executable, "-m", "zonda", "stack", *words],
            env={**os.environ, **self._environment},
            capture_output=True,
            text=True,
            check=False,
        )
        said = found.stdout + found.stderr
        assert found.returncode == code, f"{words}: {said}"
        assert "s3cr3t" not in said
        return said

    def run_with_template(self, *words: str, code: int = 0) -> str:
        """The same with the template."""
        return self.run(*words, *self._given, code=code)
