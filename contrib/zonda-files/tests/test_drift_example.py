"""The steps of ``examples/drift``, by command: change by hand, check, plan, repair, ignore."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "drift"
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def zonda(tmp_path: Path) -> Run:
    """Run ``zonda WORDS``; fails unless the exit code is ``code``."""
    kept = {name: os.environ[name] for name in ("PATH", "XDG_STATE_HOME") if name in os.environ}
    environment = {**kept, "HOME": str(tmp_path), "ZONDA_HOME": str(tmp_path / "home")}

    def run(*words: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "zonda", *map(str, words)],
            capture_output=True,
            text=True,
            env=environment,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            timeout=120,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return run


def drift(zonda: Run, *words: str, code: int) -> tuple[list[str], dict[str, Any]]:
    """The lines of a check for people, and a second one as data."""
    lines = zonda("stack", "drift", "check", "app", *words, code=code).stdout.splitlines()
    data = zonda("stack", "drift", "check", "app", *words, "-f", "json", code=code).stdout
    return lines, json.loads(data)


def test_the_example_goes_as_it_says(zonda: Run, tmp_path: Path) -> None:
    app = tmp_path / "app"
    settings, motto = app / "app.ini", app / "motto.txt"
    zonda("stack", "create", "app", "-t", EXAMPLE / "app.yaml", "--parameter", f"where={app}")
    assert drift(zonda, code=0)[0] == ["Stack app: IN_SYNC: 3 IN_SYNC"]

    settings.write_text(settings.read_text().replace("4", "64"))
    motto.unlink()
    inode = app.stat().st_ino
    lines, found = drift(zonda, code=3)
    assert lines[0] == "Stack app: DRIFTED: 1 MISSING, 1 DRIFTED, 1 IN_SYNC"
    assert lines[1].startswith("  MISSING     motto (Zonda::Files::File)")
    assert lines[2:] == [
        "  DRIFTED     settings (Zonda::Files::File)",
        r'      content: "[app]\nworkers = 4\n" -> "[app]\nworkers = 64\n"',
    ]
    assert {each["resource"] for each in found["findings"]} == {"motto", "settings"}
    assert (settings.read_text(), motto.exists()) == ("[app]\nworkers = 64\n", False)

    planned = zonda("stack", "drift", "repair", "app", "--plan", "-f", "json", code=3).stdout
    actions = {each["name"]: each["action"] for each in json.loads(planned)["resources"]}
    assert actions["settings"] == "update"
    assert actions["motto"] in ("update", "replace")
    assert actions.get("folder", "none") == "none"
    assert not motto.exists()

    zonda("stack", "drift", "repair", "app")
    assert settings.read_text() == "[app]\nworkers = 4\n"
    assert motto.read_text() == "Nobody changes me by hand."
    assert app.stat().st_ino == inode
    drift(zonda, code=0)

    settings.chmod(0o600)
    drift(zonda, "settings", code=3)
    reason = "set by the backup"
    words = ("settings.mode", "--reason", reason, "--until", "30d")
    zonda("stack", "drift", "ignore", "app", *words)
    lines, found = drift(zonda, code=0)
    assert "IGNORED" in lines[0]
    assert reason in "".join(lines[1:])
    assert found["counts"]["IGNORED"] == 1
    assert settings.stat().st_mode & 0o777 == 0o600, "a check changes nothing"

    zonda("stack", "drift", "schedule", "app", "15m", "--policy", "report")
    shown = json.loads(zonda("stack", "show", "app", "-f", "json").stdout)
    assert (shown["drift_schedule"], shown["drift_policy"]) == ("15m", "report")
    assert shown["drift_verdict"] == "IN_SYNC"
    causes = json.loads(zonda("stack", "drift", "history", "app", "-f", "json").stdout)
    assert {each["cause"] for each in causes} == {"command", "repair"}
    zonda("stack", "delete", "-y", "app")
    assert not app.exists()
