"""Connections to checked addresses, whose answers are read within one total time.

What ``transport`` sends by: the places where ``requests`` and ``urllib3`` would
look up names by themselves, read sockets without a limit, or listen to the environment.
"""

from __future__ import annotations

import http.client
import io
import socket
from typing import Any

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from ..context import Clock
from .config import ClientConfig, host_and_port

#: Bytes that may come with a body, and bytes on the wire for one of a body in pieces of one byte.
_AROUND_A_BODY, _PIECES = 1024 * 1024, 8
#: Bytes that are sent at a time.
_PIECE = 16384


class AnswerTooLarge(Exception):
    """The answer is larger than any of the allowed size."""


class CertificateFileMissing(Exception):
    """A certificate file that the settings name does not exist any more."""


class Budget:
    """The remaining time and bytes of one request; one per adapter, so one per thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._end = 0.0
        self._bytes = 0

    def begin(self, seconds: float, most: int = 0) -> None:
        """Start a request that may take ``seconds``, with an answer of ``most`` bytes in all.

        All means with headers, and with what cuts the body in pieces, however small.
        """
        self._end = self._clock.monotonic() + seconds
        self._bytes = _AROUND_A_BODY + _PIECES * most

    def spend(self, count: int) -> None:
        """Count what was read. Raises TooMuch."""
        self._bytes -= count
        if self._bytes < 0:
            raise AnswerTooLarge

    def get_seconds_left(self) -> float:
        """The seconds that remain. Raises TimeoutError where none do."""
        seconds = self._end - self._clock.monotonic()
        if seconds <= 0:
            raise TimeoutError("the total time is over")
        return seconds


class _Reader(io.RawIOBase):
    """Reads a socket, each read within what is left of the budget."""

    def __init__(self, sock: socket.socket, budget: Budget) -> None:
        super().__init__()
        self._sock = sock
        self._budget = budget
        # Keeps the socket open until the answer is read, whoever closes the connection first.
        self._holder = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._sock.settimeout(self._budget.get_seconds_left())
        count = self._sock.recv_into(buffer)
        self._budget.spend(count)
        return count

    def close(self) -> None:
        self._holder.close()
        super().close()


class Adapter(HTTPAdapter):
    """Makes connections to checked addresses, whose answers are read by a ``_Reader``."""

    def __init__(self, wire: ClientConfig, budget: Budget) -> None:
        self._wire = wire
        #: The remaining time and bytes of the request that is being sent.
        self.budget = budget
        super().__init__(pool_connections=8, pool_maxsize=2, max_retries=0)

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> Any:
        """Send; what a proxy is to reach is looked at before, as far as it can be."""
        if self._wire.proxy:
            _check_behind_proxy(self._wire, str(request.url))
        return super().send(request, *args, **kwargs)

    def cert_verify(self, *args: Any, **kwargs: Any) -> None:
        """Choose the files of certificates. Raises NoFile for one that has gone."""
        try:
            super().cert_verify(*args, **kwargs)  # type: ignore[no-untyped-call]
        except OSError:
            raise CertificateFileMissing from None

    def request_url(self, request: requests.PreparedRequest, proxies: Any) -> str:
        """The target of the request line: just as it is signed, with every slash that it has.

        Some versions of ``requests`` fold those at its beginning.
        """
        url = str(super().request_url(request, proxies))
        return str(request.path_url) if url.startswith("/") else url

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Make the pools of connections without a proxy."""
        super().init_poolmanager(*args, **{**kwargs, **self._build_passphrase_options()})
        self._use_checked_pools(self.poolmanager)

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
        """Make the pools of connections by a proxy."""
        manager = super().proxy_manager_for(proxy, **kwargs, **self._build_passphrase_options())
        self._use_checked_pools(manager)
        return manager

    def _build_passphrase_options(self) -> dict[str, Any]:
        secret = self._wire.client_key_passphrase
        return {"key_password": secret} if secret else {}

    def _use_checked_pools(self, manager: urllib3.PoolManager) -> None:
        plain, tls = _make_pools(self._wire, self.budget)
        manager.pool_classes_by_scheme = {"http": plain, "https": tls}


