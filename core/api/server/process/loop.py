"""The server's event loop: what is done in it now and then, and the order of its end."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import uvicorn

from zonda.hooks.errors import StoreError

from ...service.service import Service
from ..readiness import Readiness
from .supervisor import Supervisor

#: Seconds between two rounds.
_ROUND = 1.0
#: Seconds for which a server whose engine has died answers reads and says that it is not ready.
LAST_SECONDS = 10.0


class Server(uvicorn.Server):
    """A server without signal handlers of its own, which ends with the engine.

    ``ready`` is called as soon as it listens.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        service: Service,
        readiness: Readiness,
        ready: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._service = service
        self._readiness = readiness
        self._ready = ready
        self._supervisor = Supervisor()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._round_due = asyncio.Event()
        self._died_at: float | None = None
        #: The death of the engine, once the server ends for it.
        self.failure: StoreError | None = None

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to the command."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say so."""
        await super().startup(sockets)
        self._ready()
        self._supervisor.tell("READY=1")

    async def main_loop(self) -> None:
        """Make rounds until ``end``. uvicorn itself would look ten times a second."""
        self._loop = asyncio.get_running_loop()
        while not await self.on_tick(0):
            timer = self._loop.call_later(_ROUND, self._round_due.set)
            await self._round_due.wait()
            timer.cancel()
            self._round_due.clear()

    async def on_tick(self, counter: int) -> bool:
        """Make a round, besides what uvicorn does."""
        self.make_round()
        return await super().on_tick(counter)

    def end(self) -> None:
        """End the server. May be called any time, by any thread."""
        self.should_exit = True
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended
                self._loop.call_soon_threadsafe(self._round_due.set)

    def make_round(self) -> None:
        """Look after streams, the engine and the supervisor; called once a second."""
        app = self._service.app
        now = app.clock.monotonic()
        self._service.hub.tick()
        try:
            app.engine.check()
        except StoreError as error:
            self._died_at = now if self._died_at is None else self._died_at
            if now - self._died_at >= LAST_SECONDS:
                self.failure, self.should_exit = error, True
        if not app.engine.find_trouble():
            self._supervisor.tell_alive(now)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, listen no more, and wait for the requests that have begun."""
        self._readiness.is_stopping = True
        self._supervisor.tell("STOPPING=1")
        self._service.hub.close()
        await super().shutdown(sockets)
