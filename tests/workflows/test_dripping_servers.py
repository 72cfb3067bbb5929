"""A server that gives a byte a second: whatever calls it ends at its limit, on a clock of ours."""

from __future__ import annotations

import contextlib
import random
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from zonda.hooks.runner import Retry, Running, StartRequest
from zonda.hooks.sinks import EventRecord, SinkError
from zonda.hooks.testing import FakeClock
from zonda.workflows.http_runner import HttpRunner
from zonda.workflows.mistral_runner import MistralRunner
from zonda.workflows.sinks_webhook import WebhookSink

NEVER = 4e9  # seconds since the epoch: no deadline comes before a limit does
LATE = "no whole answer within 20 s"
OAUTH = {"client_id": "c", "client_secret": "pa55word"}
KEYSTONE = {"username": "u", "password": "pa55word", "project_name": "p"}
EVENT = EventRecord("e", 1, 0.0, "default", "s", "shop", "", "r", "T", None, "CREATE", "FAILED", "")
TOKEN = {"key": "k", "url": "/run", "deadline": NEVER, "at": 0, "action": "CREATE"}


FORWARD = """
import pathlib, sys
from zonda.workflows import service_forward
service_forward.TIMEOUT = 0.2
sys.exit(service_forward.main(pathlib.Path(sys.argv[1])))
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


def test_what_the_bundled_service_sends_on(dripping: Dripping, tmp_path: Path) -> None:
    """It is a process of its own, whose limit is by the machine's clock."""
    plan = tmp_path / "plan.json"
    plan.write_text(f'{{"http": {{"method": "POST", "url": "{dripping.url}", "headers": {{}}}}}}')
    dripping.beginning = b"HTTP/1.1 200 OK\r\n\r\n"
    done = subprocess.run(
        [sys.executable, "-c", FORWARD, str(plan)],
        input=b'{"request_id": "k"}',
        capture_output=True,
        timeout=30,
    )
    assert (done.returncode, done.stderr) == (1, b"no whole answer within 0.2 s\n")
