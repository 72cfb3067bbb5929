"""The limits of time and size, against servers on the loopback that misbehave."""

from __future__ import annotations

import contextlib
import gc
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from zonda.hooks.runners import Failed, Finished, Retry, StartRequest, Succeeded
from zonda.workflows.http_runner.runner import HttpRunner

Behaviour = Callable[[socket.socket, threading.Event], None]
MakeServer = Callable[[Behaviour], str]
MakeRequest = Callable[..., StartRequest]


class SystemClock:
    """A date that stands still, and the machine's time, which these limits are about."""

    def now(self) -> float:
        return 1_790_000_000.0

    def monotonic(self) -> float:
        return time.monotonic()


class Upper:
    def uniform(self, a: float, b: float) -> float:
        return b


@pytest.fixture
def make_server() -> Iterator[MakeServer]:
    """Servers that read a request and then behave as told; ``over`` is set at the end."""
    servers: list[socketserver.ThreadingTCPServer] = []
    over = threading.Event()

    def make(behave: Behaviour) -> str:
        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                with contextlib.suppress(OSError):
                    read_request(self.request)
                    behave(self.request, over)

        server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = False
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_address[1]}/hook"

    yield make
    over.set()
    for server in servers:
        server.shutdown()
        server.server_close()


def read_request(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        data += received(connection)
    head, _, body = data.partition(b"\r\n\r\n")
    length = 0
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    while len(body) < length:
        body += received(connection)
    return head


def received(connection: socket.socket) -> bytes:
    data = connection.recv(65536)
    if not data:
        raise ConnectionError("the caller went away")
    return data


@pytest.fixture
def make_real_runner() -> Iterator[Callable[..., HttpRunner]]:
    made: list[HttpRunner] = []

    def make(**settings: Any) -> HttpRunner:
        runner = HttpRunner(
            {
                "clock": SystemClock(),
                "random": Upper(),
                "allowed_networks": "127.0.0.0/8",
                **settings,
            }
        )
        made.append(runner)
        return runner

    yield make
    for runner in made:
        runner.close()


def drip(text: bytes) -> Behaviour:
    """Send ``text``, then one byte every 20 ms: each single read is quick."""

    def behave(connection: socket.socket, over: threading.Event) -> None:
        connection.sendall(text)
        while not over.wait(0.02):
            connection.sendall(b"x")

    return behave


def say(text: bytes) -> Behaviour:
    def behave(connection: socket.socket, over: threading.Event) -> None:
        connection.sendall(text)

    return behave


OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    "beginning",
    [
        pytest.param(OK + b"Content-Length: 100000\r\n\r\n", id="body"),
        pytest.param(OK + b"\r\n", id="body-until-close"),
        pytest.param(OK + b"Transfer-Encoding: chunked\r\n\r\n1000\r\n", id="chunked"),
        pytest.param(OK + b"X-Long: ", id="headers"),
        pytest.param(b"HTTP/1.1 200 ", id="status-line"),
    ],
)
def test_an_answer_that_drips_ends_at_the_total_time(
    make_server: MakeServer,
    make_real_runner: Callable[..., HttpRunner],
    request_for: MakeRequest,
    beginning: bytes,
) -> None:
    url = make_server(drip(beginning))
    began = time.monotonic()
    answer = make_real_runner(answer_timeout=0.3).start(request_for(url))
    assert time.monotonic() - began < 3
    assert isinstance(answer, Retry)
    assert "no whole answer within 0.3 s" in answer.message
    assert not answer.answered


def test_a_server_that_never_answers(
    make_server: MakeServer, make_real_runner: Callable[..., HttpRunner], request_for: MakeRequest
) -> None:
    url = make_server(lambda connection, over: over.wait(30) and None)
    answer = make_real_runner(answer_timeout=0.2014).start(request_for(url))
    assert isinstance(answer, Retry)
    assert "no whole answer within 0.2 s" in answer.message


