"""Connections on loopback: how many there may be, and heads that are too large or too slow."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from tests.certificates import make_certificate
from uvicorn.server import ServerState

from zonda.core.api.server.hosts import Proxies
from zonda.core.api.server.process import connections as module
from zonda.core.api.server.process.connections import Connections, LimitedProtocol

PATIENCE = 60.0
GET = b"GET / HTTP/1.1\r\nhost: x\r\n"


async def answer(scope: Any, receive: Any, send: Any) -> None:
    """An application that answers everything."""
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


Scenario = Callable[[Callable[[], Awaitable[Any]], Connections], Awaitable[None]]


def serve(scenario: Scenario, most: int = 3, *proxies: str) -> None:
    """Run a server beside a scenario, which gets a function for new connections."""

    async def main() -> None:
        counted = Connections(most, Proxies.parse(proxies))
        config = uvicorn.Config(answer, log_config=None, lifespan="off", ws="none")
        config.load()
        make = partial(
            LimitedProtocol,
            counted,
            config=config,
            server_state=ServerState(),
            app_state={},
            _loop=asyncio.get_running_loop(),
        )
        server = await asyncio.get_running_loop().create_server(make, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        opened: list[Any] = []

        async def connect() -> Any:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            opened.append(writer)
            return reader, writer

        try:
            await scenario(connect, counted)
        finally:
            for writer in opened:
                writer.close()
            server.close()

    asyncio.run(main())


async def read_all(reader: Any) -> bytes:
    """Everything until the server closes the connection."""
    return bytes(await asyncio.wait_for(reader.read(), PATIENCE))


async def ask(reader: Any, writer: Any) -> bytes:
    """The first line of the answer to a request."""
    writer.write(GET + b"\r\n")
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
    return bytes(head.partition(b"\r\n")[0])


def test_one_address_has_so_many_connections_and_no_more() -> None:
    async def scenario(connect: Any, counted: Connections) -> None:
        opened = [await connect() for _ in range(3)]
        for each in opened:
            assert b" 204 " in await ask(*each)
        reader, _ = await connect()
        assert (await read_all(reader)).startswith(b"HTTP/1.1 503 ")
        opened[0][1].close()
        await opened[0][1].wait_closed()
        while counted.total > 2:
            await asyncio.sleep(0)
        assert b" 204 " in await ask(*await connect())

    serve(scenario)


def test_a_trusted_proxy_has_as_many_as_it_needs() -> None:
    async def scenario(connect: Any, counted: Connections) -> None:
        for _ in range(5):
            assert b" 204 " in await ask(*await connect())

    serve(scenario, 3, "127.0.0.0/8")


def test_all_clients_together_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CONNECTIONS", 1)

    async def scenario(connect: Any, counted: Connections) -> None:
        assert b" 204 " in await ask(*await connect())
        reader, _ = await connect()
        assert (await read_all(reader)).startswith(b"HTTP/1.1 503 ")

    serve(scenario)


@pytest.mark.parametrize("name", [b"x-one: ", b"x: 1\r\n"])
def test_a_head_that_never_ends_is_refused(name: bytes) -> None:
    async def scenario(connect: Any, counted: Connections) -> None:
        reader, writer = await connect()
        writer.write(GET + name * (module.HEAD_BYTES // len(name) + 1))
        assert (await read_all(reader)).startswith((b"HTTP/1.1 431 ", b"HTTP/1.1 400 "))

    serve(scenario)


def test_a_client_that_says_nothing_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HEAD_SECONDS", 0.0)

    async def scenario(connect: Any, counted: Connections) -> None:
        reader, _ = await connect()
        assert await read_all(reader) == b""

    serve(scenario)


def test_a_second_head_has_to_come_in_time_too(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(connect: Any, counted: Connections) -> None:
        reader, writer = await connect()
        for _ in range(2):
            assert b" 204 " in await ask(reader, writer)
        monkeypatch.setattr(module, "HEAD_SECONDS", 0.0)
        writer.write(GET)
        assert await read_all(reader) == b""

    serve(scenario)


def test_an_idle_client_by_tls_does_not_hold_up_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "END_SECONDS", 0.0)
    asyncio.run(end_beside_an_idle_client(make_tls(tmp_path)))


async def end_beside_an_idle_client(tls: ssl.SSLContext) -> None:
    """Return once the connection of a client that does not look at it has ended."""
    loop, made, ended = asyncio.get_running_loop(), [], asyncio.Event()

    class Noted(LimitedProtocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            made.append(self)

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            ended.set()

    config = uvicorn.Config(answer, log_config=None, lifespan="off", ws="none")
    config.load()
    make = partial(
        Noted, Connections(3, Proxies()), config=config, server_state=ServerState(), app_state={}
    )
    server = await loop.create_server(
        partial(make, _loop=loop), "127.0.0.1", 0, ssl=tls, ssl_shutdown_timeout=10 * PATIENCE
    )
    client = await asyncio.to_thread(ask_by_tls, server.sockets[0].getsockname()[1])
    made[0].shutdown()
    await asyncio.wait_for(ended.wait(), PATIENCE)
    client.close()
    server.close()


def make_tls(folder: Path) -> ssl.SSLContext:
    """TLS with a certificate of its own."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*make_certificate(folder))
    return context


def ask_by_tls(port: int) -> ssl.SSLSocket:
    """A connection whose request has been answered, and that is kept."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    client = context.wrap_socket(socket.create_connection(("127.0.0.1", port), PATIENCE))
    client.sendall(GET + b"\r\n")
    assert b" 204 " in client.recv(65536)
    return client
