"""Servers that send a byte a second: each caller ends at its limit, on a fake clock."""

from __future__ import annotations

import contextlib
import json
import os
import random
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from zonda.hooks.events import EventRecord, SinkError
from zonda.hooks.runners import Retry, Running, StartRequest
from zonda.hooks.testing import FakeClock
from zonda.workflows.event_sinks.webhook import WebhookSink
from zonda.workflows.http_runner.runner import HttpRunner
from zonda.workflows.mistral.runner import MistralRunner

NEVER = 4e9  # seconds since the epoch: no deadline comes before a limit does
LATE = "no whole answer within 20 s"
OAUTH = {"client_id": "c", "client_secret": "pa55word"}
KEYSTONE = {"username": "u", "password": "pa55word", "project_name": "p"}
EVENT = EventRecord("e", 1, 0.0, "default", "s", "shop", "", "r", "T", None, "CREATE", "FAILED", "")
TOKEN = {"key": "k", "url": "/run", "deadline": NEVER, "at": 0, "action": "CREATE"}


FORWARD = """
import pathlib, sys
from zonda.workflows.service import forward_request as service_forward
service_forward.TIMEOUT = globals().get("LONG", 0.2)
sys.exit(service_forward.main(pathlib.Path(sys.argv[1])))
"""

LONG = "LONG = 30.0\n"
#: A resolver that no signal interrupts.
NEVER_RESOLVED = """
import signal, socket, threading

def ask(*args, **kwargs):
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    threading.Event().wait()

socket.getaddrinfo = ask
"""


class Dripping:
    """Listens on ``url``; the clock goes on a second with every byte that it sends."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.beginning = b"HTTP/1.1 200 OK\r\nX-Long: "
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._server.accept()
            with connection, contextlib.suppress(OSError):
                if not connection.recv(65536):
                    return
                connection.sendall(self.beginning)
                while True:
                    self.clock.advance(1)
                    connection.sendall(b"x")

    def close(self) -> None:
        socket.create_connection(self._server.getsockname()).close()
        self._thread.join(10)
        self._server.close()
        assert not self._thread.is_alive()


@pytest.fixture
def dripping() -> Iterator[Dripping]:
    made = Dripping()
    yield made
    made.close()


@pytest.fixture
def given(dripping: Dripping) -> dict[str, Any]:
    return {
        "endpoint": dripping.url,
        "answer_timeout": 20,
        "clock": dripping.clock,
        "random": random.Random(0),
    }


Given = dict[str, Any]
Request = Callable[..., StartRequest]


def test_a_start_of_the_http_runner(given: Given, request_for: Request) -> None:
    answer = HttpRunner(given).start(request_for("make", deadline=NEVER))
    assert isinstance(answer, Retry)
    assert LATE in answer.message


def test_a_poll_of_the_http_runner(given: Given) -> None:
    answer = HttpRunner(given).poll(TOKEN)
    assert isinstance(answer, Running)
    assert LATE in answer.message


def test_a_login_by_oauth2(given: Given, dripping: Dripping, request_for: Request) -> None:
    oauth2 = {**OAUTH, "token_url": f"{dripping.url}/token"}
    answer = HttpRunner({**given, "endpoint": "http://127.0.0.1:9", "oauth2": oauth2}).start(
        request_for("make", deadline=NEVER)
    )
    assert isinstance(answer, Retry)
    assert "no whole answer within 30 s" in answer.message  # a login has a limit of its own


def test_a_start_of_the_mistral_runner(given: Given, request_for: Request) -> None:
    answer = MistralRunner(given).start(request_for("make", deadline=NEVER))
    assert isinstance(answer, Retry)
    assert LATE in answer.message


def test_a_login_at_keystone(given: Given, dripping: Dripping, request_for: Request) -> None:
    login = {**KEYSTONE, "auth_url": dripping.url}
    runner = MistralRunner({**given, "endpoint": "http://127.0.0.1:9/v2", **login})
    answer = runner.start(request_for("make", deadline=NEVER))
    assert isinstance(answer, Retry)
    assert LATE in answer.message


def test_a_webhook(given: Given) -> None:
    sink = WebhookSink({"url": given.pop("endpoint"), **given})
    with pytest.raises(SinkError, match=LATE):
        sink.deliver([EVENT])


def sent_on(folder: Path, url: str, before: str = "", **environment: str) -> tuple[int, bytes]:
    """The exit code and what is said on stderr: a process of its own, by the machine's clock."""
    settings = folder / "http.json"
    settings.write_text(json.dumps({"method": "POST", "url": url, "headers": {}}))
    done = subprocess.run(
        [sys.executable, "-c", before + FORWARD, str(settings)],
        input=b'{"request_id": "k"}',
        capture_output=True,
        timeout=30,
        env={**os.environ, **environment},
    )
    return done.returncode, done.stderr


def test_what_the_bundled_service_sends_on(dripping: Dripping, tmp_path: Path) -> None:
    dripping.beginning = b"HTTP/1.1 200 OK\r\n\r\n"
    said = b"no answer: no whole answer within 0.2 s\n"
    assert sent_on(tmp_path, dripping.url) == (1, said)


def test_a_name_that_nobody_resolves_is_given_up_by_what_is_sent_on(tmp_path: Path) -> None:
    code, said = sent_on(tmp_path, "http://never.example/", NEVER_RESOLVED)
    assert code == 1
    assert b"looking up the name of the host took more than 0.2 s" in said


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        pytest.param(b"\r\n" + b"x" * 2_000_000, b"larger than 1048576 bytes", id="large"),
        pytest.param(b"Content-Encoding: gzip\r\n\r\nx", b"is compressed (gzip)", id="packed"),
    ],
)
def test_an_answer_to_what_is_sent_on_has_a_size(
    tmp_path: Path, answer: bytes, said: bytes
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def reply() -> None:
            connection, _ = server.accept()
            with connection, contextlib.suppress(OSError):
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\n" + answer)
                while connection.recv(65536):  # to close with something unread is a reset
                    pass

        thread = threading.Thread(target=reply)
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        code, told = sent_on(tmp_path, url, LONG)
        thread.join(10)
    assert code == 1
    assert said in told


def test_a_proxy_of_the_environment_is_used(dripping: Dripping, tmp_path: Path) -> None:
    dripping.beginning = b"HTTP/1.1 502 no\r\nContent-Length: 3\r\n\r\n"
    found = sent_on(tmp_path, "http://flows.example/", LONG, http_proxy=dripping.url, no_proxy="")
    assert found == (1, b"HTTP 502: xxx\n")
