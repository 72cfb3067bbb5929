"""A secret in the input of a workflow: what zonda tells, keeps and sends on does not hold it."""

from __future__ import annotations

import base64
import json
import shlex
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

SECRET = 'hunter2 "quoted" & more/§'
WORKFLOW = """
import json, os, sys
asked = json.load(sys.stdin)
secret = asked["inputs"]["password"]
with open("told.jsonl", "a") as told:
    told.write(json.dumps([asked["action"], secret]) + "\\n")
if asked["action"] == "UPDATE" and asked["inputs"]["size"] == 13:
    sys.exit(f"cannot log in with {secret!r} at {json.dumps(secret)}")
if asked["action"] == "CHECK":
    print(json.dumps({"inputs": {"password": "another", "size": 99}}))
else:
    print(json.dumps({"resource_id": "disk-1"}))
"""
TEMPLATE = """
heat_template_version: 2018-08-31
parameters:
  password: {type: string, hidden: true}
  size: {type: number, default: 3}
resources:
  disk:
    type: Zonda::Workflow::ExternalResource
    properties:
      runner: bundled
      actions:
        CREATE: {workflow: work}
        UPDATE: {workflow: work}
        CHECK: {workflow: work}
        DELETE: {workflow: work}
      input: {password: {get_param: password}, size: {get_param: size}}
"""
#: What tells of a stack; none of it may tell the secret.
TELLING = (
    "stack show s",
    "stack show s -f json",
    "stack resource list s",
    "stack resource show s disk",
    "stack event list s",
    "stack event list s -f json",
    "stack history s",
    "stack why s",
    "stack why s disk",
    "stack failures list s",
    "stack environment show s",
    "stack template show s",
    "stack diff s",
    "stack graph s",
    "stack drift show s",
    "stack drift show s disk -f json",
    "stack drift history s",
    "stack export s",
    "sink list",
)


@pytest.fixture
def home(zonda: Any, tmp_path: Path) -> Any:
    script = tmp_path / "work.py"
    script.write_text(WORKFLOW)
    command = json.dumps([sys.executable, str(script)])
    file = tmp_path / "workflows.yaml"
    file.write_text(f"workflows:\n  work: {{command: {command}}}\n")
    zonda.configure(f'[sinks.log]\nkind = "log"\nfile = {json.dumps(str(tmp_path / "log"))}\n')
    (tmp_path / "t.yaml").write_text(TEMPLATE)
    (tmp_path / "e.yaml").write_text(f"parameters: {{password: {json.dumps(SECRET)}}}\n")
    zonda.serve(file)
    return zonda


def forms(secret: str) -> set[bytes]:
    """How a secret may look in a file or in an answer."""
    plain = secret.encode()
    return {
        plain,
        json.dumps(secret)[1:-1].encode(),
        json.dumps(secret, ensure_ascii=False)[1:-1].encode(),
        json.dumps(json.dumps(secret))[3:-3].encode(),
        shlex.quote(secret).encode(),
        repr(secret)[1:-1].encode(),
        quote(secret, safe="").encode(),
        base64.b64encode(plain),
        b"hunter2",
    }


def test_a_secret_in_the_input_is_told_to_the_workflow_and_to_nobody_else(
    home: Any, tmp_path: Path
) -> None:
    args = ["-t", tmp_path / "t.yaml", "-e", tmp_path / "e.yaml"]
    told = [_both(home.run("stack", "plan", *args, "s"))]
    told += [_both(home.run("--debug", "stack", "create", *args, "s"))]
    told += [_both(home.run("stack", "plan", *args, "--parameter", "size=13", "s"))]
    told += [_both(home.run("stack", "update", *args, "--parameter", "size=13", "s", code=1))]
    assert "cannot log in with" in told[-1], "the workflow's own words are told"
    told += [_both(home.run("stack", "update", *args, "--parameter", "size=4", "s"))]
    told += [_both(home.run("stack", "drift", "check", "s", code=3))]
    assert "input: differs (hidden)" in told[-1]
    told += [_both(home.run("stack", "drift", "repair", "s", "--plan", code=3))]
    told += [_both(home.run("stack", "drift", "repair", "s"))]
    told += [_both(home.run("stack", "check", "s", code=1))]
    for words in TELLING:
        told.append(_both(home.run(*words.split())))
    told += [_both(home.run("stack", "delete", "--yes", "s"))]
    script = (home.home / ".." / "told.jsonl").resolve()
    seen = [json.loads(line) for line in script.read_text().splitlines()]
    assert {secret for _, secret in seen} == {SECRET}
    assert {action for action, _ in seen} == {"CREATE", "UPDATE", "CHECK", "DELETE"}
    for text in told:
        _holds_none(text.encode(), text)
    log = tmp_path / "log"
    assert "drift_drifted" in log.read_text()
    _holds_none(log.read_bytes(), "the log sink")
    _no_byte_of_the_home(home.home)


def _both(done: Any) -> str:
    return str(done.stdout + done.stderr)


def _holds_none(content: bytes, what: str) -> None:
    for form in forms(SECRET):
        assert form not in content, (form, what)


def _no_byte_of_the_home(home: Path) -> None:
    """But for what the workflow itself has said, which its own service keeps for a day."""
    kept = home / "runner" / "runs"
    files = [path for path in home.rglob("*") if path.is_file() and kept not in path.parents]
    assert any(path.name == "zonda.db" for path in files)
    for path in files:
        _holds_none(path.read_bytes(), str(path))
    for path in kept.rglob("*"):
        if path.is_file() and path.name not in ("stderr", "result.json"):
            _holds_none(path.read_bytes(), str(path))
