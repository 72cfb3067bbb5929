"""The example of docs/runner.md, carried out by the commands of zonda."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "runner.md"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The files of the guide, each under the name in its first line."""
    for name, text in re.findall(r"```\w+\n# (\S+)\n(.*?)```", GUIDE.read_text(), re.DOTALL):
        path = tmp_path / Path(name).name
        path.write_text(text.replace("/srv/playbooks", str(tmp_path)))
    return tmp_path


def run_zonda(home: Path, *words: str) -> str:
    environment = {**os.environ, "ZONDA_HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
    command = [sys.executable, "-m", "zonda", *words]
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def test_the_example_of_the_guide(home: Path) -> None:
    page = home / "index.html"
    given = ["-t", "template.yaml", "--parameter", f"folder={home}"]
    run_zonda(home, "stack", "create", "site", *given)
    assert page.read_text() == "Hello"
    assert f"{page}" in run_zonda(home, "stack", "output", "show", "site", "file")
    run_zonda(home, "stack", "update", "site", *given, "--parameter", "text=Good day")
    assert page.read_text() == "Good day"
    assert "8" in run_zonda(home, "stack", "output", "show", "site", "size")
    run_zonda(home, "stack", "delete", "site", "-y")
    assert not page.exists()
    assert list((home / "state" / "zonda-ansible" / "runs").iterdir()) == []