def test_a_port_where_nobody_listens(
    make_real_runner: Callable[..., HttpRunner], request_for: MakeRequest
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/hook?code=s3cret"
        answer = make_real_runner().start(request_for(url))
    assert isinstance(answer, Retry)
    assert "connection refused" in answer.message
    assert "s3cret" not in answer.message


@pytest.mark.parametrize(
    ("answer", "part"),
    [
        pytest.param(
            OK + b"Content-Length: 5000\r\n\r\n" + b"x" * 5000,
            "larger than 1000 bytes",
            id="oversize",
        ),
        pytest.param(
            OK
            + b"Transfer-Encoding: chunked\r\n\r\n"
            + b"800\r\n"
            + b"x" * 2048
            + b"\r\n0\r\n\r\n",
            "larger than 1000 bytes",
            id="oversize-chunked",
        ),
        pytest.param(
            OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"X-Trailer: y\r\n" * 200_000,
            "larger than 1000 bytes",
            id="endless-trailers",
        ),
        pytest.param(
            b"HTTP/1.1 100 Continue\r\n\r\n" * 80_000,
            "larger than 1000 bytes",
            id="endless-beginning",
        ),
        pytest.param(
            OK + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\n" + b"\x1f\x8b\x08\x00",
            "compressed (gzip), which was not asked for",
            id="compressed",
        ),
        pytest.param(
            OK + b"Content-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>",
            "not JSON (text/html)",
            id="html",
        ),
        pytest.param(
            b"HTTP/1.1 307 X\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
            "a redirect of a POST is not followed",
            id="redirect-to-another-host",
        ),
    ],
)
def test_answers_that_cannot_be_taken(
    make_server: MakeServer,
    make_real_runner: Callable[..., HttpRunner],
    request_for: MakeRequest,
    answer: bytes,
    part: str,
) -> None:
    runner = make_real_runner(max_body=1000)
    result = runner.start(request_for(make_server(say(answer))))
    assert isinstance(result, Finished)
    assert isinstance(result.result, Failed)
    assert part in result.result.reason


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(OK + b"Content-Length: 10\r\n\r\n{}", id="body-torn"),
        pytest.param(OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{", id="chunk-torn"),
        pytest.param(
            OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"1" * 2_000_000, id="chunk-without-length"
        ),
        pytest.param(b"HTTP/1.1 2", id="status-torn"),
        pytest.param(b"", id="closed-at-once"),
        pytest.param(b"SSH-2.0-OpenSSH\r\n", id="no-http"),
    ],
)
def test_a_torn_answer_is_sent_for_again(
    make_server: MakeServer,
    make_real_runner: Callable[..., HttpRunner],
    request_for: MakeRequest,
    answer: bytes,
) -> None:
    result = make_real_runner().start(request_for(make_server(say(answer))))
    assert isinstance(result, Retry)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"SSH-2.0-OpenSSH\r\n", id="no-http"),
        pytest.param(OK + b"Content-Length: 2\r\nContent-Length: 5\r\n\r\n{}", id="two-lengths"),
        pytest.param(OK + b"Transfer-Encoding: chunked\r\n\r\nZ\r\n{}", id="chunk-of-letters"),
        pytest.param(OK + b"Transfer-Encoding: chunked\r\n\r\n-2\r\n{}", id="negative-chunk"),
    ],
)
def test_an_answer_that_is_not_http_is_said_to_be_none(
    make_server: MakeServer,
    make_real_runner: Callable[..., HttpRunner],
    request_for: MakeRequest,
    answer: bytes,
) -> None:
    result = make_real_runner().start(request_for(make_server(say(answer))))
    assert isinstance(result, Retry)
    assert "the answer is not valid HTTP" in result.message


