"""What zonda keeps is its owner's alone, whatever command comes first and whatever the umask."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zonda.core.system.folders import make_folder

TEMPLATE = """
heat_template_version: 2018-08-31
resources: {a: {type: OS::Heat::RandomString}}
"""
WORKFLOWS = "workflows: {make: {command: ['true']}}\n"


def modes(home: Path) -> dict[str, int]:
    """The mode of the home and of all that lies in it."""
    paths = [home, *home.rglob("*")]
    return {str(path.relative_to(home)): stat.S_IMODE(path.lstat().st_mode) for path in paths}


def check(home: Path) -> None:
    open_to_others = {name: oct(mode) for name, mode in modes(home).items() if mode & 0o077}
    assert not open_to_others
    assert stat.S_IMODE(home.stat().st_mode) == 0o700


@pytest.mark.parametrize("umask", [0o000, 0o022])
@pytest.mark.parametrize(
    "words",
    [
        pytest.param("stack create s -t t.yaml --home deep/home", id="create"),
        pytest.param("stack plan s -t t.yaml -o plan.json --home deep/home", id="plan"),
    ],
)
def test_the_first_command_makes_a_private_home(
    zonda: Any, write: Callable[[str, str], Path], words: str, umask: int
) -> None:
    folder = write("t.yaml", TEMPLATE).parent
    zonda.run(*words.split(), cwd=folder, preexec_fn=lambda: os.umask(umask))
    check(folder / "deep" / "home")
    assert stat.S_IMODE((folder / "deep").stat().st_mode) == 0o700


def test_the_runner_service_that_comes_first_makes_a_private_home(
    zonda: Any, write: Callable[[str, str], Path]
) -> None:
    zonda.home.rmdir()
    before = os.umask(0)
    try:
        zonda.serve(write("w.yaml", WORKFLOWS))
    finally:
        os.umask(before)
    check(zonda.home)


def test_the_demo_makes_a_private_home(zonda: Any, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    zonda.run("demo", "--folder", folder, preexec_fn=lambda: os.umask(0))
    zonda.run("runner", "stop", "--home", folder)
    kept = {name: mode for name, mode in modes(folder).items() if not name.startswith("data")}
    assert not {name: oct(mode) for name, mode in kept.items() if mode & 0o077}


def test_a_folder_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_folder(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_of_a_home_that_is_open_to_every_user_each_command_warns(zonda: Any) -> None:
    zonda.home.chmod(0o755)
    done = zonda.run("stack", "list")
    assert f"warning: {zonda.home} is open to every user (mode 755): chmod o=" in done.stderr
    zonda.home.chmod(0o750)
    assert "warning" not in zonda.run("stack", "list").stderr


def test_of_a_key_that_is_open_to_every_user_each_command_warns(
    zonda: Any, write: Callable[[str, str], Path]
) -> None:
    zonda.run("stack", "create", "s", "-t", write("t.yaml", TEMPLATE))
    (zonda.home / "zonda.key").chmod(0o644)
    assert "zonda.key is open to every user" in zonda.run("stack", "list").stderr
