"""``kill -9`` of Mistral and of zonda: one execution for each action, counted at Mistral."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[[str, str], Path]
Until = Callable[..., Any]
SIGKILLED = -signal.SIGKILL

FLOWS = """
{name}:
  output: {{resource_id: <% execution().id %>}}
  tasks: {{t: {{action: {action}}}}}
"""


def template(name: str, count: int) -> str:
    actions = f"{{CREATE: {{workflow: {name}}}, DELETE: {{workflow: {name}}}}}"
    entries = "".join(
        f"  r{number}:\n    type: OS::Mistral::ExternalResource\n"
        f"    properties: {{actions: {actions}}}\n"
        for number in range(count)
    )
    return f"heat_template_version: 2018-08-31\nresources:\n{entries}"


def physical(zonda: Any, stack: str) -> set[str]:
    return {row["physical_resource_id"] for row in zonda.resources(stack).values()}


def test_a_killed_mistral_goes_on_with_its_executions(
    stage: Any, mistral: Any, write: Write, until: Until
) -> None:
    mistral.define(FLOWS.format(name="outlives", action="std.async_noop"))
    create = stage.start("stack", "create", "m", "-t", write("m.yaml", template("outlives", 3)))
    until(lambda: len(mistral.executions("outlives")) == 3, "three executions run")
    ids = [one["id"] for one in mistral.executions("outlives")]
    # What its parts have yet to tell each other is in memory here, and would be lost with it.
    until(lambda: all(map(mistral.waiting, ids)), "all of them wait for their action")
    mistral.kill()
    mistral.start()
    for one in ids:
        mistral.finish(one)
    said, _ = create.communicate(timeout=90)
    assert create.returncode == 0, said
    assert physical(stage, "m") == set(ids)
    assert len(mistral.executions("outlives")) == 3


def test_a_killed_zonda_finds_its_executions_again(
    stage: Any, mistral: Any, write: Write, until: Until
) -> None:
    mistral.define(FLOWS.format(name="found", action="std.async_noop"))
    create = stage.start("stack", "create", "z", "-t", write("z.yaml", template("found", 3)))
    until(lambda: len(mistral.executions("found")) >= 2, "executions run")
    create.kill()
    assert create.wait() == SIGKILLED
    going_on = stage.start("stack", "wait", "z")
    until(lambda: len(mistral.executions("found")) == 3, "three executions run")
    ids = [one["id"] for one in mistral.executions("found")]
    for one in ids:
        mistral.finish(one)
    said, _ = going_on.communicate(timeout=90)
    assert going_on.returncode == 0, said
    assert physical(stage, "z") == set(ids)
    assert len(mistral.executions("found")) == 3


@pytest.mark.parametrize("action", ["create", "delete"])
def test_an_answer_that_a_killed_zonda_never_saw_belongs_to_no_second_execution(
    zonda: Any, mistral: Any, door: Any, settings: Any, write: Write, until: Until, action: str
) -> None:
    """Mistral has made the execution and zonda dies before it has read a word of that."""
    name = f"unseen_{action}"
    mistral.define(FLOWS.format(name=name, action="std.noop"))
    zonda.configure(settings(f"{door.url}/v2"))
    file = write("u.yaml", template(name, 1))
    words: tuple[Any, ...] = ("stack", "create", "u", "-t", file)
    if action == "delete":
        zonda.run(*words)
        words = ("stack", "delete", "u", "--yes")
    before = len(mistral.executions(name))
    door.shut = "POST /v2/executions"
    command = zonda.start(*words)
    until(lambda: door.kept, "an answer is kept back")
    command.kill()
    assert command.wait() == SIGKILLED
    door.open()
    if action == "create":
        zonda.run("stack", "wait", "u")
        assert zonda.state("u") == "CREATE_COMPLETE"
        assert physical(zonda, "u") == {mistral.executions(name)[0]["id"]}
    else:
        zonda.run("stack", "delete", "u", "--yes")
        assert zonda.state("u") == ""
    sent = [line for line, _ in door.seen if line == "POST /v2/executions"]
    assert len(sent) == before + 2
    assert len(mistral.executions(name)) == before + 1
