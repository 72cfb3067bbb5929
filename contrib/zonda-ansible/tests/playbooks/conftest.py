"""A folder of playbooks, a runner of it, and requests for it."""

from __future__ import annotations

import os
import random
import select
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from zonda.hooks.processes import DetachedRun
from zonda.hooks.runners import ResourceRef, StackRef, StartRequest
from zonda.hooks.testing import FakeClock

from zonda_ansible.playbooks.runner import AnsibleRunner

KEY = "6b0c6e0e-6f5d-5a5b-9f5c-0d6a5b4c3d2e"
#: A playbook that waits until somebody writes a line into the pipe `gate`.
WAITS = """
- name: make the resource
  set_stats: {data: {resource_id: half-made}}
- name: wait at the gate
  shell: |
    echo started >> {{ folder }}/starts
    echo here > {{ folder }}/arrivals
    read line < {{ folder }}/gate
    echo ended >> {{ folder }}/starts
"""
_LONGEST = 60.0


class Gate:
    """Two pipes, which are open for reading and writing so that nobody waits for the other end."""

    def __init__(self, folder: Path) -> None:
        for name in ("gate", "arrivals"):
            os.mkfifo(folder / name)
        self._gate = os.open(folder / "gate", os.O_RDWR)
        self._arrivals = os.open(folder / "arrivals", os.O_RDWR)

    def wait(self) -> None:
        """Return when the playbook is at the gate."""
        assert select.select([self._arrivals], [], [], _LONGEST)[0], "it does not come to the gate"

    def open(self) -> None:
        """Let the playbook go on."""
        os.write(self._gate, b"go\n")

    def close(self) -> None:
        os.close(self._gate)
        os.close(self._arrivals)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "playbooks"
    made.mkdir()
    return made


@pytest.fixture
def write(folder: Path) -> Callable[..., Path]:
    """Writes a file below the folder; of tasks, a playbook that runs them here."""

    def write_file(name: str, text: str = "", *, tasks: str = "") -> Path:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if tasks:
            inside = "".join(f"    {line}\n" for line in tasks.strip().splitlines())
            text = f"- hosts: localhost\n  gather_facts: false\n  tasks:\n{inside}"
        path.write_text(text)
        return path

    return write_file


@pytest.fixture
def make(
    clock: FakeClock, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., AnsibleRunner]:
    monkeypatch.setenv("HOME", str(tmp_path))

    def make_runner(**section: Any) -> AnsibleRunner:
        given = {"folder": str(folder), "state_folder": str(tmp_path / "state"), **section}
        return AnsibleRunner({**given, "clock": clock, "random": random.Random(0)})

    return make_runner


@pytest.fixture
def request_of(clock: FakeClock) -> Callable[..., StartRequest]:
    def make_request(workflow: str = "deploy.yml", **changes: Any) -> StartRequest:
        known: dict[str, Any] = {
            "action": "CREATE",
            "key": KEY,
            "deadline": clock.now() + 600,
            "stack": StackRef("s-1", "app", "default"),
            "resource": ResourceRef("r-1", "site", "OS::Mistral::ExternalResource", None),
            "inputs": {},
        }
        return StartRequest(workflow, **{**known, **changes})

    return make_request


@pytest.fixture
def find_run(tmp_path: Path) -> Callable[[], DetachedRun]:
    """Finds the only run that there is."""

    def find() -> DetachedRun:
        (found,) = (tmp_path / "state" / "runs").iterdir()
        return DetachedRun(found)

    return find


@pytest.fixture
def finish(find_run: Callable[[], DetachedRun]) -> Callable[..., Any]:
    """Starts a request, waits for the end of its run and gives the answer."""

    def run_request(runner: AnsibleRunner, request: StartRequest) -> Any:
        started = runner.start(request)
        find_run().wait()
        return runner.poll(started.token)  # type: ignore[union-attr]

    return run_request


@pytest.fixture
def gate(folder: Path, write: Callable[..., Path]) -> Iterator[Gate]:
    write("deploy.yml", tasks=WAITS)
    made = Gate(folder)
    yield made
    made.close()
