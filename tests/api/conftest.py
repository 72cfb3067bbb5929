"""The API without a server: requests go to the dispatcher, the engine runs in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from tests.api import contract

from zonda.core.api.http.requests import Request
from zonda.core.api.identity.callers import Caller
from zonda.core.api.identity.local_identity import LocalIdentity
from zonda.core.api.identity.tokens import hash_token
from zonda.core.api.login.interface import LoginInterface
from zonda.core.api.server.dispatch import Dispatcher
from zonda.core.api.server.interfaces import make_interfaces
from zonda.core.api.service.service import Service
from zonda.core.app.app import App, build_app
from zonda.core.settings import settings

PATIENCE = 60.0
BASE = "http://heat.example:8004"

#: A template with one resource of each property that the tests look at.
TEMPLATE: dict[str, Any] = {
    "heat_template_version": "2018-08-31",
    "description": "two things",
    "parameters": {
        "text": {"type": "string", "default": "one"},
        "password": {"type": "string", "hidden": True, "default": "swordfish"},
        "names": {"type": "comma_delimited_list", "default": "a,b"},
    },
    "resources": {
        "first": {"type": "OS::Heat::TestResource", "properties": {"value": {"get_param": "text"}}},
        "second": {
            "type": "OS::Heat::RandomString",
            "properties": {"length": 8},
            "depends_on": "first",
        },
    },
    "outputs": {
        "text": {"description": "the text", "value": {"get_attr": ["first", "output"]}},
        "secret": {"value": {"get_param": "password"}},
    },
}


@dataclass(frozen=True)
class Reply:
    """An answer as a client has it."""

    status: int
    body: Any
    headers: Mapping[str, str]
    media_type: str

    @property
    def message(self) -> str:
        """The sentence of an error."""
        return str(self.body["error"]["message"])

    @property
    def kind(self) -> str:
        """The type of an error."""
        return str(self.body["error"]["type"])


class TestIdentity:
    """Callers by their tokens: ``PROJECT`` is a member's, ``PROJECT/ROLE`` says the role."""

    __test__ = False
    challenge = 'Keystone uri="http://keystone.example"'
    user = "ann"

    def find_trouble(self) -> str:
        return ""

    def authenticate(self, headers: Mapping[str, str]) -> Caller | None:
        project, _, role = headers.get("x-auth-token", "").partition("/")
        if not project:
            return None
        return Caller("u1", self.user, project, project, frozenset({role or "member"}))

    def is_known(self, headers: Mapping[str, str]) -> bool:
        return True


@dataclass
class Api:
    """A client. ``token``: whose it is, see ``TestIdentity``."""

    app: App
    dispatcher: Dispatcher
    token: str = "p1"
    stacks: dict[str, str] = field(default_factory=dict)

    @property
    def project(self) -> str:
        """The project of the token."""
        return self.token.partition("/")[0]

    def __call__(
        self, method: str, path: str, body: Any = None, *, raw: bytes | None = None, **query: Any
    ) -> Reply:
        """Send a request below the project; ``path`` may be a whole URL."""
        if path.startswith(BASE):
            target, kept = urlsplit(path).path, urlsplit(path).query
        else:
            target, kept = f"/v1/{self.project}{path}", ""
        return self.send(method, target, body, raw=raw, query=kept or urlencode(query, doseq=True))

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        raw: bytes | None = None,
        query: str = "",
        **headers: str,
    ) -> Reply:
        """Send a request to any path; ``x_subject_token`` is the header ``x-subject-token``."""
        if raw is None:
            raw = b"" if body is None else json.dumps(body).encode()
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        headers |= {"x-auth-token": self.token} if self.token else {}
        request = Request(method, path, query, headers, raw, BASE, "req-1")
        target = self.dispatcher.find_target(method, path)
        answer = self.dispatcher.answer(request, target)
        is_json = answer.media_type == "application/json"
        text = answer.format_body()
        found = json.loads(text) if is_json and text else text.decode()
        contract.check(target, request, answer, found)
        return Reply(answer.status, found, answer.headers, answer.media_type)

    def become(self, token: str) -> Api:
        """The same API for another caller."""
        return Api(self.app, self.dispatcher, token, self.stacks)

    def create(self, name: str, template: Any = TEMPLATE, wait: bool = True, **body: Any) -> str:
        """Create a stack; gives its path below the project once it is at rest."""
        made = self("POST", "/stacks", {"stack_name": name, "template": template, **body})
        assert made.status == 201, made.body
        if wait:
            self.wait(made.body["stack"]["id"])
        return f"/stacks/{name}/{made.body['stack']['id']}"

    def wait(self, stack_id: str) -> str:
        """Wait until a stack is at rest; gives its state."""
        found = self.app.engine.look(stack_id.rpartition("/")[2], PATIENCE)
        return found.state

    def state(self, path: str) -> str:
        """The state that the API shows."""
        return str(self("GET", path).body["stack"]["stack_status"])


def make_app(home: str, **flags: str) -> App:
    """An application whose engine runs in this process."""
    app = build_app(settings.load_settings({"home": home, **flags}, {}))
    assert app.engine.run()
    return app


def run_api(home: Path) -> Iterator[Api]:
    """Run an API in a home."""
    app = make_app(
        str(home),
        enable_stack_abandon="yes",
        enable_stack_adopt="yes",
        hidden_stack_tags="hidden",
        log="off",
    )
    service = Service(app)
    login = LoginInterface(service, make_local_identity(app))
    yield Api(app, Dispatcher(service, [*make_interfaces(service, TestIdentity()), login]))
    app.close()


def make_local_identity(app: App) -> LocalIdentity:
    """The identity of a login: a user of each of two projects, whose password is its name."""
    path = app.settings.home / "tokens.toml"
    rows = [
        f'[[token]]\nhash = "{hash_token(name)}"\nuser = "{name}"\nproject = "{name}"\n'
        for name in ("mine", "theirs")
    ]
    path.write_text("".join(rows))
    path.chmod(0o600)
    return LocalIdentity(path, app.clock, [b"k" * 32], app.ids)


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """An API for the tests of one module."""
    yield from run_api(tmp_path_factory.mktemp("home"))


@pytest.fixture
def make_api() -> Callable[[Path], Iterator[Api]]:
    """Runs an API for tests that need one of their own."""
    return run_api
