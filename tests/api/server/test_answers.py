"""Answers that are kept until the next commit: the same bytes, no thread, nobody else's."""

from __future__ import annotations

import re
from typing import Any

import pytest

from zonda.core.api.http.requests import Request
from zonda.core.api.service.project import Project

BASE = "http://heat.example:8004"


@pytest.fixture
def stack(api: Any, request: pytest.FixtureRequest) -> str:
    path: str = api.create(re.sub(r"\W", "-", request.node.name))
    return path


def make_request(path: str, token: str = "p1", query: str = "") -> Request:
    return Request("GET", f"/v1/p1{path}", query, {"x-auth-token": token}, b"", BASE, "req-1")


def has_answer(api: Any, request: Request) -> bool:
    target = api.dispatcher.find_target(request.method, request.path)
    known: bool = api.dispatcher.has_answer(request, target)
    return known


def test_a_read_is_answered_without_the_database_until_the_next_commit(
    api: Any, stack: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = api("GET", stack)
    assert has_answer(api, make_request(stack))
    with monkeypatch.context() as patch:
        patch.setattr(Project, "find_stack", None)
        assert api("GET", stack).body == first.body
    api.create("another-one")
    assert not has_answer(api, make_request(stack))
    assert api("GET", stack).body == first.body


def test_a_change_is_seen_by_the_next_read(api: Any, stack: str) -> None:
    assert api.state(stack) == "CREATE_COMPLETE"
    assert api("DELETE", stack).status == 204
    assert api.state(stack).startswith("DELETE_")


def test_a_query_is_part_of_the_question(api: Any, stack: str) -> None:
    assert "outputs" in api("GET", stack).body["stack"]
    assert "outputs" not in api("GET", stack, resolve_outputs="false").body["stack"]


@pytest.mark.parametrize("token", ["p1/reader", "p1/admin", "p2", "p1/nobody"])
def test_the_answer_of_one_caller_is_not_given_to_another(api: Any, stack: str, token: str) -> None:
    owner = api("GET", stack)
    fresh = api.become(token).send("GET", f"/v1/p1{stack}")
    expected = {"p2": 403, "p1/nobody": 403}.get(token, 200)
    assert (owner.status, fresh.status) == (200, expected)
    assert api("GET", stack).body == owner.body


def test_an_administrator_sees_the_projects_of_a_list_and_others_do_not(api: Any) -> None:
    api.create("listed")
    rows = api("GET", "/stacks").body["stacks"]
    for_admin = api.become("p1/admin")("GET", "/stacks").body["stacks"]
    assert not any("project" in row for row in rows)
    assert all(row["project"] == "p1" for row in for_admin)


def test_failures_and_writes_are_not_kept(api: Any) -> None:
    api("GET", "/stacks/nothing/none")
    assert not has_answer(api, make_request("/stacks/nothing/none"))
    assert not has_answer(api, make_request("/resource_types"))