def _check_behind_proxy(wire: ClientConfig, url: str) -> None:
    """Raise Denied for a host in numbers that must not be called; names are the proxy's affair.

    All but one: ``localhost`` is the machine of the proxy, whatever stands before it.
    """
    target = host_and_port(url)
    if target is None or wire.trusts(*target):
        return
    host, port = target[0].rstrip("."), target[1]
    if host == "localhost" or host.endswith(".localhost"):
        host = "127.0.0.1"
    try:
        # The dot at the end of a name is none of a number; who connects may leave it out.
        found = socket.getaddrinfo(host, port, flags=socket.AI_NUMERICHOST)
    except OSError:
        return
    for entry in found:
        wire.policy.check(str(entry[4][0]))


def _make_pools(
    wire: ClientConfig, budget: Budget
) -> tuple[type[HTTPConnectionPool], type[HTTPSConnectionPool]]:
    """Connection pools whose connections are checked, and read within ``budget``."""

    class Response(http.client.HTTPResponse):
        def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
            super().__init__(sock, *args, **kwargs)
            self.fp.close()
            self.fp = io.BufferedReader(_Reader(sock, budget))

        def _read_status(self) -> tuple[str, int, str]:
            """Read the line of the status; any 1xx is passed over as ``100`` is.

            Taken for the answer, it would leave the real one to the next request.
            """
            version, status, reason = super()._read_status()  # type: ignore[misc]
            return version, http.client.CONTINUE if status < 200 else status, reason

    class Limited(HTTPConnection):
        response_class = Response

        def _new_conn(self) -> socket.socket:
            return _open_connection(self, wire, budget)

        def connect(self) -> None:
            try:
                super().connect()
            except TimeoutError as error:  # in the handshake: nothing of the request is sent
                raise urllib3.exceptions.ConnectTimeoutError(self, "no connection") from error
            except (OSError, urllib3.exceptions.SSLError) as error:  # there as well
                raise urllib3.exceptions.NewConnectionError(self, "no handshake") from error

        def send(self, data: Any) -> None:
            """Send what ``http.client`` has made, in pieces: each takes what is left."""
            if self.sock is None:
                self.connect()
            for start in range(0, len(data), _PIECE):
                self.sock.settimeout(budget.get_seconds_left())
                super().send(data[start : start + _PIECE])

    class Connection(Limited):
        pass

    class SecureConnection(Limited, HTTPSConnection):
        pass

    class Pool(HTTPConnectionPool):
        ConnectionCls = Connection

    class SecurePool(HTTPSConnectionPool):
        ConnectionCls = SecureConnection

    return Pool, SecurePool


def _open_connection(
    connection: HTTPConnection, wire: ClientConfig, budget: Budget
) -> socket.socket:
    """A socket for ``connection``, to an address that was checked. Raises what urllib3 expects."""
    host, port = connection._dns_host, connection.port
    limit = Budget(wire.clock)
    try:
        limit.begin(
            min(float(connection.timeout or wire.connect_timeout), budget.get_seconds_left())
        )
        sock = wire.policy.connect(
            host,
            port,
            trusted=wire.trusts(host, port),
            left=limit.get_seconds_left,
            options=connection.socket_options or (),
        )
        _limit_handshake(sock, limit)
        return sock
    except socket.gaierror as error:
        raise urllib3.exceptions.NameResolutionError(host, connection, error) from error
    except TimeoutError as error:
        raise urllib3.exceptions.ConnectTimeoutError(connection, "no connection") from error
    except OSError as error:
        raise urllib3.exceptions.NewConnectionError(connection, "no connection") from error


def _limit_handshake(sock: socket.socket, limit: Budget) -> None:
    """Set the timeout of the socket to the time that is left, for the handshake."""
    try:
        sock.settimeout(limit.get_seconds_left())
    except TimeoutError:
        sock.close()
        raise
