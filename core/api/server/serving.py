"""The process: a socket, the server on it, and its end.

The caller owns the signals; it ends the server by ``stop``. Requests that have begun are answered
before that, and what the engine runs goes on with its next start.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import uvicorn

from zonda.core.app.app import App
from zonda.hooks.errors import StoreError, UsageError

from ..identity.choice import choose_identity
from ..service.service import Service, split_words
from ..telemetry.serving import serve_metrics
from .application import Application
from .dispatch import Dispatcher
from .hosts import choose_hosts, is_loopback, split_port
from .interfaces import make_interfaces
from .pauses import keep_pauses_short

#: Seconds that requests have to end once the server stops.
_GRACE = 10
_KEEP_ALIVE = 30
_MOST_CONNECTIONS = 500
_HEADER_BYTES = 16384
#: Addresses that stand for all addresses of the machine.
_EVERYWHERE = ("0.0.0.0", "::", "")
#: Ticks of uvicorn (0.1 s) between two looks at whether the engine is alive.
_TICKS = 5


class _Server(uvicorn.Server):
    """A server without signal handlers of its own, which ends with the engine."""

    def __init__(self, config: uvicorn.Config, app: App, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._app = app
        self._ready = ready
        self.failure: StoreError | None = None

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to the command."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say so."""
        await super().startup(sockets)
        self._ready()

    async def on_tick(self, counter: int) -> bool:
        """Look whether the engine is alive, besides what uvicorn does."""
        if counter % _TICKS == 0:
            try:
                self._app.engine.check()
            except StoreError as error:
                self.failure = error
                return True
        return await super().on_tick(counter)


class Serving:
    """One server, from its socket to its end."""

    def __init__(self, app: App, address: tuple[str, int]) -> None:
        host, port = address
        self._app = app
        check_exposure(app, host)
        self._socket = open_socket(host, port)
        self.host, self.port = host, self._socket.getsockname()[1]
        if host not in _EVERYWHERE:  # which nobody can call
            app.served_url = self.url
        #: The URL of the metrics, '' without one.
        self.metrics_url = ""
        self._server: _Server | None = None
        self._stopped = False

    @property
    def url(self) -> str:
        """The address for people."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    def run(self, ready: Callable[[], None]) -> None:
        """Serve until ``stop``; raises StoreError if the engine dies."""
        settings = self._app.settings
        service = Service(self._app)
        identity = choose_identity(self._app)
        dispatcher = Dispatcher(service, make_interfaces(service, identity))
        hosts = choose_hosts(split_words(settings.allowed_hosts), self.host, settings.public_url)
        application = Application(dispatcher, hosts, settings.max_json_body_size)
        config = uvicorn.Config(
            application,
            log_config=None,
            access_log=False,
            lifespan="off",
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=_KEEP_ALIVE,
            timeout_graceful_shutdown=_GRACE,
            limit_concurrency=_MOST_CONNECTIONS,
            h11_max_incomplete_event_size=_HEADER_BYTES,
        )
        server = self._server = _Server(config, self._app, ready)
        server.should_exit = self._stopped
        try:
            with (
                keep_pauses_short(),
                serve_metrics(self._app, service.counts, lambda: service.hub.count) as metrics,
            ):
                self.metrics_url = metrics
                server.run([self._socket])
        finally:
            application.close()
        if server.failure is not None:
            raise server.failure

    def stop(self) -> None:
        """End the server; a second time: without waiting for requests. May be called any time."""
        if self._stopped and self._server is not None:
            self._server.force_exit = True
        self._stopped = True
        if self._server is not None:
            self._server.should_exit = True

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


def open_socket(host: str, port: int) -> socket.socket:
    """A socket that is bound; raises UsageError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small answers at once (TCP_NODELAY) only where the protocol is named
    opened = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((host, port))
    except OSError as error:
        opened.close()
        raise UsageError(
            f"Nothing can listen on {host}:{port}: {error.strerror or error}.",
            hint="Give another --address, or stop what listens there.",
        ) from error
    return opened


def check_exposure(app: App, host: str) -> None:
    """Raise UsageError where strangers could reach a server that asks nobody who they are."""
    settings = app.settings
    names = [*split_words(settings.allowed_hosts)]
    if settings.public_url:
        names.append(split_port(urlsplit(settings.public_url).netloc))
    if settings.identity == "none" and not all(map(is_loopback, (host, *names))):
        raise UsageError(
            f"Without identity the server listens on loopback addresses only, not on {host}.",
            hint="Set identity to keystone or tokens.",
        )
    if settings.insecure_http == "no" and not is_loopback(host):
        raise UsageError(
            f"Tokens would travel in plain text to {host}.",
            hint="Put a TLS proxy in front of a loopback address, or set insecure_http to yes.",
        )
