"""Sends one HTTP request and gives the whole answer, within a total time and a total size.

The timeout of ``requests`` is one for each read: a server that sends one byte a second would keep
a thread for ever. Here every read of the socket, of the headers too, gets what is left of the
total. One session per thread. Called by the runner; knows nothing of workflows.
"""

from __future__ import annotations

import http.client
import io
import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from zonda.hooks.context import Clock

from .http_settings import HttpSettings

_CHUNK = 65536


class Unreachable(Exception):
    """No whole answer came. The text is fit for users: it holds neither query nor credential."""


class Unusable(Exception):
    """The request cannot be made, or its answer not be taken, however often it is sent."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """Sends requests for many threads."""

    def __init__(self, settings: HttpSettings) -> None:
        self._settings = settings
        self._local = threading.local()
        self._lock = threading.Lock()
        self._sessions: list[requests.Session] = []

    def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        *,
        seconds: float | None = None,
    ) -> Reply:
        """The answer, redirects not followed. Raises Unreachable and Unusable.

        ``seconds``: the total time, where it is not the setting ``answer_timeout``.
        """
        session, budget = self._session()
        total = self._settings.answer_timeout if seconds is None else seconds
        budget.begin(total)
        try:
            with session.request(
                method,
                url,
                data=body,
                headers=dict(headers),
                timeout=(min(self._settings.connect_timeout, total), total),
                allow_redirects=False,
                stream=True,
            ) as response:
                return Reply(response.status_code, response.headers, self._read(response))
        except _WRONG_URL:
            raise Unusable("the URL cannot be used") from None
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            raise Unreachable(self._reason(error, total)) from None

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            sessions, self._sessions = self._sessions, []
        for session in sessions:
            session.close()
        self._local = threading.local()

    def _session(self) -> tuple[requests.Session, Budget]:
        if not hasattr(self._local, "session"):
            self._local.budget = Budget(self._settings.clock)
            self._local.session = _make_session(self._settings, self._local.budget)
            with self._lock:
                self._sessions.append(self._local.session)
        return self._local.session, self._local.budget

    def _read(self, response: requests.Response) -> bytes:
        parts: list[bytes] = []
        size = 0
        for part in response.iter_content(_CHUNK):
            size += len(part)
            if size > self._settings.max_body:
                limit = self._settings.max_body
                raise Unusable(f"the answer is larger than {limit} bytes")
            parts.append(part)
        return b"".join(parts)

    def _reason(self, error: BaseException, total: float) -> str:
        chain = _causes(error)
        if any(isinstance(one, requests.exceptions.SSLError) for one in chain):
            return "TLS failed: the certificate is not accepted"
        if any(isinstance(one, socket.gaierror) for one in chain):
            return "the name of the host cannot be resolved"
        for one in chain:
            if isinstance(one, OSError) and isinstance(one.errno, int) and one.strerror:
                return one.strerror.lower()
        if any(isinstance(one, requests.ConnectTimeout) for one in chain):
            return f"no connection within {min(self._settings.connect_timeout, total):g} s"
        if any(isinstance(one, _TIMEOUTS) for one in chain):
            return f"no whole answer within {total:g} s"
        return "the connection broke off"


_TIMEOUTS = (requests.Timeout, urllib3.exceptions.TimeoutError, TimeoutError)
_WRONG_URL = (
    requests.exceptions.InvalidURL,
    requests.exceptions.InvalidSchema,
    requests.exceptions.MissingSchema,
    requests.exceptions.InvalidHeader,
    urllib3.exceptions.LocationParseError,
    UnicodeError,
)


def _causes(error: BaseException | None) -> list[BaseException]:
    """``error`` and what it wraps, by cause, context or argument."""
    found: list[BaseException] = []
    waiting = [error]
    while waiting:
        one = waiting.pop()
        if one is None or any(one is known for known in found):
            continue
        found.append(one)
        nested = [arg for arg in one.args if isinstance(arg, BaseException)]
        reason = getattr(one, "reason", None)
        if isinstance(reason, BaseException):
            nested.append(reason)
        waiting += [*nested, one.__cause__, one.__context__]
    return found


class Budget:
    """What is left of the time for one request; one per session, so one per thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._end = 0.0

    def begin(self, seconds: float) -> None:
        """Start a request that may take ``seconds``."""
        self._end = self._clock.monotonic() + seconds

    def left(self) -> float:
        """Seconds that are left. Raises TimeoutError where none is."""
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
        self._sock.settimeout(self._budget.left())
        return self._sock.recv_into(buffer)

    def close(self) -> None:
        self._holder.close()
        super().close()


def _make_session(settings: HttpSettings, budget: Budget) -> requests.Session:
    session = requests.Session()
    # Neither .netrc nor proxy variables: what is sent where is said by the settings alone.
    session.trust_env = False
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    session.verify = settings.ca_bundle or True
    session.cert = settings.client_certificate or None
    if settings.proxy:
        session.proxies = {"http": settings.proxy, "https": settings.proxy}
    for scheme in ("http://", "https://"):
        session.mount(scheme, _Adapter(budget))
    return session


class _Adapter(HTTPAdapter):
    """Makes connections whose answers are read by a ``_Reader``."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        super().__init__(pool_connections=8, pool_maxsize=2, max_retries=0)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self._watch(self.poolmanager)

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
        manager = super().proxy_manager_for(proxy, **kwargs)
        self._watch(manager)
        return manager

    def _watch(self, manager: urllib3.PoolManager) -> None:
        plain, tls = _pools(self._budget)
        manager.pool_classes_by_scheme = {"http": plain, "https": tls}


def _pools(budget: Budget) -> tuple[type[HTTPConnectionPool], type[HTTPSConnectionPool]]:
    """Connection pools whose connections read within ``budget``."""

    class Response(http.client.HTTPResponse):
        def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
            super().__init__(sock, *args, **kwargs)
            self.fp.close()
            self.fp = io.BufferedReader(_Reader(sock, budget))

    class Connection(HTTPConnection):
        response_class = Response

    class SecureConnection(HTTPSConnection):
        response_class = Response

    class Pool(HTTPConnectionPool):
        ConnectionCls = Connection

    class SecurePool(HTTPSConnectionPool):
        ConnectionCls = SecureConnection

    return Pool, SecurePool
