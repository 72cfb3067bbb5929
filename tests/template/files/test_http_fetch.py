"""Files over http(s): only when asked for, only from public addresses, in bounded time and size."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import responses

from zonda.core.template.files.attachments import FetchLimits
from zonda.core.template.files.http_fetch import Refused, RemotePolicy, fetch
from zonda.core.template.files.reader import load_bundle
from zonda.hooks.errors import ValidationErrors
from zonda.hooks.testing import FakeClock

PUBLIC = "93.184.216.34"
HOSTS = {"a.example": [PUBLIC], "inner.example": ["10.0.0.7"]}


def resolve(host: str, port: int) -> list[str]:
    return HOSTS[host]


@pytest.fixture
def web() -> Iterator[responses.RequestsMock]:
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        yield mock


def test_a_file_is_fetched(web: responses.RequestsMock) -> None:
    web.get("https://a.example/x", body=b"hello")
    found = fetch("https://a.example/x", RemotePolicy(), resolve)
    assert (found.content, found.url) == (b"hello", "https://a.example/x")


def test_redirects_are_followed_to_public_places(web: responses.RequestsMock) -> None:
    web.get("https://a.example/x", status=302, headers={"Location": "/y"})
    web.get("https://a.example/y", body=b"there")
    assert fetch("https://a.example/x", RemotePolicy(), resolve).url == "https://a.example/y"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        pytest.param("http://inner.example/", "is not public", id="private"),
        pytest.param("ftp://a.example/", "no scheme", id="scheme"),
        pytest.param("http:///x", "no scheme", id="no-host"),
        pytest.param("http://a.example/inner", "is not public", id="redirect-to-private"),
        pytest.param("http://a.example/file", "no scheme", id="redirect-to-file"),
        pytest.param("https://a.example/down", "less safe", id="redirect-to-http"),
        pytest.param("http://a.example/ring", "redirects", id="redirect-ring"),
        pytest.param("http://a.example/big", "larger than 100 bytes", id="size"),
        pytest.param("http://a.example/gone", "answers 404", id="status"),
        pytest.param("http://a.example/broken", "connection failed", id="broken"),
        pytest.param("http://[a", "cannot be used", id="no-url"),
    ],
)
def test_what_is_not_fetched(web: responses.RequestsMock, url: str, said: str) -> None:
    for path, target in {
        "inner": "http://inner.example/",
        "file": "file:///etc/hostname",
        "ring": "http://a.example/ring",
    }.items():
        web.get(f"http://a.example/{path}", status=301, headers={"Location": target})
    web.get("https://a.example/down", status=301, headers={"Location": "http://a.example/x"})
    web.get("http://a.example/big", body=b"x" * 101)
    web.get("http://a.example/gone", status=404)
    web.get("http://a.example/broken", body=ConnectionResetError())
    web.add_passthru("http://inner.example/")
    with pytest.raises(Refused, match=said):
        fetch(url, RemotePolicy(max_bytes=100), resolve)


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "::1",
     "fe80::1%eth0", "fd00::1", "::ffff:10.0.0.1", "224.0.0.1", "240.0.0.1", "2002:7f00:1::", "x"],
)  # fmt: skip
def test_addresses_that_are_not_public(address: str) -> None:
    with pytest.raises(Refused, match=r"not public|not to be called|leads to no address"):
        fetch("http://a.example/x", RemotePolicy(), lambda host, port: [address])


class Handler(BaseHTTPRequestHandler):
    """Answers with the path; ``/slow`` never ends, ``/drip`` sends a byte a second."""

    server: Any

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        if self.path.startswith("/away"):
            self.server.clock.advance(12)
            self.send_response(302)
            self.send_header("Location", f"{self.path}/")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(200)
        self.end_headers()
        if self.path == "/drip":
            with contextlib.suppress(OSError):
                while True:
                    self.server.clock.advance(1)
                    self.wfile.write(b"x")
        elif self.path == "/slow":
            self.wfile.flush()
            self.server.release.wait(30)
        elif self.path.endswith("child.yaml"):
            self.wfile.write(b"outputs: {o: {value: {get_file: note}}}\n")
        else:
            self.wfile.write(self.path.encode())

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Any]:
    """A server on this machine; ``asked`` are the paths that it was asked for."""
    made: Any = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.asked, made.release = [], threading.Event()
    made.url = f"http://127.0.0.1:{made.server_port}"
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.release.set()
    made.shutdown()
    thread.join()
    made.server_close()


def test_this_machine_is_asked_only_where_that_is_allowed(server: Any) -> None:
    with pytest.raises(Refused, match="is not public"):
        fetch(f"{server.url}/x", RemotePolicy())
    assert server.asked == []
    assert fetch(f"{server.url}/x", RemotePolicy(private=True)).content == b"/x"


def test_what_a_name_means_after_the_check_does_not_matter(server: Any) -> None:
    answers = iter([["127.0.0.1"]])  # what is asked for once more has no answer
    url = f"http://a.example:{server.server_port}/x"
    assert fetch(url, RemotePolicy(private=True), lambda *_: next(answers)).content == b"/x"


def test_a_server_that_never_ends_is_given_up(server: Any) -> None:
    with pytest.raises(Refused, match=r"no whole answer within 0\.1 s"):
        fetch(f"{server.url}/slow", RemotePolicy(private=True, seconds=0.1))


def test_one_time_is_for_a_file_with_all_its_redirects(server: Any) -> None:
    server.clock = clock = FakeClock()
    with pytest.raises(Refused, match="no whole answer within 30 s"):
        fetch(f"{server.url}/drip", RemotePolicy(private=True), clock=clock)
    with pytest.raises(Refused, match="no whole answer within 30 s"):
        fetch(f"{server.url}/away", RemotePolicy(private=True), clock=clock)
    assert server.asked == ["/drip", "/away", "/away/", "/away//"]


def test_what_a_remote_template_names_is_beside_it(server: Any, tmp_path: Path) -> None:
    template = tmp_path / "t.yaml"
    template.write_text(f"resources: {{a: {{type: '{server.url}/lib/child.yaml'}}}}\n")

    bundle = load_bundle(template, limits=FetchLimits(remote=True, private=True))

    assert bundle.files[f"{server.url}/lib/note"] == "/lib/note"
    assert bundle.files_of(f"{server.url}/lib/child.yaml")["note"] == "/lib/note"


def test_nothing_is_fetched_unless_asked_for(server: Any, tmp_path: Path) -> None:
    template = tmp_path / "t.yaml"
    template.write_text(f"outputs: {{o: {{value: {{get_file: '{server.url}/x'}}}}}}\n")
    with pytest.raises(ValidationErrors, match="--allow-remote"):
        load_bundle(template)
    assert server.asked == []


def test_a_remote_document_cannot_name_files_of_this_machine(
    web: responses.RequestsMock, tmp_path: Path
) -> None:
    body = "outputs: {o: {value: {get_file: 'file:///etc/hostname'}}}"
    web.get("http://a.example/child.yaml", body=body)
    template = tmp_path / "t.yaml"
    template.write_text("resources: {a: {type: 'http://a.example/child.yaml'}}\n")
    with pytest.raises(ValidationErrors, match="cannot name file files"):
        load_bundle(template, limits=FetchLimits(remote=True, private=True))
