"""The connection settings of a section hold for this kind: the total time, the networks."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from zonda.hooks import UsageError
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
    assert answer.message == "Airflow: no whole answer within 20 s (given up in 120 s)"


def test_a_poll_ends_at_the_total_time(
    dripping: str, make: Callable[..., Any], clock: FakeClock
) -> None:
    token = {"dag": "disk", "task": "zonda_output", "id": "run", "at": clock.now()}
    answer = make(endpoint=dripping, answer_timeout=20).poll(token)
    assert isinstance(answer, Running)
    assert answer.message == "Airflow: no whole answer within 20 s"


@pytest.mark.parametrize(
    ("section", "is_denied"),
    [
        pytest.param({"denied_networks": ["127.0.0.0/8"]}, True, id="denied"),
        pytest.param({"allowed_networks": "127.0.0.0/8"}, False, id="allowed"),
        pytest.param({}, False, id="of the endpoint"),
    ],
)
def test_networks_are_those_of_the_section(
    make: Callable[..., Any], request_of: Callable[..., Any], section: Any, is_denied: bool
) -> None:
    answer = make(endpoint="http://127.0.0.1:9", **section).start(request_of(deadline=4e9))
    assert ("denied_networks" in str(answer)) is is_denied


@pytest.mark.parametrize("name", ["allowed_networks", "denied_networks"])
def test_what_is_no_network_is_refused(make: Callable[..., Any], name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} must hold networks"):
        make(**{name: ["10.0.0.0/33"]})
