"""``kill -9`` of zonda, of the runner service, of a run: nothing done twice, nothing lost."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PLUGINS = Path(__file__).parent / "plugins"
SIGKILLED = -signal.SIGKILL


def template(count: int, folder: Path, workflow: str = "work") -> str:
    """``count`` external resources that only have a CREATE."""
    resource = f"""
    type: OS::Mistral::ExternalResource
    properties:
      actions: {{CREATE: {{workflow: {workflow}}}}}
      input: {{folder: {json.dumps(str(folder))}}}
"""
    entries = "".join(f"  r{number}:{resource}" for number in range(count))
    return f"heat_template_version: 2018-08-31\nresources:\n{entries}"


@pytest.mark.parametrize("started", [1, 5, 10])
def test_a_killed_create_is_continued_without_a_second_run(
    zonda: Any,
    service: Any,
    write: Callable[[str, str], Path],
    until: Callable[..., Any],
    started: int,
) -> None:
    service.start()
    ten = write("ten.yaml", template(10, service.folder))
    create = zonda.start("stack", "create", "s", "-t", ten)
    until(lambda: len(service.runs) >= started, f"{started} workflows run")
    create.kill()
    assert create.wait() == SIGKILLED
    service.go()
    zonda.run("stack", "wait", "s")
    assert zonda.state("s") == "CREATE_COMPLETE"
    assert sorted(name for _, name, *_ in service.runs) == sorted(f"r{n}" for n in range(10))
    found = {row["physical_resource_id"] for row in zonda.resources("s").values()}
    assert found == {f"thing-r{n}" for n in range(10)}


@pytest.mark.parametrize("point", ["before", "after"])
def test_a_kill_around_the_request_sends_the_same_key_again(
    zonda: Any, service: Any, write: Callable[[str, str], Path], point: str
) -> None:
    """Before: the intent is stored, nothing is sent. After: sent, and the token is not stored."""
    service.start()
    service.go()
    marker = zonda.home / "died"
    where = json.loads((zonda.home / "runner.json").read_text())
    zonda.configure(f"""
plugin_dirs = [{json.dumps(str(PLUGINS))}]
[runners.deadly]
kind = "killing"
kill = "{point}"
marker = {json.dumps(str(marker))}
endpoint = {json.dumps(where["address"])}
token = {json.dumps(where["token"])}
""")
    one = write("one.yaml", template(1, service.folder, "deadly:work"))
    zonda.run("stack", "create", "s", "-t", one, code=SIGKILLED)
    assert marker.exists()
    assert len(service.runs) <= (point == "after")
    zonda.run("stack", "wait", "s")
    assert zonda.state("s") == "CREATE_COMPLETE"
    assert [name for _, name, *_ in service.runs] == ["r0"]


def test_a_killed_service_finds_its_runs_again(
    zonda: Any, service: Any, write: Callable[[str, str], Path], until: Callable[..., Any]
) -> None:
    service.start()
    three = write("three.yaml", template(3, service.folder))
    create = zonda.start("stack", "create", "s", "-t", three)
    until(lambda: len(service.runs) == 3, "three workflows run")
    service.kill()
    service.go()
    service.start()
    said, _ = create.communicate(timeout=60)
    assert create.returncode == 0, said
    assert zonda.state("s") == "CREATE_COMPLETE"
    assert len(service.runs) == 3


def kill_runs(service: Any) -> None:
    """End every run with its wrapper, as a reboot would."""
    for _, _, _, process, wrapper in service.runs:
        for victim in (wrapper, process):
            os.kill(victim, signal.SIGKILL)


def test_a_lost_run_fails_clearly(
    zonda: Any, service: Any, write: Callable[[str, str], Path], until: Callable[..., Any]
) -> None:
    service.start()
    one = write("one.yaml", template(1, service.folder, "work"))
    create = zonda.start("stack", "create", "s", "-t", one)
    until(lambda: len(service.runs) == 1, "the workflow runs")
    service.kill()
    kill_runs(service)
    service.start()
    said, _ = create.communicate(timeout=60)
    assert create.returncode == 1, said
    reason = zonda.data("stack", "resource", "show", "s", "r0")["resource_status_reason"]
    assert "idempotent" in reason
    assert len(service.runs) == 1


def test_a_lost_run_of_an_idempotent_workflow_is_repeated(
    zonda: Any, service: Any, write: Callable[[str, str], Path], until: Callable[..., Any]
) -> None:
    service.start()
    one = write("one.yaml", template(1, service.folder, "again"))
    create = zonda.start("stack", "create", "s", "-t", one)
    until(lambda: len(service.runs) == 1, "the workflow runs")
    service.kill()
    kill_runs(service)
    service.go()
    service.start()
    said, _ = create.communicate(timeout=60)
    assert create.returncode == 0, said
    assert len(service.runs) == 2
    assert len({key for _, _, key, *_ in service.runs}) == 1
