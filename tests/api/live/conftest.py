"""Clients of streams, in an event loop, without a server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from zonda.core.api.server.application import Application
from zonda.core.api.server.hosts import Hosts
from zonda.core.api.server.readiness import Readiness

PATIENCE = 60.0


@dataclass
class Frame:
    """A frame as a browser has it."""

    kind: str = ""
    id: str = ""
    data: Any = None
    text: str = ""


def parse(text: str) -> Frame:
    """The frame of a text."""
    frame = Frame(text=text)
    for line in text.splitlines():
        name, _, value = line.partition(": ")
        if name == "event":
            frame.kind = value
        elif name == "id":
            frame.id = value
        elif name == "data":
            frame.data = json.loads(value)
    return frame


@dataclass
class Client:
    """A client of one request. ``frames``: all that it has got."""

    application: Application
    frames: list[Frame] = field(default_factory=list)
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    #: Clear it to read nothing more.
    reads: asyncio.Event = field(default_factory=asyncio.Event)

    async def begin(self, path: str, token: str = "p1", **headers: str) -> Client:
        """Send the request; comes back with the head of the answer."""
        path, _, query = path.partition("?")
        named = {"host": "x", "x-auth-token": token, **headers}
        scope = {
            "type": "http",
            "method": "GET",
            "scheme": "http",
            "path": path,
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in named.items()],
        }
        self._sent = False
        self._gone, self._news, self._began = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.reads.set()
        self._rest = b""
        self.task = asyncio.create_task(self.application(scope, self._receive, self._send))
        self.task.add_done_callback(lambda _: self._news.set())
        await asyncio.wait_for(self._began.wait(), PATIENCE)
        return self

    async def _receive(self) -> Any:
        if not self._sent:
            self._sent = True
            return {"type": "http.request", "body": b""}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        await self.reads.wait()
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
            self._began.set()
            return
        self.body += message["body"]
        *whole, self._rest = (self._rest + message["body"]).split(b"\n\n")
        self.frames += [parse(each.decode()) for each in whole]
        self._news.set()

    async def read(self, is_enough: Callable[[list[Frame]], Any]) -> list[Frame]:
        """The frames, as soon as they are enough, or the answer has ended."""
        while not is_enough(self.frames) and not self.task.done():
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), PATIENCE)
        assert is_enough(self.frames), self.frames
        return self.frames

    async def read_states(self, count: int) -> list[Frame]:
        """The first frames of events."""
        await self.read(lambda frames: sum(frame.kind == "state" for frame in frames) >= count)
        return [frame for frame in self.frames if frame.kind == "state"]

    async def end(self) -> None:
        """Wait for the end of the answer."""
        await asyncio.wait_for(self.task, PATIENCE)

    async def leave(self) -> None:
        """Go away."""
        self._gone.set()
        await self.end()


@pytest.fixture
def with_clients(api: Any) -> Any:
    """Runs a coroutine that gets a function for new clients, and the hub."""

    def run(scenario: Callable[[Callable[..., Awaitable[Client]], Any], Awaitable[None]]) -> None:
        async def main() -> None:
            readiness = Readiness(api.app, api.dispatcher.interfaces[0].identity)
            application = Application(api.dispatcher, Hosts(frozenset({"*"})), 1000, readiness)
            clients: list[Client] = []

            async def connect(path: str, **more: str) -> Client:
                made = Client(application)
                clients.append(made)
                return await made.begin(f"/zonda/v1/{path}", **more)

            try:
                await scenario(connect, api.dispatcher.service.hub)
            finally:
                for client in clients:
                    client.reads.set()
                    await client.leave()
            assert api.dispatcher.service.hub.count == 0

        asyncio.run(main())

    return run


@pytest.fixture
def api(make_api: Any, tmp_path: Path) -> Iterator[Any]:
    """An API with a database and a hub of its own."""
    yield from make_api(tmp_path)
