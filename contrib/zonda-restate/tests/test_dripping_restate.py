"""A server that gives a byte a second holds a thread no longer than a setting says."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from zonda.hooks.runners import Retry, Running
from zonda.hooks.testing import FakeClock


@pytest.fixture
def dripping(clock: FakeClock) -> Iterator[str]:
    """Where it listens, for one connection; the clock goes on with every byte."""
    server = socket.create_server(("127.0.0.1", 0))

    def drip() -> None:
        with contextlib.suppress(OSError):
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
                while True:
                    clock.advance(1)
                    connection.sendall(b"x")

    thread = threading.Thread(target=drip)
    thread.start()
    yield f"http://127.0.0.1:{server.getsockname()[1]}"
    server.close()
    thread.join(10)


def test_a_start_ends_at_the_total_time(
    dripping: str, make: Callable[..., Any], request_of: Callable[..., Any]
) -> None:
    answer = make(endpoint=dripping, answer_timeout=20).start(request_of(deadline=4e9))
    assert isinstance(answer, Retry)
    assert answer.message == "Restate: no whole answer within 20 s"


def test_a_poll_ends_at_the_total_time(
    dripping: str, make: Callable[..., Any], clock: FakeClock
) -> None:
    answer = make(endpoint=dripping, answer_timeout=20).poll({"id": "inv_1", "at": clock.now()})
    assert isinstance(answer, Running)
    assert answer.message == "Restate: no whole answer within 20 s"
