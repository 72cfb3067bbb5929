"""Zonda's own API without a server."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Protocol

import pytest
from tests.api import contract

from zonda.core.api.http.requests import Request
from zonda.core.engine import actions
from zonda.core.engine.actions import Action
from zonda.core.template.source.bundle import Bundle

TEMPLATE = """
heat_template_version: 2018-08-31
parameters:
  password: {type: string, hidden: true, default: swordfish}
resources:
  one: {type: OS::Heat::TestResource, properties: {value: {get_param: password}}}
outputs:
  secret: {value: {get_param: password}}
"""


class Api(Protocol):
    """The part of the API's fixture that is used here."""

    app: Any
    dispatcher: Any

    def wait(self, stack_id: str) -> str: ...


@dataclass(frozen=True)
class Reply:
    """An answer."""

    status: int
    body: Any

    @property
    def error(self) -> dict[str, Any]:
        """The error."""
        found: dict[str, Any] = self.body["error"]
        return found


@dataclass
class Own:
    """A client of zonda's own API. ``token``: PROJECT or PROJECT/ROLE."""

    api: Api
    token: str = "p1"

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        """Send a request below ``/zonda/v1/``."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            given["x-auth-token"] = self.token
        raw = b"" if body is None else json.dumps(body).encode()
        request = Request(method, f"/zonda/v1/{path}", "", given, raw, "http://x", "req-1")
        target = self.api.dispatcher.find_target(method, request.path)
        answer = self.api.dispatcher.answer(request, target)
        found = json.loads(answer.format_body())
        contract.check(target, request, answer, found)
        return Reply(answer.status, found)

    def read(self, name: str, /, **arguments: Any) -> Reply:
        """Send a read."""
        return self.send("POST", f"{self.token.partition('/')[0]}/read/{name}", arguments)

    def act(self, action: Action, key: str) -> Reply:
        """Send an action."""
        path = f"{self.token.partition('/')[0]}/actions"
        return self.send(
            "POST", path, json.loads(actions.to_json(action)), **{"idempotency-key": key}
        )

    def create(self, name: str, template: str = TEMPLATE) -> str:
        """Create a stack; gives its id once it is at rest."""
        made = self.act(actions.CreateStack(name, Bundle(template)), f"create-{name}")
        assert made.status == 200, made.body
        stack_id: str = made.body["accepted"]["stack_id"]
        self.api.wait(stack_id)
        return stack_id


@pytest.fixture
def own(api: Api) -> Own:
    """A client for project ``p1``."""
    return Own(api)
