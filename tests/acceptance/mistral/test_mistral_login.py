"""Mistral behind Keystone: a real one, behind a door that asks for tokens of a small Keystone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

PASSWORD = "pa55-of-the-user"
TEMPLATE = """
heat_template_version: 2018-08-31
resources:
  a: {type: OS::Mistral::ExternalResource, properties: {actions: {CREATE: {workflow: guarded}}}}
  b: {type: OS::Mistral::ExternalResource, properties: {actions: {CREATE: {workflow: guarded}}}}
"""


class Guard:
    """Keystone and what checks its tokens. ``spoil``: after so many uses a token is no good."""

    def __init__(self, spoil: int = 1_000) -> None:
        self.logins: list[Any] = []
        self.uses = 0
        self.spoil = spoil

    def __call__(self, line: str, headers: Mapping[str, str], body: bytes) -> Any:
        if line == "POST /v3/auth/tokens":
            return self._log_in(json.loads(body))
        if headers.get("X-Auth-Token") != self._token() or self.uses >= self.spoil:
            return 401, {"Content-Type": "application/json"}, b'{"error": {"code": 401}}'
        self.uses += 1
        return None

    def _token(self) -> str:
        return f"token-{len(self.logins)}"

    def _log_in(self, asked: Any) -> Any:
        user = asked["auth"]["identity"]["password"]["user"]
        if (user["name"], user["password"]) != ("deploy", PASSWORD):
            return 401, {}, b"{}"
        self.logins.append(asked["auth"]["scope"])
        self.uses = 0
        body = b'{"token": {"expires_at": "2999-01-01T00:00:00.000000Z"}}'
        return 201, {"X-Subject-Token": self._token()}, body


def login(door: Any, password: str = PASSWORD) -> dict[str, str]:
    return {
        "auth": "keystone",
        "auth_url": door.url,
        "username": "deploy",
        "password": password,
        "project_name": "demo",
    }


def define(mistral: Any) -> None:
    mistral.define("guarded:\n  output: {a: 1}\n  tasks: {t: {action: std.noop}}\n")


def test_one_login_serves_many_requests_and_a_refused_token_is_renewed(
    zonda: Any, mistral: Any, door: Any, settings: Any, write: Callable[[str, str], Path]
) -> None:
    define(mistral)
    door.before = guard = Guard(spoil=4)
    zonda.configure(settings(f"{door.url}/v2", **login(door)))
    zonda.run("stack", "create", "k", "-t", write("k.yaml", TEMPLATE))
    assert zonda.state("k") == "CREATE_COMPLETE"
    requests = [line for line, _ in door.seen if "/v2/" in line]
    assert 2 <= len(guard.logins) < len(requests) / 2
    scope = {"project": {"name": "demo", "domain": {"name": "Default"}}}
    assert all(found == scope for found in guard.logins)
    assert len(mistral.executions("guarded")) == 2
    written = [path for path in zonda.home.rglob("*") if path.name != "zonda.toml"]
    kept = b"".join(path.read_bytes() for path in written if path.is_file())
    assert b"token-1" not in kept
    assert PASSWORD.encode() not in kept


def test_a_wrong_password_is_told_without_it(
    zonda: Any, mistral: Any, door: Any, settings: Any, write: Callable[[str, str], Path]
) -> None:
    define(mistral)
    door.before = Guard()
    zonda.configure(settings(f"{door.url}/v2", **login(door, "not-the-password")))
    said = zonda.run("stack", "create", "w", "-t", write("k.yaml", TEMPLATE), code=1)
    assert "Keystone does not accept user, password or project" in said.stderr
    assert "not-the-password" not in said.stdout + said.stderr