@pytest.mark.parametrize("status", [b"100", b"102", b"103"])
def test_an_interim_answer_is_passed_over(
    make_server: MakeServer,
    make_real_runner: Callable[..., HttpRunner],
    request_for: MakeRequest,
    status: bytes,
) -> None:
    interim = b"HTTP/1.1 " + status + b" X\r\nLink: </a>\r\n\r\n"
    url = make_server(say(2 * interim + OK + b'Content-Length: 7\r\n\r\n{"a":1}'))
    result = make_real_runner().start(request_for(url))
    assert isinstance(result, Finished)
    assert result.result.output == {"a": 1}


def test_a_thread_that_ends_leaves_no_connection(
    make_server: MakeServer, make_real_runner: Callable[..., HttpRunner], request_for: MakeRequest
) -> None:
    gone = threading.Event()

    def behave(connection: socket.socket, over: threading.Event) -> None:
        connection.sendall(OK + b"Content-Length: 2\r\n\r\n{}")
        if not connection.recv(1):
            gone.set()

    url, runner = make_server(behave), make_real_runner()
    thread = threading.Thread(target=lambda: runner.start(request_for(url)))
    thread.start()
    thread.join()
    gc.collect()
    assert gone.wait(10)


def test_a_connection_is_used_again(
    make_server: MakeServer, make_real_runner: Callable[..., HttpRunner], request_for: MakeRequest
) -> None:
    connections: list[socket.socket] = []

    def twice(connection: socket.socket, over: threading.Event) -> None:
        connections.append(connection)
        connection.sendall(OK + b"Content-Length: 7\r\n\r\n" + b'{"a":1}')
        read_request(connection)
        connection.sendall(OK + b"Content-Length: 7\r\n\r\n" + b'{"a":2}')

    url, runner = make_server(twice), make_real_runner()
    outputs = [runner.start(request_for(url)) for _ in range(2)]
    assert [answer.result.output for answer in outputs] == [{"a": 1}, {"a": 2}]  # type: ignore[union-attr]
    assert len(connections) == 1


def test_what_is_not_repeated_goes_on_a_new_connection(
    make_server: MakeServer, make_real_runner: Callable[..., HttpRunner], request_for: MakeRequest
) -> None:
    def answer_once(connection: socket.socket, over: threading.Event) -> None:
        connection.sendall(OK + b"Content-Length: 2\r\n\r\n{}")
        read_request(connection)  # which is not answered: the endpoint gives the connection up

    url = make_server(answer_once)
    runner = make_real_runner(actions={"CREATE": {"url": url, "body": "inputs"}})
    for _ in range(3):
        assert runner.start(request_for(url)).result == Succeeded({})  # type: ignore[union-attr]


def test_cookies_are_not_kept(
    make_server: MakeServer, make_real_runner: Callable[..., HttpRunner], request_for: MakeRequest
) -> None:
    heads: list[bytes] = []

    def behave(connection: socket.socket, over: threading.Event) -> None:
        answer = OK + b"Set-Cookie: a=b\r\nContent-Length: 2\r\n\r\n{}"
        connection.sendall(answer)
        heads.append(read_request(connection))
        connection.sendall(answer)

    url, runner = make_server(behave), make_real_runner()
    for _ in range(2):
        assert isinstance(runner.start(request_for(url)), Finished)
    assert b"cookie" not in heads[0].lower()


def test_a_url_that_cannot_be_used(
    make_real_runner: Callable[..., HttpRunner], request_for: MakeRequest
) -> None:
    answer = make_real_runner().start(request_for("http://"))
    assert isinstance(answer, Finished)
    assert "the URL cannot be used" in answer.result.reason  # type: ignore[union-attr]


def test_many_threads_share_a_runner(
    make_server: MakeServer, make_real_runner: Callable[..., HttpRunner], request_for: MakeRequest
) -> None:
    url = make_server(say(OK + b"Content-Length: 2\r\n\r\n{}"))
    runner, results = make_real_runner(), []
    threads = [
        threading.Thread(target=lambda: results.append(runner.start(request_for(url))))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.result for answer in results] == [Succeeded({})] * 8
