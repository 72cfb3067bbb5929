"""Files over http(s), for whoever allowed it: in bounded time and size, from public addresses only.

Called by ``attachments``; knows nothing of templates. Every address that a host's name leads to is
checked, at every redirect again, and once more when the connection stands, since a name may mean
something else a moment later. Proxies and credentials of the environment are not used.
"""

from __future__ import annotations

import ipaddress
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

SCHEMES = ("http", "https")
_MOST_REDIRECTS = 5
_CHUNK = 65536
_PORTS = {"http": 80, "https": 443}

Resolve = Callable[[str, int], Sequence[str]]


class Refused(Exception):
    """A file that is not fetched, and why."""


@dataclass(frozen=True, slots=True)
class RemotePolicy:
    """What may be fetched. ``seconds``: for one file with all its redirects.

    ``private``: addresses that are not public may be asked, too.
    """

    max_bytes: int = 1_048_576
    seconds: float = 30.0
    private: bool = False


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file, and the address that it came from in the end: what it names is relative to that."""

    content: bytes
    url: str


def addresses(host: str, port: int) -> Sequence[str]:
    """The addresses that the name of a host leads to; raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


def fetch(url: str, policy: RemotePolicy, resolve: Resolve = addresses) -> Fetched:
    """The file at ``url``; raises Refused.

    The work is done in a thread of its own: neither looking up a name nor reading headers can be
    interrupted otherwise. A thread that comes too late ends with the process.
    """
    answers: list[Fetched | BaseException] = []
    given_up = threading.Event()

    def work() -> None:
        try:
            answers.append(_Fetch(policy, resolve, given_up).run(url))
        except _FAULTS as error:
            answers.append(error)

    thread = threading.Thread(target=work, daemon=True, name="fetch")
    thread.start()
    thread.join(policy.seconds)
    if not answers:
        given_up.set()
        raise Refused(f"no whole answer within {policy.seconds:g} seconds")
    [answer] = answers
    if isinstance(answer, Fetched):
        return answer
    if isinstance(answer, Refused):
        raise Refused(str(answer)) from answer
    raise Refused(_reason(answer)) from answer


_FAULTS = (
    Refused,
    requests.RequestException,
    urllib3.exceptions.HTTPError,
    OSError,
    ValueError,
)


class _Fetch:
    """One file, with its redirects."""

    def __init__(self, policy: RemotePolicy, resolve: Resolve, given_up: threading.Event) -> None:
        self._policy = policy
        self._resolve = resolve
        self._given_up = given_up

    def run(self, url: str) -> Fetched:
        with requests.Session() as session:
            session.trust_env = False
            session.headers["Accept-Encoding"] = "identity"
            if not self._policy.private:
                for scheme in SCHEMES:
                    session.mount(f"{scheme}://", _GuardedAdapter())
            for _ in range(_MOST_REDIRECTS + 1):
                self._check(url)
                with session.get(
                    url, stream=True, allow_redirects=False, timeout=self._policy.seconds
                ) as response:
                    if not response.is_redirect:
                        return Fetched(self._read(response), url)
                    url = self._next(url, response.headers["Location"])
        raise Refused(f"more than {_MOST_REDIRECTS} redirects")

    def _next(self, url: str, location: str) -> str:
        target = urljoin(url, location)
        if urlsplit(url).scheme == "https" and urlsplit(target).scheme != "https":
            raise Refused("it redirects from https to something less safe")
        return target

    def _check(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in SCHEMES or not parts.hostname:
            raise Refused(f"{parts.scheme or 'this'} is no scheme to fetch files by")
        if self._policy.private:
            return
        for address in self._resolve(parts.hostname, parts.port or _PORTS[parts.scheme]):
            check_public(address)

    def _read(self, response: requests.Response) -> bytes:
        if response.status_code != requests.codes.ok:
            raise Refused(f"the server answers {response.status_code}")
        parts: list[bytes] = []
        size = 0
        for part in response.iter_content(_CHUNK):
            size += len(part)
            if size > self._policy.max_bytes:
                raise Refused(f"too large (more than {self._policy.max_bytes} bytes)")
            if self._given_up.is_set():
                raise Refused("given up")
            parts.append(part)
        return b"".join(parts)


def check_public(address: str) -> None:
    """Raise Refused for an address that is private, local, or otherwise not public."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        raise Refused("the name of the host leads to no address") from None
    inner = getattr(found, "ipv4_mapped", None) or getattr(found, "sixtofour", None) or found
    if not inner.is_global or inner.is_multicast or inner.is_reserved:
        raise Refused(f"{address} is not a public address")


def _reason(error: BaseException) -> str:
    if isinstance(error, socket.gaierror):
        return "the name of the host cannot be resolved"
    if isinstance(error, requests.exceptions.SSLError):
        return "TLS failed: the certificate is not accepted"
    if isinstance(error, requests.Timeout):
        return "the server does not answer"
    if isinstance(error, requests.RequestException | urllib3.exceptions.HTTPError | OSError):
        return f"the connection failed ({type(error).__name__})"
    return f"the address cannot be used ({type(error).__name__})"


def _checked(connection: socket.socket) -> socket.socket:
    try:
        check_public(str(connection.getpeername()[0]))
    except Refused:
        connection.close()
        raise
    return connection


class _Connection(HTTPConnection):
    def _new_conn(self) -> socket.socket:
        return _checked(super()._new_conn())


class _SafeConnection(HTTPSConnection):
    def _new_conn(self) -> socket.socket:
        return _checked(super()._new_conn())


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SafePool(HTTPSConnectionPool):
    ConnectionCls = _SafeConnection


class _GuardedAdapter(HTTPAdapter):
    """Connections that look at whom they have reached before a word is sent."""

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        """Make the pools, with our connections."""
        super().init_poolmanager(*args, **options)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _SafePool}
