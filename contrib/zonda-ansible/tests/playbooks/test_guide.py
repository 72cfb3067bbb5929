"""The example of docs/runner.md, carried out by commands of zonda; one of them is killed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "runner.md"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The files of the guide, each under the name in its first line."""
    for name, text in re.findall(r"```\w+\n# (\S+)\n(.*?)```", GUIDE.read_text(), re.DOTALL):
        path = tmp_path / Path(name).name
        path.write_text(text.replace("/srv/playbooks", str(tmp_path)))
    return tmp_path


def start_zonda(home: Path, *words: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "ZONDA_HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
    command = [sys.executable, "-m", "zonda", *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=home, env=environment, stdout=pipe, stderr=pipe, text=True)


def run_zonda(home: Path, *words: str) -> str:
    zonda = start_zonda(home, *words)
    said, complained = zonda.communicate()
    assert zonda.returncode == 0, f"{words}: {said}{complained}"
    return said


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


def test_a_zonda_that_is_killed_runs_nothing_twice(
    home: Path, folder: Path, gate: Any, write: Callable[..., Path]
) -> None:
    home.joinpath("zonda.toml").write_text(
        f'[runners.ansible]\nkind = "ansible"\nfolder = "{folder}"\n'
    )
    template = home.joinpath("template.yaml")
    template.write_text(template.read_text().replace("site.yml", "deploy.yml"))
    given = ["-t", "template.yaml", "--parameter", f"folder={folder}"]
    zonda = start_zonda(home, "stack", "create", "site", *given)
    gate.wait()
    zonda.kill()
    zonda.communicate()
    gate.open()
    run_zonda(home, "stack", "wait", "site")
    assert "half-made" in run_zonda(home, "stack", "output", "show", "site", "file")
    assert (folder / "starts").read_text().split() == ["started", "ended"]
