"""Endpoints that misbehave fail their resource with a sentence, and in time."""

from __future__ import annotations

import http.server
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

TEMPLATE = """
heat_template_version: 2018-08-31
resources:
  thing:
    type: OS::Mistral::ExternalResource
    properties:
      actions:
        CREATE: {workflow: "bad:make"}
"""


class Misbehaving(http.server.BaseHTTPRequestHandler):
    """Answers a POST in the way of the server's ``manner``."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        server = self.server
        assert isinstance(server, Server)
        server.seen.append(self.path)
        getattr(self, server.manner)(server)

    def answer(self, status: int, kind: str, body: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def html(self, server: Server) -> None:
        self.answer(200, "text/html", b"<html><body>Welcome to the portal</body></html>")

    def huge(self, server: Server) -> None:
        self.answer(200, "application/json", b'{"x": "' + b"x" * 2 * 1024 * 1024 + b'"}')

    def redirect(self, server: Server) -> None:
        self.answer(302, "text/plain", b"", Location="/elsewhere")

    def silent(self, server: Server) -> None:
        server.over.wait(60)
        self.close_connection = True

    def drip(self, server: Server) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "100000")
        self.end_headers()
        while not server.over.wait(0.1):
            self.wfile.write(b" ")
            self.wfile.flush()
        self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class Server(http.server.ThreadingHTTPServer):
    """Listens on a free port of this machine. ``seen``: the paths that were asked for."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Misbehaving)
        self.manner = ""
        self.seen: list[str] = []
        self.over = threading.Event()

    def handle_error(self, *_: Any) -> None:
        """A client that hangs up is what these tests expect."""


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield made
    made.over.set()
    made.shutdown()
    thread.join()
    made.server_close()


def configured(endpoint: str) -> str:
    return f"""
[runners.bad]
kind = "http"
endpoint = "{endpoint}"
answer_timeout = 1.0
connect_give_up = 2.0
"""


def failure(zonda: Any, template: Path) -> str:
    """The reason for which creating the stack failed."""
    zonda.run("stack", "create", "s", "-t", template, code=1, timeout=30)
    assert zonda.state("s") == "CREATE_FAILED"
    found = zonda.data("stack", "resource", "show", "s", "thing")
    assert found["resource_status"] == "CREATE_FAILED"
    return str(found["resource_status_reason"])


@pytest.mark.parametrize(
    ("manner", "said"),
    [
        pytest.param("html", "not JSON", id="a-web-page"),
        pytest.param("huge", "1048576", id="two-megabytes"),
        pytest.param("redirect", "redirect", id="a-redirect"),
        pytest.param("silent", "given up", id="never-an-answer"),
        pytest.param("drip", "given up", id="a-byte-at-a-time"),
    ],
)
def test_a_misbehaving_endpoint_fails_its_resource(
    zonda: Any, write: Callable[[str, str], Path], server: Server, manner: str, said: str
) -> None:
    server.manner = manner
    zonda.configure(configured(f"http://127.0.0.1:{server.server_port}/hooks"))
    assert said in failure(zonda, write("t.yaml", TEMPLATE))
    assert set(server.seen) == {"/hooks/workflows/make"}


def test_an_endpoint_that_never_answered_is_given_up(
    zonda: Any, write: Callable[[str, str], Path]
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, and nobody listens: connections are refused
        zonda.configure(configured(f"http://127.0.0.1:{taken.getsockname()[1]}"))
        assert "given up" in failure(zonda, write("t.yaml", TEMPLATE))
