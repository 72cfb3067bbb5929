"""Templates by URL: fetched by the server only where its settings let it."""

from __future__ import annotations

import dataclasses
import http.server
import threading
from collections.abc import Iterator
from typing import Any

import pytest

TEMPLATE = b"heat_template_version: 2018-08-31\ndescription: fetched\n"


class Files(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        found = {"/t.yaml": TEMPLATE, "/binary": b"\xff\xfe"}.get(self.path)
        self.send_response(404 if found is None else 200)
        self.end_headers()
        self.wfile.write(found or b"")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("allowed", "file", "says"),
    [
        ("any", "/t.yaml", ""),
        ("no", "/t.yaml", "this server fetches none"),
        ("public", "/t.yaml", "allow_remote_files"),
        ("any", "/nope", "the server answers 404"),
        ("any", "/binary", "codec can't decode"),
    ],
)
def test_a_template_is_fetched_where_the_settings_let_it(
    api: Any, url: str, monkeypatch: pytest.MonkeyPatch, allowed: str, file: str, says: str
) -> None:
    known = dataclasses.replace(api.app.settings, allow_remote_files=allowed)
    monkeypatch.setattr(api.app, "settings", known)
    body = {"stack_name": "fetched", "template_url": url + file}
    reply = api("POST", "/stacks/preview", body)
    if says:
        assert (reply.status, reply.kind) == (400, "HTTPBadRequest")
        assert reply.message.startswith("Could not retrieve template: ")
        assert says in reply.message
    else:
        assert reply.body["stack"]["description"] == "fetched"


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://x/y", "/etc/passwd", "x", "http://"])
def test_no_other_scheme_is_fetched(api: Any, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known = dataclasses.replace(api.app.settings, allow_remote_files="any")
    monkeypatch.setattr(api.app, "settings", known)
    reply = api("POST", "/stacks", {"stack_name": "x", "template_url": url})
    assert (reply.status, reply.kind) == (400, "HTTPBadRequest")
    assert reply.message.startswith("Could not retrieve template: ")
