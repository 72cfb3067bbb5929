"""Stacks whose actions are invocations of a real Restate server, with crashes on every side."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .real_restate import Restate, Zonda, server_command, until

TEMPLATE = """
heat_template_version: 2018-08-31
parameters:
  size: {type: number, default: 3}
  seconds: {type: number, default: 0}
  fail: {type: boolean, default: false}
resources:
  disk:
    type: OS::Mistral::ExternalResource
    properties:
      actions:
        CREATE: {workflow: "restate:Disk/create"}
        UPDATE: {workflow: "restate:Disk/change"}
        SUSPEND: {workflow: "restate:Flow/{key}/run"}
        DELETE: {workflow: "restate:Disk/remove"}
      input:
        size: {get_param: size}
        seconds: {get_param: seconds}
        fail: {get_param: fail}
outputs:
  id: {value: {get_resource: disk}}
  size: {value: {get_attr: [disk, output, size]}}
  result: {value: {get_attr: [disk, output, result]}}
"""


@pytest.fixture(scope="module")
def restate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Restate]:
    server = Restate(server_command(), tmp_path_factory.mktemp("restate"))
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture
def zonda(restate: Restate, tmp_path: Path) -> Zonda:
    restate.ledger.write_text("")
    made = Zonda(tmp_path / "home", restate)
    (made.home / "disk.yaml").write_text(TEMPLATE)
    return made


def value(zonda: Zonda, name: str) -> object:
    return zonda.shown("stack", "output", "show", "app", name)["output_value"]


def test_a_life(zonda: Zonda, restate: Restate) -> None:
    zonda("stack", "create", "-t", "disk.yaml", "app")
    assert (value(zonda, "id"), value(zonda, "size")) == ("disk-3", 3)
    zonda("stack", "update", "-t", "disk.yaml", "--parameter", "size=4", "app")
    assert (value(zonda, "id"), value(zonda, "size")) == ("disk-3", 4)
    zonda("stack", "suspend", "app")
    assert value(zonda, "result") == 5
    zonda("stack", "delete", "--yes", "app")
    done = [line.split()[0] for line in restate.done()]
    assert done == ["CREATE", "made", "UPDATE", "FLOW", "DELETE"]
    assert restate.done("DELETE") == ["DELETE disk-3"]


def test_a_handler_that_fails_says_why(zonda: Zonda, restate: Restate) -> None:
    told = zonda("stack", "create", "-t", "disk.yaml", "--parameter", "fail=true", "app", code=1)
    assert "no capacity" in told
    assert len(restate.done("CREATE")) == 1


def test_a_handler_that_nobody_serves_is_a_fault_of_the_template(zonda: Zonda) -> None:
    wrong = zonda.home / "wrong.yaml"
    wrong.write_text(TEMPLATE.replace("Disk/create", "Disk/nope"))
    told = zonda("stack", "create", "-t", "wrong.yaml", "app", code=2)
    assert "Restate knows no Disk/nope" in told
    assert "wrong.yaml:" in told


def test_zonda_is_killed_while_the_handler_runs(zonda: Zonda, restate: Restate) -> None:
    command = zonda.begin("stack", "create", "-t", "disk.yaml", "--parameter", "seconds=2", "app")
    until("the handler has begun", lambda: restate.done("CREATE"))
    command.kill()
    command.communicate()
    zonda("stack", "wait", "app")
    assert value(zonda, "id") == "disk-3"
    assert len(restate.done("CREATE")) == len(restate.done("made")) == 1


@pytest.mark.parametrize("dies", ["server", "service"])
def test_the_other_side_is_killed_while_the_handler_runs(
    zonda: Zonda, restate: Restate, dies: str
) -> None:
    command = zonda.begin("stack", "create", "-t", "disk.yaml", "--parameter", "seconds=2", "app")
    until("the handler has begun", lambda: restate.done("CREATE"))
    if dies == "server":
        restate.kill_server()
        restate.start_server()
    else:
        restate.kill_service()
        restate.start_service()
    output, errors = command.communicate(timeout=120)
    assert command.returncode == 0, f"{output}\n{errors}"
    # A step whose end the server had not written down when it died is run again: that is Restate's
    # promise. It is one request, and what came of it was made once.
    assert len(set(restate.done("CREATE"))) == len(restate.done("made")) == 1


def test_a_stack_that_is_deleted_meanwhile_cancels_the_handler(
    zonda: Zonda, restate: Restate
) -> None:
    (zonda.home / "zonda.toml").write_text(
        "cancel_grace = 0.1\n" + (zonda.home / "zonda.toml").read_text()
    )
    command = zonda.begin("stack", "create", "-t", "disk.yaml", "--parameter", "seconds=600", "app")
    until("the handler has begun", lambda: restate.done("CREATE"))
    zonda("stack", "delete", "--yes", "app")
    command.communicate(timeout=60)
    assert restate.done("made") == []
    assert len(restate.done("CREATE")) == len(restate.done("DELETE")) == 1
