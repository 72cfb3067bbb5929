"""The server of the bundled service: authentication, refusals, start."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import requests
from tests.workflows.service_process import spawn

from zonda.hooks.errors import UsageError
from zonda.workflows.client import webhook_signature
from zonda.workflows.service import server as service
from zonda.workflows.service.server import ServiceHandle

FLOWS = "workflows: {hello: {command: echo}}"
HEADERS = {"Idempotency-Key": "k", "Content-Type": "application/json"}


@pytest.fixture
def make_service(tmp_path: Path) -> Iterator[Callable[..., ServiceHandle]]:
    with ExitStack() as stack:

        def make(text: str = FLOWS, **settings: Any) -> ServiceHandle:
            (tmp_path / "flows.yaml").write_text(text)
            handle = service.start(tmp_path / "flows.yaml", state_dir=tmp_path / "s", **settings)
            return stack.enter_context(handle)

        yield make


def send(
    handle: ServiceHandle,
    method: str = "POST",
    path: str = "/workflows/hello",
    body: bytes | str = "{}",
    **headers: str,
) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", handle.port, timeout=10)
    given = {**HEADERS, **{name.replace("_", "-"): value for name, value in headers.items()}}
    connection.request(method, path, body, {k: v for k, v in given.items() if v})
    answer = connection.getresponse()
    content = json.loads(answer.read())
    connection.close()
    return answer.status, content


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status", "part"),
    [
        pytest.param("POST", "/workflows/nope", "{}", {}, 404, "no workflow 'nope'", id="unknown"),
        pytest.param("POST", "/else", "{}", {}, 404, "no POST /else", id="no-route"),
        pytest.param("DELETE", "/workflows/hello", "", {}, 404, "no DELETE", id="wrong-method"),
        pytest.param("GET", "/workflows/nope", "", {}, 404, "no workflow 'nope'", id="ask"),
        pytest.param("GET", "/executions/nope", "", {}, 404, "no execution", id="no-execution"),
        pytest.param("DELETE", "/executions/nope", "", {}, 404, "no execution", id="delete"),
        pytest.param("POST", "/workflows/hello", "{", {}, 400, "is not JSON", id="broken-json"),
        pytest.param("POST", "/workflows/hello", "[]", {}, 400, "a JSON object", id="list"),
        pytest.param("POST", "/workflows/hello", "", {}, 400, "is not JSON", id="no-body"),
        pytest.param(
            "POST", "/workflows/hello", '{"contract": 2}', {}, 400, "version 1", id="version"
        ),
        pytest.param(
            "POST",
            "/workflows/hello",
            "{}",
            {"Idempotency_Key": ""},
            400,
            "Idempotency-Key",
            id="no-key",
        ),
        pytest.param(
            "POST",
            "/workflows/hello",
            "{}",
            {"Idempotency_Key": "k" * 256},
            400,
            "Idempotency-Key",
            id="long-key",
        ),
        pytest.param(
            "POST",
            "/workflows/hello",
            "{}",
            {"Content_Type": "text/plain"},
            415,
            "application/json",
            id="a-web-page-may-send-text",
        ),
        pytest.param(
            "POST",
            "/workflows/hello",
            "{}",
            {"Host": "evil.example"},
            403,
            "only this machine",
            id="another-host-name",
        ),
        pytest.param(
            "GET", "/executions", "", {"Host": "[evil"}, 403, "only this machine", id="odd-host"
        ),
        pytest.param(
            "POST", "/workflows/hello", "x" * 1048577, {}, 413, "1048576 bytes", id="too-large"
        ),
        pytest.param(
            *("POST", "/workflows/hello", "x" * 20_000_000, {}, 413, "1048576 bytes"),
            id="much-too-large",
        ),
        pytest.param(
            "POST",
            "/workflows/hello",
            "",
            {"Content_Length": "many"},
            411,
            "Content-Length",
            id="odd-length",
        ),
    ],
)
def test_refusals(
    make_service: Callable[..., ServiceHandle],
    method: str,
    path: str,
    body: str,
    headers: dict[str, str],
    status: int,
    part: str,
) -> None:
    found, answer = send(make_service(), method, path, body, **headers)
    assert found == status
    assert part in answer["reason"]


def test_a_known_workflow(make_service: Callable[..., ServiceHandle]) -> None:
    assert send(make_service(), "GET", "/workflows/hello") == (200, {"workflow": "hello"})


def test_an_unknown_workflow_does_not_look_like_a_thing_that_is_gone(
    make_service: Callable[..., ServiceHandle],
) -> None:
    _, answer = send(make_service(), path="/workflows/nope")
    assert "contract" not in answer


@pytest.mark.parametrize(
    ("given", "status"),
    [
        pytest.param("", 401, id="none"),
        pytest.param("Bearer wrong", 401, id="wrong"),
        pytest.param("Basic t0ken", 401, id="other-scheme"),
        pytest.param("Bearer t0ken", 202, id="right"),
    ],
)
def test_the_token(make_service: Callable[..., ServiceHandle], given: str, status: int) -> None:
    handle = make_service(token="t0ken")
    assert send(handle, Authorization=given)[0] == status
    if status == 401:
        assert send(handle, "GET", "/executions", Authorization=given)[0] == 401
    assert send(handle, "GET", "/health")[0] == 200


def test_with_a_token_the_service_may_have_any_name(
    make_service: Callable[..., ServiceHandle],
) -> None:
    handle = make_service(token="t0ken")
    assert send(handle, Host="flows.example", Authorization="Bearer t0ken")[0] == 202


@pytest.mark.parametrize(
    ("key", "age", "sent", "status"),
    [
        pytest.param("new", 0, "{}", 202, id="signed"),
        pytest.param("old", 0, "{}", 202, id="signed-with-the-other-key"),
        pytest.param("wrong", 0, "{}", 401, id="wrong-key"),
        pytest.param("new", 400, "{}", 401, id="too-old"),
        pytest.param("new", -400, "{}", 401, id="from-the-future"),
        pytest.param("new", 0, '{"a": 1}', 401, id="another-body"),
    ],
)
def test_signatures(
    make_service: Callable[..., ServiceHandle], key: str, age: float, sent: str, status: int
) -> None:
    handle = make_service(signing_keys=["new", "old"])
    signed = webhook_signature.build_headers([key.encode()], "k", time.time() - age, b"{}")
    headers = {name.replace("-", "_"): value for name, value in signed.items()}
    assert send(handle, body=sent, **headers)[0] == status


def test_an_unsigned_request_is_refused(make_service: Callable[..., ServiceHandle]) -> None:
    status, answer = send(make_service(signing_keys=["new"]))
    assert (status, answer["reason"]) == (401, "The request is refused: the request is not signed.")


def test_a_journal_that_cannot_be_written(
    make_service: Callable[..., ServiceHandle], tmp_path: Path
) -> None:
    handle = make_service()
    (tmp_path / "s" / "runs").rename(tmp_path / "s" / "elsewhere")
    status, answer = send(handle)
    assert (status, answer["reason"]) == (
        503,
        "The run cannot be journaled: No such file or directory.",
    )


def test_connections_are_kept_alive(make_service: Callable[..., ServiceHandle]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", make_service().port, timeout=10)
    for path, status in (("/health", 200), ("/nope", 404), ("/v1/health", 200)):
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == status
        assert connection.sock is not None
    connection.close()


def test_a_caller_that_goes_away_hurts_nobody(make_service: Callable[..., ServiceHandle]) -> None:
    handle = make_service()
    with socket.create_connection(("127.0.0.1", handle.port)) as connection:
        connection.sendall(b"POST /workflows/hello HTTP/1.1\r\nContent-Length: 10\r\n\r\n{")
    assert send(handle, "GET", "/health") == (200, {"status": "ok"})


@pytest.mark.parametrize(
    ("length", "status"),
    [
        pytest.param("9" * 5000, b"413", id="thousands-of-digits"),
        pytest.param("0" * 5000 + "2", b"404", id="thousands-of-zeros"),
    ],
)
def test_a_length_of_thousands_of_digits_is_answered(
    make_service: Callable[..., ServiceHandle], length: str, status: bytes
) -> None:
    handle = make_service()
    with socket.create_connection(("127.0.0.1", handle.port), timeout=10) as connection:
        head = f"POST /else HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{{}}"
        connection.sendall(head.encode())
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(64).startswith(b"HTTP/1.1 " + status)


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        pytest.param({"host": "0.0.0.0"}, "where others could run", id="open-without-token"),
        pytest.param({"host": "flows.example"}, "where others could run", id="name"),
        pytest.param({"token": "a\nb"}, "one line", id="token-lines"),
        pytest.param({"signing_keys": ["whsec_!"]}, "not base64", id="key"),
        pytest.param({"port": 99999}, "cannot listen", id="port"),
        pytest.param({"state_dir": "/proc/none"}, "cannot keep its state", id="state"),
        pytest.param({"file": "no.yaml"}, "cannot be read", id="file"),
    ],
)
def test_what_the_service_refuses_to_start_with(
    tmp_path: Path, settings: dict[str, Any], part: str
) -> None:
    (tmp_path / "flows.yaml").write_text(FLOWS)
    given = {"file": tmp_path / "flows.yaml", "state_dir": tmp_path / "s", **settings}
    for begin in (service.start, spawn):
        with pytest.raises(UsageError) as caught:
            begin(**given)  # type: ignore[operator]
        assert part in caught.value.message


def test_a_port_that_is_taken(make_service: Callable[..., ServiceHandle], tmp_path: Path) -> None:
    port = make_service().port
    with pytest.raises(UsageError, match="Address already in use"):
        service.start(tmp_path / "flows.yaml", state_dir=tmp_path / "other", port=port)


def test_all_addresses_with_a_token(make_service: Callable[..., ServiceHandle]) -> None:
    handle = make_service(host="0.0.0.0", token="t0ken")
    assert send(handle, Authorization="Bearer t0ken")[0] == 202


def test_serve_ends_on_request(tmp_path: Path) -> None:
    (tmp_path / "flows.yaml").write_text(FLOWS)
    process = spawn(tmp_path / "flows.yaml", state_dir=tmp_path / "s")
    assert requests.get(f"{process.url}/health", timeout=10).json() == {"status": "ok"}
    process.stop()
    with pytest.raises(requests.ConnectionError):
        requests.get(f"{process.url}/health", timeout=10)


class Target(BaseHTTPRequestHandler):
    """Where forwarded calls go: answers with what it got, or with an error."""

    def do_PUT(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        seen = {"key": self.headers["Idempotency-Key"], "x": self.headers["X-Key"], "body": body}
        self.answer(200, json.dumps(seen))

    def do_POST(self) -> None:
        self.answer(422, "not so")

    def do_PATCH(self) -> None:
        self.answer(200, "<html>")

    def do_DELETE(self) -> None:
        self.answer(200, "")

    def answer(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def target() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Target)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()


def test_calls_are_forwarded(make_service: Callable[..., ServiceHandle], target: str) -> None:
    handle = make_service(
        f"""
        workflows:
          put: {{http: {{url: "{target}", method: PUT, headers: {{X-Key: s3cret}}}}}}
          post: {{http: "{target}"}}
          patch: {{http: {{url: "{target}", method: PATCH}}}}
          delete: {{http: {{url: "{target}", method: DELETE}}}}
        """
    )
    body = '{"request_id": "r-1"}'
    send(handle, path="/workflows/put", body=body, Idempotency_Key="a")
    send(handle, path="/workflows/post", body=body, Idempotency_Key="b")
    send(handle, path="/workflows/patch", body=body, Idempotency_Key="c")
    send(handle, path="/workflows/delete", body=body, Idempotency_Key="d")
    pause = threading.Event()
    answers: dict[str, Any] = {}
    for key in ("a", "b", "c", "d"):
        for _ in range(1000):
            status, answers[key] = send(handle, "GET", f"/executions/{key}", "")
            if status == 200:
                break
            pause.wait(0.02)
    seen = {"key": "r-1", "x": "s3cret", "body": {"request_id": "r-1"}}
    assert (answers["a"]["state"], answers["a"]["output"]) == ("succeeded", seen)
    assert (answers["b"]["state"], answers["b"]["reason"]) == (
        "failed",
        "exit code 1: HTTP 422: not so",
    )
    assert (answers["c"]["state"], answers["c"]["reason"]) == (
        "failed",
        "exit code 1: HTTP 200 with what is no JSON object: <html>",
    )
    assert (answers["d"]["state"], "output" in answers["d"]) == ("succeeded", False)
