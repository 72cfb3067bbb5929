"""An API whose signal URLs begin with the address of the tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from zonda.core.api.http.requests import Request
from zonda.core.api.server.dispatch import Dispatcher
from zonda.core.api.server.interfaces import make_interfaces
from zonda.core.api.service.service import Service

from ..conftest import BASE, Api, Reply, TestIdentity, make_app


class Signals:
    """A client without a token: the URL is all that it has."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.app = api.app

    def __call__(
        self,
        url: str,
        body: bytes = b"",
        method: str = "POST",
        headers: dict[str, str] | None = None,
    ) -> Reply:
        """Send bytes to a URL."""
        assert url.startswith(BASE), url
        path = url.removeprefix(BASE)
        request = Request(method, path, "", headers or {}, body, BASE, "req-1")
        dispatcher = self.api.dispatcher
        answer = dispatcher.answer(request, dispatcher.find_target(method, path))
        return Reply(answer.status, answer.body, answer.headers, answer.media_type)

    def find_url(self, path: str, resource: str, attribute: str) -> Any:
        """The value of a hidden attribute of a resource, which the API does not show."""
        stack = path.rpartition("/")[2]
        while True:
            shown = self.api("GET", f"{path}/resources/{resource}").body["resource"]
            if shown["resource_status"] not in ("INIT_COMPLETE", "CREATE_IN_PROGRESS"):
                break
            self.app.clock.pause(0.01)
        values = self.app.stacks.make_values()
        rows = [row for row in self.app.reader.resource_rows(stack) if row.name == resource]
        row = max(rows, key=lambda each: (each.want == "PRESENT", each.id))
        read = values._instances.build_values(self.app.reader.stack_row(stack), [row])
        return read.attribute(resource, attribute, ())

    def until(self, path: str, state: str) -> None:
        """Wait until a stack is at rest."""
        assert self.api.wait(path) == state


@pytest.fixture(scope="module")
def signals(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Signals]:
    """Signals to the stacks of one API."""
    app = make_app(str(tmp_path_factory.mktemp("home")), public_url=f"{BASE}/", log="off")
    service = Service(app)
    yield Signals(Api(app, Dispatcher(service, make_interfaces(service, TestIdentity()))))
    app.close()
