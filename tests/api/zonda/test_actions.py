"""Actions of zonda's own API: carried out once for each key, whatever happens meanwhile."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from zonda.core.engine.actions import CreateStack, DeleteStack
from zonda.core.engine.actions.table import ACTIONS, find_action_class
from zonda.core.template.source.bundle import Bundle

from .conftest import TEMPLATE, Own


def test_an_action_that_is_sent_again_is_carried_out_once(own: Own) -> None:
    first = own.act(CreateStack("once", Bundle(TEMPLATE)), "key-of-once")
    own.api.wait(first.body["accepted"]["stack_id"])
    again = own.act(CreateStack("once", Bundle(TEMPLATE)), "key-of-once")

    assert first.status == again.status == 200
    assert again.body == first.body
    assert own.act(CreateStack("once", Bundle(TEMPLATE)), "another-key").status == 409


def test_the_answer_is_kept_after_the_stack_is_gone(own: Own) -> None:
    stack = own.create("gone")
    deleted = own.act(DeleteStack(stack), "key-of-delete")
    own.api.wait(stack)

    assert own.act(DeleteStack(stack), "key-of-delete").body == deleted.body


def test_a_key_is_for_one_action_of_one_user_in_one_project(own: Own) -> None:
    own.create("mine")
    other = own.act(CreateStack("other", Bundle(TEMPLATE)), "create-mine")
    theirs = Own(own.api, "p2").act(CreateStack("mine", Bundle(TEMPLATE)), "create-mine")

    assert other.status == 409
    assert "another action" in other.error["message"]
    assert theirs.status == 200


def test_an_action_without_a_key_is_refused(own: Own) -> None:
    path = "p1/actions"
    assert own.send("POST", path, {"action": "DeleteStack", "stack": "x"}).status == 400
    assert own.send("POST", path, {}, **{"idempotency-key": "short"}).status == 400


def test_a_reader_may_not_act(own: Own) -> None:
    reader = Own(own.api, "p1/reader")

    assert reader.act(CreateStack("no", Bundle(TEMPLATE)), "key-of-reader").status == 403
    assert reader.read("stacks.list_all", nested=False).status == 200


def test_an_action_of_a_killed_server_is_answered_by_the_next_one(tmp_path: Path) -> None:
    """Killed between the commit and the answer: the same key gives what was accepted."""
    program = Path(__file__).with_name("killed_server.py")
    home = tmp_path / "home"
    words = [sys.executable, str(program), str(home)]

    killed = subprocess.run([*words, "kill"], capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    answered = subprocess.run([*words, "answer"], capture_output=True, text=True)

    assert answered.returncode == 0, answered.stderr
    assert answered.stdout.split() == ["200", "1", "CREATE_COMPLETE", "1"]


def test_what_is_no_action_is_refused(own: Own) -> None:
    odd: list[Any] = [
        [],
        {"action": "Nonsense"},
        {"action": "CreateStack"},
        {"action": "CreateStack", "name": 3, "bundle": {"template": 7}},
        {"action": "CreateStack", "name": "x", "bundle": {"template": "a", "outside": ["/etc"]}},
        {"action": "DeleteStack", "stack": {"a": 1}},
        {"action": "DeleteStack", "stack": None},
        {"action": ["CreateStack"]},
    ]
    for number, body in enumerate(odd):
        reply = own.send("POST", "p1/actions", body, **{"idempotency-key": f"odd-{number:08}"})
        assert reply.status in (400, 404), (body, reply)


VALUES: dict[str, Any] = {
    "str": "nothing-of-this-name",
    "bool": True,
    "int": 1,
    "float": 1.0,
    "tuple[str, ...]": ["a"],
    "Mapping[str, Any]": {"a": 1},
    "Bundle": {"template": TEMPLATE, "environment_files": []},
}


@pytest.mark.parametrize("name", sorted(ACTIONS))
def test_every_action_is_answered_as_plan_and_as_action(own: Own, name: str) -> None:
    """No action makes the server fail, whether its stack is there or not."""
    stack = own.create(f"for-{name}")
    for value in ("nothing-of-this-name", stack):
        body: dict[str, Any] = {"action": name}
        for each in fields(find_action_class(name)):
            kind = str(each.type).partition(" | ")[0]
            body[each.name] = value if kind == "str" else VALUES[kind]
        planned = own.read("stacks.plan", action=json.dumps(body), keep=True, outside=[])
        key = {"idempotency-key": f"{name}-{value}"}
        done = own.send("POST", "p1/actions", body, **key)
        own.api.wait(stack)

        assert planned.status in (200, 400, 404, 409), planned.body
        assert done.status in (200, 400, 404, 409), done.body
