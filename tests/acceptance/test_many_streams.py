"""500 open streams at a real server: it answers others meanwhile, and each gets its events."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .serve_storm.server import Server

PATIENCE = 120.0
PROJECTS, OF_EACH = 25, 20
#: Bytes that one more stream may take, many times what it does.
MOST_MEMORY = 200_000
TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "resources": {
        f"r{number}": {"type": "OS::Heat::TestResource", "properties": {"value": "x"}}
        for number in range(20)
    },
}


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("ZONDA_MAX_CLIENT_CONNECTIONS", "1000")
    made = Server(tmp_path / "home")
    made.start()
    yield made
    made.kill()


class Client:
    """A client on one connection."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def send(self, method: str, path: str, body: Any = None) -> Client:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        data = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(data)}\r\n\r\n"
        self._writer.write(head.encode() + data)
        return self

    async def read_status(self) -> int:
        head = await asyncio.wait_for(self._reader.readuntil(b"\r\n\r\n"), PATIENCE)
        return int(head.split()[1])

    async def read_to(self, text: bytes) -> bytes:
        return await asyncio.wait_for(self._reader.readuntil(text), PATIENCE)

    def close(self) -> None:
        self._writer.close()


def read_memory(pid: int) -> int:
    """The resident memory of a process, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (found,) = [line for line in lines if line.startswith("VmRSS:")]
    return int(found.split()[1]) * 1024


def test_500_streams_leave_the_server_responsive(server: Server) -> None:
    port = int(server.url.rpartition(":")[2])

    async def ask(method: str, path: str, body: Any = None) -> int:
        client = await Client(port).send(method, path, body)
        try:
            return await client.read_status()
        finally:
            client.close()

    async def main() -> None:
        for number in range(PROJECTS):  # what every project needs is there
            assert await ask("GET", f"/v1/p{number}/stacks") == 200
        before = read_memory(server.pid)
        streams = []
        for number in range(PROJECTS):
            path = f"/zonda/v1/p{number}/events"
            opened = [await Client(port).send("GET", path) for _ in range(OF_EACH)]
            for client in opened:
                assert await client.read_status() == 200
                await client.read_to(b"id: 0\n")
            streams.append(opened)
            assert await ask("GET", path) == 429
        each = (read_memory(server.pid) - before) / (PROJECTS * OF_EACH)
        print(f"{each / 1024:.1f} KiB a stream")
        assert each < MOST_MEMORY
        body = {"stack_name": "s", "template": TEMPLATE}
        assert await ask("POST", "/v1/p7/stacks", body) == 201
        for number in range(PROJECTS):
            assert await ask("GET", f"/v1/p{number}/stacks") == 200
        for client in streams[7]:
            for _ in range(2 + 2 * len(TEMPLATE["resources"])):
                await client.read_to(b"event: state\n")
        for opened in streams:
            for client in opened:
                client.close()

    asyncio.run(main())
    server.end(signal.SIGTERM)
