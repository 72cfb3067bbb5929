"""The process: a socket, the server on it, and its end.

The caller owns the signals; it ends the server by ``stop``. Requests that have begun are answered
before that, and what the engine runs goes on with its next start.
"""

from __future__ import annotations

import logging
import socket
import ssl
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import uvicorn

from zonda.core.app.app import App
from zonda.core.app.server_record import ServerRecord
from zonda.core.settings import values
from zonda.core.settings.table import Settings
from zonda.core.system.addresses import is_loopback
from zonda.hooks.errors import UsageError

from ...identity.choice import choose_grants, choose_identity
from ...service.service import Service, split_words
from ...telemetry.serving import send_traces, serve_metrics
from ..application import Application
from ..dispatch import Dispatcher
from ..hosts import Proxies, choose_hosts, split_port
from ..interfaces import make_interfaces
from ..pauses import keep_pauses_short
from ..readiness import Readiness
from .connections import HEAD_BYTES, Connections, LimitedProtocol
from .loop import Server

#: Seconds that requests have to end once the server stops.
GRACE = 10
_KEEP_ALIVE = 30
#: Addresses that stand for all addresses of the machine.
_EVERYWHERE = ("0.0.0.0", "::", "")


#: Messages of uvicorn about clients: nonsense that somebody sends fills no log.
_OF_CLIENTS = ("Invalid HTTP request", "ASGI callable returned without completing", "Cancel ")
logging.getLogger("uvicorn.error").addFilter(
    lambda record: not record.getMessage().startswith(_OF_CLIENTS)
)


class Serving:
    """One server, from its socket to its end."""

    def __init__(self, app: App, address: tuple[str, int]) -> None:
        host, port = address
        self._app = app
        check_exposure(app, host)
        self._tls = check_tls(app.settings)
        app.grants = choose_grants(app)
        self._record = ServerRecord(app.settings)
        self._socket = open_socket(host, port)
        self.host, self.port = host, self._socket.getsockname()[1]
        if host not in _EVERYWHERE:  # which nobody can call
            app.served_url = self.url
        #: The URL of the metrics, '' without one.
        self.metrics_url = ""
        self._server: Server | None = None
        self._stopped = False

    @property
    def url(self) -> str:
        """The address for people."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'s' if self._tls else ''}://{host}:{self.port}"

    def run(self, ready: Callable[[], None]) -> None:
        """Serve until ``stop``; raises StoreError if the engine dies."""
        settings = self._app.settings
        service, identity = Service(self._app), choose_identity(self._app)
        readiness = Readiness(self._app, identity)
        proxies = Proxies.parse(values.parse_networks(settings.trusted_proxies))
        application = Application(
            Dispatcher(service, make_interfaces(service, identity)),
            choose_hosts(split_words(settings.allowed_hosts), self.host, settings.public_url),
            settings.max_json_body_size,
            readiness,
            proxies,
        )
        connections = Connections(settings.max_client_connections, proxies)
        config = uvicorn.Config(
            application,
            http=partial(LimitedProtocol, connections),  # type: ignore[arg-type]
            ws="none",
            log_config=None,
            access_log=False,
            lifespan="off",
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=_KEEP_ALIVE,
            timeout_graceful_shutdown=GRACE,
            h11_max_incomplete_event_size=HEAD_BYTES,
            **self._tls,
        )

        def tell_ready() -> None:
            self._record.publish(self.url)
            ready()

        server = self._server = Server(config, service, readiness, tell_ready)
        server.should_exit = self._stopped
        try:
            with (
                keep_pauses_short(),
                serve_metrics(self._app, service.counts, lambda: service.hub.count) as metrics,
                send_traces(self._app) as traces,
            ):
                self.metrics_url, service.tracing = metrics, traces
                server.run([self._socket])
        finally:
            application.close()
            self._record.release()
        if server.failure is not None:
            raise server.failure

    def stop(self) -> None:
        """End the server. May be called any time."""
        self._stopped = True
        if self._server is not None:
            self._server.end()

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
    is_plain = not settings.tls_cert and settings.insecure_http == "no"
    if is_plain and not is_loopback(host):
        raise UsageError(
            f"Tokens would travel in plain text to {host}.",
            hint="Set tls_cert and tls_key, put a TLS proxy in front of a loopback address, or "
            "set insecure_http to yes.",
        )


def check_tls(settings: Settings) -> dict[str, Any]:
    """The options of TLS for uvicorn, none for plain HTTP; raises UsageError for bad files."""
    certificate, key = settings.tls_cert, settings.tls_key
    if not certificate and not key:
        return {}
    if not certificate or not key:
        raise UsageError("Set both tls_cert and tls_key, or none of them.")
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(
            certificate, key, _refuse_password
        )
    except (OSError, ValueError) as error:  # an SSLError is an OSError
        said = getattr(error, "strerror", None) or error
        raise UsageError(
            f"TLS cannot be spoken with tls_cert {certificate} and tls_key {key}: {said}.",
            hint="Both are PEM files; the key has no password and belongs to the certificate.",
        ) from error
    return {"ssl_certfile": certificate, "ssl_keyfile": key}


def _refuse_password() -> str:
    raise ValueError("the key has a password")
