"""docs/how-to/operate.md: the commands of a backup do what the page says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from zonda.core.cli.main import main

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "how-to" / "operate.md").read_text()
TEMPLATE = """
heat_template_version: 2018-08-31
parameters: {size: {type: number}}
resources: {word: {type: OS::Heat::RandomString, properties: {length: {get_param: size}}}}
outputs: {word: {value: {get_attr: [word, value]}}}
"""


def block(heading: str, number: int) -> str:
    """A shell block of a section."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^```sh\n(.*?)^```$", section, re.M | re.S)[number]


@pytest.fixture
def zonda(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def run(home: Path, *words: str) -> str:
        capsys.readouterr()
        assert main(["--home", str(home), *words]) == 0
        return capsys.readouterr().out

    return run


def test_a_backup_of_a_home_is_restored_with_its_hidden_values(
    zonda: Callable[..., str], tmp_path: Path
) -> None:
    home, other, backup = tmp_path / "home", tmp_path / "other", tmp_path / "backup"
    (tmp_path / "t.yaml").write_text(TEMPLATE)
    given = ("-t", str(tmp_path / "t.yaml"), "-P")
    zonda(home, "stack", "create", "s", *given, "size=8")
    word = zonda(home, "stack", "output", "show", "s", "word", "--raw")
    backup.mkdir()
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    shell = {"env": {**os.environ, "PATH": path, "ZONDA_HOME": str(home), "BACKUP": str(backup)}}
    subprocess.run(["sh", "-euc", block("Backup", 0)], check=True, **shell)
    assert [path.stat().st_mode & 0o077 for path in backup.iterdir()] == [0, 0]

    zonda(home, "stack", "update", "s", *given, "size=9")
    zonda(other, "stack", "create", "of-before", *given, "size=8")
    for target in (home, other):  # back in place, and on another machine
        shell["env"]["ZONDA_HOME"] = str(target)
        subprocess.run(["sh", "-euc", block("Backup", 1)], check=True, **shell)
        assert zonda(target, "stack", "output", "show", "s", "word", "--raw") == word
        (listed,) = json.loads(zonda(target, "stack", "list", "-f", "json"))
        assert listed["Stack Name"] == "s"
        zonda(target, "stack", "update", "s", *given, "size=10")
