"""A real Keystone, what its administrator does there, and zonda's side of it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import requests

from zonda.core.api.identity import keystone
from zonda.core.api.identity.keystone import Account, Keystone
from zonda.core.system.clock import SystemClock

from ..conftest import absent, free_port

SCRIPT = Path(__file__).parent.parent / "keystone.sh"
INSTALL = "bash tests/acceptance/keystone.sh install"


def find_venv() -> Path:
    """Where the script installs Keystone."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("KEYSTONE_VENV") or cache / "zonda" / "keystone")


class LaterClock(SystemClock):
    """The time of this machine, and later."""

    later = 0.0

    def now(self) -> float:
        return super().now() + self.later

    def monotonic(self) -> float:
        return super().monotonic() + self.later


class Cloud:
    """One Keystone with a database of its own. It can be killed, and started again."""

    def __init__(self, folder: Path, port: int, until: Callable[..., Any]) -> None:
        self.folder = folder
        self.port = port
        self.url = f"http://127.0.0.1:{port}/v3"
        self._until = until
        self._process: subprocess.Popen[bytes] | None = None
        self._session = requests.Session()
        self._numbers = count(1)
        self.admin = ""

    def start(self) -> None:
        """Start, and wait until it answers."""
        command = ["bash", str(SCRIPT), "serve", str(self.folder), str(self.port)]
        with (self.folder / "out").open("ab") as out:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env={**os.environ, "KEYSTONE_VENV": str(find_venv())},
            )
        self._until(self._answers, "Keystone answers")
        self.admin = self.log_in("admin", "admin", "admin")

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self.folder / "out").read_text()[-2000:]
        try:
            return self._session.get(self.url, timeout=30).ok
        except requests.ConnectionError:
            return False

    def kill(self) -> None:
        """End it without a word."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> requests.Response:
        """An answer to the administrator."""
        headers = {"X-Auth-Token": self.admin, **headers}
        return self._session.request(
            method, f"{self.url}{path}", json=body, headers=headers, timeout=60
        )

    def make(self, kind: str, **values: Any) -> str:
        """Make something; gives its id."""
        reply = self.call("POST", f"/{kind}s", {kind: values})
        assert reply.ok, reply.text
        return str(reply.json()[kind]["id"])

    def make_user(self, *roles: str) -> dict[str, str]:
        """A user with roles in a project of its own; gives their names and ids."""
        name = f"user{next(self._numbers)}"
        found = {"name": name, "project": f"{name}-project"}
        found["project_id"] = self.make("project", name=found["project"], domain_id="default")
        found["user_id"] = self.make("user", name=name, password=name, domain_id="default")
        for role in roles:
            self.assign(role, found["user_id"], found["project_id"])
        return found

    def assign(self, role: str, user_id: str, project_id: str) -> None:
        """Give a user a role in a project; the role is made if need be."""
        known = self.call("GET", f"/roles?name={role}").json()["roles"]
        role_id = known[0]["id"] if known else self.make("role", name=role)
        path = f"/projects/{project_id}/users/{user_id}/roles/{role_id}"
        assert self.call("PUT", path).status_code == 204

    def log_in(self, user: str, password: str, project: str = "", **scope: Any) -> str:
        """A token; ``scope`` in place of the project, both may be left out."""
        default = {"id": "default"}
        named = {"name": user, "password": password, "domain": default}
        auth: dict[str, Any] = {
            "identity": {"methods": ["password"], "password": {"user": named}},
            "scope": {"project": {"name": project, "domain": default}} if project else scope,
        }
        return self.issue(auth if auth["scope"] else {"identity": auth["identity"]})

    def issue(self, auth: Any) -> str:
        """A token for what a request says."""
        reply = self._session.post(f"{self.url}/auth/tokens", json={"auth": auth}, timeout=60)
        assert reply.status_code == 201, reply.text
        return reply.headers["X-Subject-Token"]

    def revoke(self, token: str) -> None:
        """Revoke a token."""
        reply = self.call("DELETE", "/auth/tokens", **{"X-Subject-Token": token})
        assert reply.status_code == 204, reply.text


@pytest.fixture(scope="session")
def cloud(tmp_path_factory: pytest.TempPathFactory, until: Callable[..., Any]) -> Iterator[Cloud]:
    if not (find_venv() / "installed.txt").exists():
        absent(f"no Keystone is installed: {INSTALL}", "ZONDA_KEYSTONE_TESTS")
    made = Cloud(tmp_path_factory.mktemp("keystone"), free_port(), until)
    made.start()
    project = made.make("project", name="service", domain_id="default")
    user = made.make("user", name="heat", password="heat-password", domain_id="default")
    made.assign("service", user, project)
    made.assign("admin", user, project)
    yield made
    made.kill()


class Asker:
    """zonda's side: the identity of mode ``keystone``, and its clock."""

    def __init__(self, cloud: Cloud, password: str = "heat-password") -> None:
        self.clock = LaterClock()
        self.account = Account(cloud.url, "heat", password)
        self.keystone = Keystone(self.account, self.clock)

    def who(self, token: str) -> Any:
        return self.keystone.authenticate({"x-auth-token": token})


@pytest.fixture
def asker(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Asker:
    monkeypatch.setattr(keystone, "_PATIENCE", 300.0)  # a busy machine is no Keystone that hangs
    return Asker(cloud)
