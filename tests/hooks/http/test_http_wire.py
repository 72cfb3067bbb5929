"""What is signed as the target is what goes over the wire, whatever the library makes of it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest
from requests.adapters import HTTPAdapter

from zonda.hooks.http import ClientConfig, Transport, TransportError, canonical_url
from zonda.hooks.testing import FakeClock

ENDING = b"HTTP/1.1 204 x\r\nConnection: close\r\n\r\n"


class Wiretap:
    """A server that keeps the lines and hosts of requests; no library reads them for it."""

    def __init__(self) -> None:
        self._listening = socket.socket()
        self._listening.bind(("127.0.0.1", 0))
        self._listening.listen()
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.targets: list[str] = []
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._listening.accept()
            with connection:
                data = connection.recv(65536)
                if not data:
                    return
                self.targets.append(data.split(b" ")[1].decode())
                connection.sendall(ENDING)

    def close(self) -> None:
        socket.create_connection(self._listening.getsockname()).close()
        self._thread.join()
        self._listening.close()


@pytest.fixture
def wiretap() -> Iterator[Wiretap]:
    made = Wiretap()
    yield made
    made.close()


@pytest.fixture(params=["as-it-is", "folding"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Versions of ``requests`` that fold the slashes at the beginning of a path, and others."""
    known = HTTPAdapter.request_url

    def folding(self: HTTPAdapter, *args: object) -> str:
        url = known(self, *args)  # type: ignore[arg-type]
        return f"/{url.lstrip('/')}" if url.startswith("//") else url

    if request.param == "folding":
        monkeypatch.setattr(HTTPAdapter, "request_url", folding)


PATHS = ["", "/a", "//a//b", "///", "/a/../b", "/a b?x=ü", "/a%2fb?x=%7e", "/?", "/a#f"]


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("path", PATHS)
def test_what_is_signed_is_what_is_sent(wiretap: Wiretap, path: str) -> None:
    transport = Transport(ClientConfig(clock=FakeClock(), trusted=frozenset({wiretap.url})))
    transport.send("GET", f"{wiretap.url}{path}", {})
    transport.close()
    assert [f"{wiretap.url}{each}" for each in wiretap.targets] == [
        canonical_url(f"{wiretap.url}{path}")
    ]


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("path", PATHS)
def test_so_it_is_through_a_proxy(wiretap: Wiretap, path: str) -> None:
    url = f"http://flows.example{path}"
    wire = ClientConfig(
        clock=FakeClock(), proxy=wiretap.url, trusted=frozenset({"http://flows.example"})
    )
    transport = Transport(wire)
    transport.send("GET", url, {})
    transport.close()
    assert wiretap.targets == [canonical_url(url)]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        pytest.param(
            b"HTTP/1.1 407 Password of u wanted\r\n\r\n",
            r"^the proxy does not connect us \(HTTP 407\)$",
            id="refuses",
        ),
        pytest.param(b"", "^the connection broke off$", id="hangs-up"),
    ],
)
def test_a_proxy_that_makes_no_connection_is_no_timeout(
    wiretap: Wiretap, monkeypatch: pytest.MonkeyPatch, answer: bytes, reason: str
) -> None:
    monkeypatch.setattr(f"{__name__}.ENDING", answer)
    transport = Transport(ClientConfig(clock=FakeClock(), proxy=wiretap.url))
    with pytest.raises(TransportError, match=reason) as caught:
        transport.send("GET", "https://flows.example/", {})
    transport.close()
    assert not caught.value.may_have_arrived
