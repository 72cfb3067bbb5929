"""The proxy of the storm, which stands between a member and PostgreSQL."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from .cluster_storm.proxy import Proxy

#: Seconds in which nothing comes through a silent proxy, and in which all comes through another.
SILENCE, LONGEST = 0.2, 60.0


@pytest.fixture
def server(tmp_path: Path) -> Iterator[socket.socket]:
    """A socket that listens."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        listening.listen()
        listening.settimeout(LONGEST)
        yield listening


def test_a_silent_proxy_forwards_nothing_either_way_until_it_speaks(server: socket.socket) -> None:
    proxy = Proxy(server.getsockname())
    with socket.create_connection(("127.0.0.1", proxy.port), LONGEST) as client:
        accepted, _ = server.accept()
        with accepted:
            accepted.settimeout(LONGEST)
            client.sendall(b"a")
            assert accepted.recv(1) == b"a"
            proxy.fall_silent()
            for here, there in ((client, accepted), (accepted, client)):
                here.sendall(b"b")
                there.settimeout(SILENCE)
                with pytest.raises(TimeoutError):
                    there.recv(1)
                there.settimeout(LONGEST)
            proxy.speak()
            assert accepted.recv(1) == client.recv(1) == b"b"
            accepted.close()
            assert client.recv(1) == b""
    proxy.close()


def test_an_end_does_not_pass_a_silent_proxy(server: socket.socket) -> None:
    proxy = Proxy(server.getsockname())
    with socket.create_connection(("127.0.0.1", proxy.port), LONGEST) as client:
        accepted, _ = server.accept()
        client.sendall(b"a")
        assert accepted.recv(1) == b"a"
        proxy.fall_silent()
        accepted.close()
        client.settimeout(SILENCE)
        with pytest.raises(TimeoutError):
            client.recv(1)
    proxy.close()
