"""Detached commands: begun once, found again by their folder, ended with all they started."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zonda.hooks.processes import DetachedRun, Plan, read_json, write_json
from zonda.hooks.processes.identity import read_identity

SH = "/bin/sh"


def a_plan(line: str, **more: Any) -> Plan:
    plan = {
        "argv": [SH, "-c", line],
        "cwd": "/",
        "env": {"PATH": os.environ["PATH"]},
        "stdin": "",
        "timeout": 60,
        "limits": {"stdout": 1000, "stderr": 1000},
        "hold_lock": False,
        "forget_cancelled": False,
    }
    return {**plan, **more}  # type: ignore[typeddict-item]


def start(run: DetachedRun, plan: Plan, **how: Any) -> bool:
    """Start a run; its wrapper is a child of the test."""
    child = run.start(plan, **how)
    if child is not None:
        threading.Thread(target=child.wait, daemon=True).start()
    return child is not None


def wait_for(condition: Callable[[], Any]) -> Any:
    """The first true value of ``condition``; other processes make it true."""
    pause = threading.Event()
    for _ in range(2000):
        if value := condition():
            return value
        pause.wait(0.01)
    raise AssertionError("it never came true")


@pytest.fixture
def run(tmp_path: Path) -> DetachedRun:
    (tmp_path / "run").mkdir()
    return DetachedRun(tmp_path / "run")


def test_a_run_is_found_by_its_folder(run: DetachedRun) -> None:
    assert not run.was_started()
    assert start(run, a_plan("cat; echo why >&2; exit 3", stdin="é"))
    other = DetachedRun(run.folder)
    other.wait()
    result = other.read_result()
    assert result is not None
    assert (result["exit_code"], result["stdout"], result["stderr"]) == (3, "é", "why\n")
    assert not other.is_running()
    assert other.was_started()


def test_a_command_is_started_once_unless_it_is_asked_for_again(
    run: DetachedRun, tmp_path: Path
) -> None:
    plan = a_plan(f"echo x >> {tmp_path}/log")
    assert start(run, plan)
    run.wait()
    assert not start(run, plan)
    assert start(run, plan, again=True)
    run.wait()
    assert (tmp_path / "log").read_text() == "x\nx\n"


def test_output_is_kept_by_its_ends(run: DetachedRun) -> None:
    start(run, a_plan("seq 1 10000; echo end", limits={"stdout": 100, "stderr": 100}))
    run.wait()
    result = run.read_result()
    assert result is not None
    assert result["stdout"].startswith("1\n2\n")
    assert result["stdout"].endswith("end\n")
    assert f"[... {result['stdout_dropped']} bytes left out ...]" in result["stdout"]


@pytest.mark.parametrize("forgets", [False, True])
def test_a_cancelled_run_ends_with_all_it_started(run: DetachedRun, forgets: bool) -> None:
    start(run, a_plan("sleep 60 & sleep 60", forget_cancelled=forgets))
    command = wait_for(lambda: (read_json(run.folder / "run.json") or {}).get("command"))
    run.cancel()
    wait_for(lambda: not run.folder.exists() if forgets else run.read_result())
    with pytest.raises(ProcessLookupError):
        os.killpg(command["pid"], 0)


def test_a_run_whose_time_is_over_says_so(run: DetachedRun) -> None:
    start(run, a_plan("sleep 60", timeout=0.05))
    run.wait()
    result = run.read_result()
    assert result is not None
    assert result["ended_by"] == "timeout"


def test_a_command_that_lives_without_its_wrapper_holds_the_lock(run: DetachedRun) -> None:
    start(run, a_plan("sleep 60", hold_lock=True))
    processes = wait_for(
        lambda: (found := read_json(run.folder / "run.json")) and "command" in found and found
    )
    os.kill(processes["wrapper"]["pid"], signal.SIGKILL)
    wait_for(lambda: read_identity(processes["wrapper"]["pid"]) is None)
    assert run.is_running()
    run.kill_command()
    run.wait()
    assert run.read_result() is None
    assert run.was_started()


def test_a_command_that_is_not_there(run: DetachedRun) -> None:
    start(run, {**a_plan(""), "argv": ["/no/such/program"]})
    run.wait()
    result = run.read_result()
    assert result is not None
    assert result["error"] == "/no/such/program: No such file or directory"


def test_zondas_own_settings_do_not_reach_the_wrapper(
    run: DetachedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZONDA_KEY", "s3cret")
    start(run, a_plan("tr '\\0' '\\n' < /proc/$PPID/environ"))
    run.wait()
    assert "s3cret" not in json.dumps(run.read_result())


def test_a_file_that_is_no_json_object_is_none(tmp_path: Path) -> None:
    file = tmp_path / "file"
    assert read_json(file) is None
    write_json(file, {"a": 1})
    assert read_json(file) == {"a": 1}
    assert file.stat().st_mode & 0o77 == 0
    file.write_text("[1")
    assert read_json(file) is None
