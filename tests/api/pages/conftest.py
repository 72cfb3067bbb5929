"""Pages without a server and without a browser: requests as a browser sends them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from tests.api.conftest import BASE, Api, TestIdentity, make_app

from zonda.core.api.http.requests import Request
from zonda.core.api.identity.callers import Identity
from zonda.core.api.identity.no_identity import NoIdentity
from zonda.core.api.server.dispatch import Dispatcher
from zonda.core.api.server.interfaces import make_interfaces
from zonda.core.api.service.service import Service

ORIGIN = {"origin": BASE, "sec-fetch-site": "same-origin"}
_BOUNDARY = "----zonda"


@dataclass(frozen=True)
class Shown:
    """A page as a browser has it."""

    status: int
    html: str
    headers: Mapping[str, str]

    @property
    def location(self) -> str:
        """The page that the browser is led to."""
        return self.headers.get("Location", "")

    @property
    def csrf(self) -> str:
        """The token of its forms."""
        found = re.search(r'name="csrf" value="([^"]*)"', self.html)
        assert found, self.html
        return found[1]

    @property
    def text(self) -> str:
        """The words of the page."""
        return html.unescape(re.sub(r"<[^>]*>", " ", self.html))


@dataclass
class Browser:
    """A browser without scripts; it keeps one cookie."""

    dispatcher: Dispatcher
    cookie: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def get(self, path: str, headers: Mapping[str, str] | None = None, **query: str) -> Shown:
        """Open a page."""
        return self.send("GET", path, b"", headers or {}, query)

    def post(
        self,
        path: str,
        csrf: str,
        files: Sequence[tuple[str, str, bytes]] | None = None,
        headers: Mapping[str, str] = ORIGIN,
        **fields: Any,
    ) -> Shown:
        """Send a form, as multipart where it has files: field, name and content of each."""
        fields = {"csrf": csrf, **fields}
        if files is None:
            kind = "application/x-www-form-urlencoded"
            body = urlencode(fields, doseq=True).encode()
        else:
            kind, body = f"multipart/form-data; boundary={_BOUNDARY}", make_multipart(fields, files)
        return self.send("POST", path, body, {"content-type": kind, **headers}, {})

    def send(
        self,
        method: str,
        path: str,
        body: bytes,
        headers: Mapping[str, str],
        query: Mapping[str, str],
    ) -> Shown:
        """Send a request; cookies are kept."""
        parts = urlsplit(path)
        sent = {"host": urlsplit(BASE).netloc, **self.headers, **headers}
        if self.cookie:
            sent["cookie"] = f"other=1; {self.cookie}"
        text = "&".join(filter(None, (parts.query, urlencode(query))))
        request = Request(method, parts.path, text, sent, body, BASE, "req-1")
        target = self.dispatcher.find_target(method, parts.path)
        answer = self.dispatcher.answer(request, target)
        if "Set-Cookie" in answer.headers:
            self.cookie = answer.headers["Set-Cookie"].partition(";")[0]
        return Shown(answer.status, answer.format_body().decode(), answer.headers)

    def sign_in(self, token: str) -> Browser:
        """Begin a session with a token."""
        form = self.get("/ui/sign-in")
        found = self.post("/ui/sign-in", form.csrf, token=token)
        assert found.status == 303, found.text
        return self


def make_multipart(fields: Mapping[str, Any], files: Sequence[tuple[str, str, bytes]]) -> bytes:
    """The body of a form with files."""
    made = b""
    for name, value in fields.items():
        for each in value if isinstance(value, list) else [value]:
            made += f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"'.encode()
            made += b"\r\n\r\n" + str(each).encode() + b"\r\n"
    for name, file, content in files:
        head = f'name="{name}"; filename="{file}"\r\nContent-Type: application/octet-stream'
        made += f"--{_BOUNDARY}\r\nContent-Disposition: form-data; {head}\r\n\r\n".encode()
        made += content + b"\r\n"
    return made + f"--{_BOUNDARY}--\r\n".encode()


@dataclass
class Site:
    """A server with its pages; ``api`` makes stacks quickly."""

    api: Api
    service: Service

    def open(self, token: str = "p1") -> Browser:
        """A browser that is signed in."""
        return Browser(self.api.dispatcher).sign_in(token)

    def open_without_identity(self) -> Browser:
        """A browser at the same server in mode ``none``."""
        return self.serve(NoIdentity("ann", "p1"))

    def serve_beside(self) -> Browser:
        """A browser at another server of the same database."""
        service = Service(self.service.app)
        return Browser(Dispatcher(service, make_interfaces(service, TestIdentity())))

    def serve(self, identity: Identity) -> Browser:
        """A browser at the same server with another identity."""
        return Browser(Dispatcher(self.service, make_interfaces(self.service, identity)))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server for the tests of one module."""
    app = make_app(str(tmp_path_factory.mktemp("home")), log="off", cancel_grace="0")
    service = Service(app)
    dispatcher = Dispatcher(service, make_interfaces(service, TestIdentity()))
    yield Site(Api(app, dispatcher), service)
    app.close()
