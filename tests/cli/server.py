"""A server in this process, for one command after the other: the same tests, asked over HTTP."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from zonda.core.api.identity.choice import choose_identity
from zonda.core.api.server.application import Application
from zonda.core.api.server.dispatch import Dispatcher
from zonda.core.api.server.hosts import choose_hosts
from zonda.core.api.server.interfaces import make_interfaces
from zonda.core.api.server.process.serving import open_socket
from zonda.core.api.server.readiness import Readiness
from zonda.core.api.service.service import Service
from zonda.core.app.app import build_app, builtin_kinds
from zonda.core.settings import settings

HOST = "127.0.0.1"


class Server:
    """A socket and its thread; ``serve`` puts an application behind it."""

    def __init__(self) -> None:
        import uvicorn

        class Quiet(uvicorn.Server):
            @contextmanager
            def capture_signals(self) -> Iterator[None]:
                yield

        self._application: Any = None
        self._socket: socket.socket = open_socket(HOST, 0)
        self.url = f"http://{HOST}:{self._socket.getsockname()[1]}"
        config = uvicorn.Config(self, log_config=None, access_log=False, lifespan="off")
        self._server = Quiet(config)
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._server.serve([self._socket])), daemon=True
        )
        self._thread.start()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Hand a request to the application of the moment."""
        await self._application(scope, receive, send)

    @contextmanager
    def serve(self, flags: dict[str, str]) -> Iterator[None]:
        """Serve the home of ``flags``, and send commands there, also one within another."""
        if self._application is not None:
            yield
            return
        app = build_app(settings.load_settings(flags, kinds=builtin_kinds))
        try:
            is_engine = app.engine.run(lambda holder: False)
            assert is_engine, "another process is the engine of this home"
            service = Service(app)
            identity = choose_identity(app)
            dispatcher = Dispatcher(service, make_interfaces(service, identity))
            self._application = Application(
                dispatcher,
                choose_hosts((), HOST),
                app.settings.max_json_body_size,
                Readiness(app, identity),
            )
            os.environ["ZONDA_URL"] = self.url
            yield
        finally:
            os.environ.pop("ZONDA_URL", None)
            if self._application is not None:
                self._application.close()
                self._application = None
            app.close()

    def close(self) -> None:
        """End the thread."""
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()
