"""A server that says what a test tells it to say, and a connection to it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from zonda.core.remote.account import Account
from zonda.core.remote.connection import Connection
from zonda.core.system.clock import SystemClock
from zonda.core.wire.classes import VERSION

HELLO = {"protocol": VERSION, "zonda": "9.9", "is_bound": True, "project": "p1", "user": "ann"}


@dataclass
class Script:
    """Answers in their order: (status, body); None breaks the connection off."""

    answers: list[tuple[int, Any] | None] = field(default_factory=list)
    asked: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    url: str = ""


class PromptClock(SystemClock):
    """A clock whose pauses take no time; notes them."""

    def __init__(self) -> None:
        self.pauses: list[float] = []

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)


@pytest.fixture
def script() -> Iterator[Script]:
    """A server that follows a script."""
    found = Script()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            found.asked.append((self.command, self.path, headers, body))
            answer = found.answers.pop(0)
            if answer is None:
                self.close_connection = True
                return
            status, said = answer
            text = said if isinstance(said, bytes) else json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.send_header("X-Subject-Token", "from-keystone")
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = answer

        def log_message(self, *given: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def clock() -> PromptClock:
    """The clock of the connection."""
    return PromptClock()


@pytest.fixture
def connection(script: Script, clock: PromptClock) -> Iterator[Connection]:
    """A connection with a token."""
    made = Connection(Account(f"{script.url}/", "mine", "sesame"), clock)
    yield made
    made.close()
