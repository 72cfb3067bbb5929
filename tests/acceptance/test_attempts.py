"""Attempts, limits and breakpoints of workflow-backed resources, with real processes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

MOODY = Path(__file__).parent / "workflows" / "moody.py"
Write = Callable[[str, str], Path]


@pytest.fixture
def one(service: Any, write: Write) -> Path:
    """A template of one resource whose workflow is the service's."""
    return write(
        "one.yaml",
        f"""\
heat_template_version: 2018-08-31
resources:
  one:
    type: OS::Mistral::ExternalResource
    properties:
      actions: {{CREATE: {{workflow: work}}}}
      input: {{folder: {json.dumps(str(service.folder))}}}
""",
    )


def test_a_workflow_that_fails_is_run_again_under_a_new_key(
    zonda: Any, service: Any, write: Write, one: Path
) -> None:
    text = service.file.read_text()
    assert "work.py" in text
    service.file.write_text(text.replace("work.py", "moody.py"))
    service.start()
    environment = write("e.yaml", "zonda: {retries: {one: {attempts: 3, delay: 0.1}}}\n")

    done = zonda.run("stack", "create", "s", "-t", one, "-e", environment)

    assert "attempt 2 of 3 failed" in done.stderr
    assert len({key for _, _, key, *_ in service.runs}) == 3
    assert zonda.resources("s")["one"]["physical_resource_id"] == "thing-one"


def test_a_workflow_that_takes_too_long_is_cancelled(
    zonda: Any, service: Any, write: Write, one: Path, until: Callable[..., Any]
) -> None:
    service.start()
    environment = write("e.yaml", "zonda: {timeouts: {one: {create: 2s}}}\n")

    done = zonda.run("stack", "create", "s", "-t", one, "-e", environment, code=1)

    assert "CREATE timed out after 2 s" in done.stderr
    ((*_, run, _),) = service.runs
    until(lambda: not Path(f"/proc/{run}").exists(), "the run has been cancelled")


def test_attempts_survive_kill_9(
    zonda: Any, service: Any, write: Write, one: Path, until: Callable[..., Any]
) -> None:
    text = service.file.read_text()
    service.file.write_text(text.replace("work.py", "moody.py"))
    service.start()
    environment = write("e.yaml", "zonda: {retries: {one: {attempts: 3, delay: 1}}}\n")
    create = zonda.start("stack", "create", "s", "-t", one, "-e", environment)
    shown = ("stack", "resource", "show", "s", "one")
    until(lambda: service.runs and zonda.data(*shown)["next_attempt_time"], "it pauses")
    create.kill()
    create.wait()

    zonda.run("stack", "wait", "s")

    assert zonda.state("s") == "CREATE_COMPLETE"
    assert len(service.runs) == 3
