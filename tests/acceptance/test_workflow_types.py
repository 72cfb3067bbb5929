"""Types of manifests with real processes: killed in the middle; secrets stay where they are."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SIGKILLED = -signal.SIGKILL
TOKEN = "swordfish-4711"
PASSWORD = "marlin-1147"
KEY = "file-secret-0815"
MANIFEST = """
zonda_type: 1
name: Acme::Thing
properties:
  folder: {type: string, required: true}
  size: {type: integer, default: 1}
  password: {type: string, hidden: true}
attributes:
  told: {type: string}
actions:
  CREATE:
    workflow: work
    input:
      folder: {get_property: folder}
      size: {get_property: size}
      password: {get_property: password}
      token: {secret: "env:ZONDA_SECRET_THING"}
      key: {secret: "file:secrets/thing.key"}
  UPDATE: {workflow: work, input: {folder: {get_property: folder}}}
  DELETE: {workflow: work, input: {folder: {get_property: folder}}}
"""
TEMPLATE = """
heat_template_version: 2018-08-31
parameters:
  folder: {type: string}
  size: {type: number, default: 1}
  password: {type: string, hidden: true}
resources:
  thing:
    type: Acme::Thing
    properties:
      folder: {get_param: folder}
      size: {get_param: size}
      password: {get_param: password}
"""


@pytest.fixture
def given(zonda: Any, service: Any, write: Callable[[str, str], Path]) -> tuple[Any, ...]:
    """A folder of types with one in it, its secrets, and the words of a command."""
    (zonda.home / "types").mkdir(exist_ok=True)
    (zonda.home / "types" / "thing.yaml").write_text(MANIFEST)
    (zonda.home / "secrets").mkdir(exist_ok=True)
    (zonda.home / "secrets" / "thing.key").write_text(f"{KEY}\n")
    template = write("thing.yaml", TEMPLATE)
    words = ("--parameter", f"folder={service.folder}", "--parameter", f"password={PASSWORD}")
    return ("-t", template, *words)


@pytest.fixture
def secret(zonda: Any, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The environment of a process that may send the secret."""
    known = dict(zonda.environment)
    monkeypatch.setattr(
        type(zonda), "environment", property(lambda self: {**known, "ZONDA_SECRET_THING": TOKEN})
    )
    return known


@pytest.mark.parametrize("action", ["create", "update", "delete"])
def test_a_killed_action_is_one_run(
    zonda: Any,
    service: Any,
    given: tuple[Any, ...],
    secret: Any,
    until: Callable[..., Any],
    action: str,
) -> None:
    service.start()
    words = ("stack", "create", "s", *given)
    if action != "create":
        service.go()
        zonda.run(*words)
        (service.folder / "go").unlink()
        words = ("stack", "update", "s", *given, "--parameter", "size=2")
    if action == "delete":
        words = ("stack", "delete", "s", "--yes")
    before = len(service.runs)
    process = zonda.start(*words)
    until(lambda: len(service.runs) > before, "the workflow runs")
    process.kill()
    assert process.wait() == SIGKILLED
    service.go()
    # the file may be gone by then: what is stored knows how to go on
    (zonda.home / "types" / "thing.yaml").unlink()
    zonda.run("stack", "wait", "s")
    assert [name for name, *_ in service.runs].count(action.upper()) == 1


def test_a_secret_is_sent_and_stands_nowhere(
    zonda: Any, service: Any, given: tuple[Any, ...], secret: Any
) -> None:
    service.start()
    service.go()
    said = zonda.run("stack", "create", "s", *given, "--debug")
    requests = [path.read_text() for path in (zonda.home / "runner").rglob("*") if path.is_file()]
    shown = "".join((said.stdout, said.stderr))
    for words in (
        ("stack", "plan", "s", *given, "--parameter", "size=2"),
        ("stack", "show", "s"),
        ("stack", "resource", "show", "s", "thing"),
        ("stack", "event", "list", "s"),
        ("stack", "export", "s"),
        ("resource", "type", "show", "Acme::Thing"),
    ):
        done = zonda.run(*words)
        shown += done.stdout + done.stderr
    assert requests
    stored = b"".join(path.read_bytes() for path in zonda.home.glob("zonda.db*"))
    assert b"Acme::Thing" in stored
    for text in (TOKEN, KEY, PASSWORD):
        assert text not in shown
        assert text.encode() not in stored


def test_a_running_engine_takes_types_that_it_never_saw(
    zonda: Any,
    service: Any,
    given: tuple[Any, ...],
    secret: Any,
    until: Callable[..., Any],
    write: Callable[[str, str], Path],
) -> None:
    service.start()
    service.go()
    folder = zonda.home / "types"
    text = (folder / "thing.yaml").read_text()
    (folder / "thing.yaml").unlink()
    engine = zonda.start("engine", "run")
    until(lambda: (zonda.home / "zonda.db").exists() and engine.poll() is None, "the engine runs")
    plain = "heat_template_version: 2018-08-31\nresources: {n: {type: OS::Heat::None}}\n"
    zonda.run("stack", "create", "first", "-t", write("plain.yaml", plain))
    (folder / "later.yaml").write_text(text)
    zonda.run("stack", "create", "s", *given)
    (folder / "later.yaml").unlink()
    zonda.run("stack", "delete", "s", "--yes")
    assert [action for action, *_ in service.runs] == ["CREATE", "DELETE"]
    engine.kill()


def test_a_secret_that_is_missing_fails_with_its_name(
    zonda: Any, service: Any, given: tuple[Any, ...]
) -> None:
    service.start()
    service.go()
    failed = zonda.run("stack", "create", "s", *given, code=1)
    assert "env:ZONDA_SECRET_THING" in failed.stdout + failed.stderr
    assert service.runs == []
    assert json.dumps(TOKEN) not in failed.stderr


def test_a_secret_that_was_not_meant_for_templates_is_not_sent(
    zonda: Any, service: Any, given: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {**zonda.environment, "AWS_SECRET_ACCESS_KEY": TOKEN}
    monkeypatch.setattr(type(zonda), "environment", property(lambda self: known))
    text = MANIFEST.replace("ZONDA_SECRET_THING", "AWS_SECRET_ACCESS_KEY")
    (zonda.home / "types" / "thing.yaml").write_text(text)
    service.start()
    service.go()
    for words in (("plan",), ("create",)):
        refused = zonda.run("stack", *words, "s", *given, code=2)
        assert "env:AWS_SECRET_ACCESS_KEY is to be added" in refused.stderr
        assert "file:secrets/**,env:AWS_SECRET_ACCESS_KEY" in refused.stderr
    assert zonda.data("stack", "list") == []
    assert service.runs == []
