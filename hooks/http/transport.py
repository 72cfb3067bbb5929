"""Sends one HTTP request and gives the whole answer, within a total time and a total size.

Connections go to checked addresses only (``addresses``), for whatever reason a URL is called.

The timeout of ``requests`` is one for each read: a server that sends one byte a second would keep
a thread for ever. Here whatever may wait (for a name, a connection, a handshake, a piece that is
sent, a read of headers or body) gets what is left of the total. There are no sessions of
``requests``: they look for redirects, cookies, variables and files, and cost more than the rest.
Each thread has an adapter with connections of its own. Knows nothing of workflows.
"""

from __future__ import annotations

import base64
import http.client
import re
import socket
import ssl
import threading
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from urllib.parse import unquote

import requests
import urllib3
from requests.auth import AuthBase
from requests.structures import CaseInsensitiveDict

from ..records import dataclass
from ..runners.deadline import get_deadline
from .adapter import Adapter, AnswerTooLarge, Budget, CertificateFileMissing
from .address_policy import Denied
from .config import ClientConfig
from .resolver import NotResolved, TooManyLookups

_CHUNK = 65536
#: Seconds that a request gets however near the deadline is.
LEAST_TIME = 5.0
#: The headers of every request. What is asked for compressed may unpack to any size.
_ALWAYS = {
    "Accept": "*/*",
    "Accept-Encoding": "identity",
    "Connection": "keep-alive",
    "User-Agent": "zonda",
}
#: The characters of a header: no other letters, and no end of a line.
_LATIN = re.compile(r"[\t\x20-\x7e\xa0-\xff]*")
#: The user and the password before the host of a URL.
_USER_INFO = re.compile(r"://([^\\/?#]*)@")


class TransportError(Exception):
    """No whole answer came. The text is fit for users: it holds neither query nor credential.

    ``may_have_arrived``: the request may have arrived all the same. ``blames_endpoint``: the one
    who was to answer is at fault, and not one who had to be asked before.
    """

    def __init__(
        self, reason: str, *, may_have_arrived: bool = True, blames_endpoint: bool = True
    ) -> None:
        super().__init__(reason)
        self.may_have_arrived = may_have_arrived
        self.blames_endpoint = blames_endpoint


class RequestRejected(Exception):
    """The request cannot be made, or its answer not be taken, however often it is sent."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class TokenAuth(AuthBase):
    """Proves who asks by a token that is fetched, and fetched anew where it is refused.

    One for each request. ``fetch()`` gives the text of the header, empty for none; ``forget(text)``
    drops it and says whether another one may be had. ``refusals``: the status of a refused token.
    """

    def __init__(
        self,
        fetch: Callable[[], str],
        forget: Callable[[str], bool],
        header: str = "Authorization",
        refusals: Collection[int] = (401,),
    ) -> None:
        self._fetch = fetch
        self._forget = forget
        self._header = header
        self._refusals = refusals
        self._text = ""

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Add the token to a request."""
        self._text = self._fetch()
        if self._text:
            request.headers[self._header] = self._text
        return request

    def may_renew(self, status: int) -> bool:
        """Forget a token that was refused by ``status``; return whether another may be had."""
        return status in self._refusals and bool(self._text) and self._forget(self._text)


class Transport:
    """Sends requests for many threads."""

    def __init__(self, config: ClientConfig) -> None:
        self._config = config
        self._local = threading.local()
        self._lock = threading.Lock()
        #: Those of living threads: one that ends takes its connections along.
        self._adapters = weakref.WeakSet[Adapter]()
        self._proxies = dict.fromkeys(("http", "https"), config.proxy) if config.proxy else {}

    def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        *,
        seconds: float | None = None,
        auth: AuthBase | None = None,
        fresh: bool = False,
    ) -> Reply:
        """The answer, redirects not followed. Raises TransportError and RequestRejected.

        ``seconds``: the total time, where it is not the setting ``answer_timeout``; the deadline of
        the running call (``runners.get_deadline``) makes either shorter. ``auth`` proves who asks;
        what it raises comes through. A request with a ``TokenAuth`` is sent once more where its
        token is refused. ``fresh``: on a new connection, for what must not be repeated: the other
        side may close a kept one just then, and nobody knows what it has read before.
        """
        reply = self._send(method, url, headers, body, seconds, auth, fresh)
        if isinstance(auth, TokenAuth) and auth.may_renew(reply.status):
            reply = self._send(method, url, headers, body, seconds, auth, fresh)
        return reply

    def _send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        seconds: float | None,
        auth: AuthBase | None,
        fresh: bool,
    ) -> Reply:
        adapter = self._get_adapter()
        total = self._compute_total(seconds)
        if total <= 0:
            raise TransportError("no time is left for it", may_have_arrived=False)
        try:
            request = _prepare(method, url, headers, body, auth)
            _check_headers(request.headers)
            # Not before: a token may have been fetched meanwhile, in time and bytes of its own.
            adapter.budget.begin(total, self._config.max_body)
            if fresh:
                adapter.close()
            with adapter.send(
                request,
                timeout=(min(self._config.connect_timeout, total), total),
                verify=self._config.ca_bundle or True,
                cert=self._find_certificate(url),
                proxies=self._proxies,
                stream=True,
            ) as response:
                return Reply(response.status_code, response.headers, self._read_body(response))
        except AnswerTooLarge:
            raise RequestRejected(self._size_message) from None
        except Denied as error:
            raise RequestRejected(str(error)) from None
        except CertificateFileMissing:
            raise RequestRejected("the ca_bundle or the client_certificate is not there") from None
        except _WRONG_URL:
            raise RequestRejected("the URL cannot be used") from None
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            chain = _list_causes(error)
            raise TransportError(
                self._explain_failure(chain, total), may_have_arrived=_may_have_arrived(chain)
            ) from None

    def _compute_total(self, seconds: float | None) -> float:
        """The seconds of a request: no more than are left until the deadline of the running call.

        One that is sent at the last moment gets some all the same: its answer may be the end.
        """
        total = self._config.answer_timeout if seconds is None else seconds
        return min(total, max(get_deadline() - self._config.clock.now(), LEAST_TIME))

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            adapters, self._adapters = list(self._adapters), weakref.WeakSet()
        for adapter in adapters:
            adapter.close()
        self._local = threading.local()

    @property
    def _size_message(self) -> str:
        return f"the answer is larger than {self._config.max_body} bytes"

    def _find_certificate(self, url: str) -> str | tuple[str, str] | None:
        """The client certificate, for origins that the settings name; None for others."""
        config = self._config
        if not config.client_certificate or not config.knows(url):
            return None
        if config.client_key:
            return config.client_certificate, config.client_key
        return config.client_certificate

    def _get_adapter(self) -> Adapter:
        adapter: Adapter | None = getattr(self._local, "adapter", None)
        if adapter is None:
            adapter = self._local.adapter = Adapter(self._config, Budget(self._config.clock))
            with self._lock:
                self._adapters.add(adapter)
        return adapter

    def _read_body(self, response: requests.Response) -> bytes:
        parts: list[bytes] = []
        size = 0
        coding = response.headers.get("Content-Encoding", "identity").strip().lower()
        if coding not in ("identity", ""):
            # A few bytes of it may be as many as one likes, and nobody has asked for it.
            raise RequestRejected(
                f"the answer is compressed ({coding[:20]}), which was not asked for"
            )
        try:
            for part in response.raw.stream(_CHUNK, decode_content=False):
                size += len(part)
                if size > self._config.max_body:
                    raise RequestRejected(self._size_message)
                parts.append(part)
        except ValueError:  # a piece is said to have less than no bytes
            raise urllib3.exceptions.InvalidChunkLength(response.raw, b"-") from None
        return b"".join(parts)

    def _explain_failure(self, chain: Sequence[BaseException], total: float) -> str:
        connecting = min(self._config.connect_timeout, total)
        for one in chain:
            if isinstance(one, ssl.SSLError):
                return f"TLS failed: {_explain_tls_error(one)}"
        if any(isinstance(one, requests.exceptions.SSLError) for one in chain):
            return "TLS failed: the certificate is not accepted"
        if any(isinstance(one, TooManyLookups) for one in chain):
            return f"too many names are being looked up: no place was free within {connecting:g} s"
        if any(isinstance(one, NotResolved) for one in chain):
            return f"looking up the name of the host took more than {connecting:g} s"
        if any(isinstance(one, socket.gaierror) for one in chain):
            return "the name of the host cannot be resolved"
        for one in chain:
            if isinstance(one, OSError) and isinstance(one.errno, int) and one.strerror:
                return one.strerror.lower()
            if isinstance(one, OSError) and (refused := _REFUSED_TUNNEL.match(str(one))):
                return f"the proxy does not connect us (HTTP {refused[1]})"
        if any(isinstance(one, requests.ConnectTimeout) for one in chain):
            return f"no connection within {connecting:g} s"
        if any(isinstance(one, _TIMEOUTS) and not isinstance(one, _FAILED) for one in chain):
            return f"no whole answer within {round(total, 2):g} s"
        if any(isinstance(one, _NOT_HTTP) for one in chain) and not any(
            isinstance(one, ConnectionError) for one in chain
        ):
            return "the answer is not valid HTTP"
        return "the connection broke off"


def _prepare(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes | None,
    auth: AuthBase | None,
) -> requests.PreparedRequest:
    """Prepare a request as a session would, of bytes or nothing."""
    request = requests.PreparedRequest()
    request.method, request.url, request.body = method.upper(), _prepare_url(url), body or None
    request.headers = CaseInsensitiveDict({**_ALWAYS, **headers})
    if body:
        request.headers["Content-Length"] = str(len(body))
    elif request.method not in ("GET", "HEAD"):
        request.headers.setdefault("Content-Length", "0")
    if auth is not None or "@" in request.url:
        request.prepare_auth(auth, request.url)
    return request


@lru_cache(maxsize=1024)
def _prepare_url(url: str) -> str:
    """The URL that is sent. Raises what ``requests`` does for one that cannot be used."""
    request = requests.PreparedRequest()
    request.prepare_url(url, None)
    return str(request.url)


def list_url_secrets(url: str) -> list[str]:
    """List what proves who asks by ``url`` alone: its password, and the header made of it."""
    found = _USER_INFO.search(url)
    if found is None:
        return []
    password = found[1].partition(":")[2]
    try:
        header = _prepare("GET", url, {}, None, None).headers.get("Authorization", "")
    except _WRONG_URL:
        header = ""  # nothing is ever sent to it
    coded = header.removeprefix("Basic ")
    return [password, unquote(password), coded, base64.b64decode(coded).decode("latin-1")]


def _check_headers(headers: Mapping[str, str | bytes]) -> None:
    """Raise RequestRejected, without the value, for what is no header (as ``http.client`` does)."""
    for name, given in headers.items():
        value = given.decode("latin-1") if isinstance(given, bytes) else given
        sendable = _LATIN.fullmatch(value) and _LATIN.fullmatch(name)
        if not sendable or value[:1].isspace() or not name[:1].strip(": \t") or ":" in name:
            shown = name.encode("ascii", "replace").decode() if name.isprintable() else "?"
            raise RequestRejected(f"the header {shown[:60]} must be one line of Latin-1 characters")


def _explain_tls_error(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate is not accepted ({error.verify_message})"
    reason = str(error.reason or "").lower().replace("_", " ")
    if "alert" in reason:
        return f"the other side refuses us ({reason}); it may want (another) client certificate"
    if isinstance(error, ssl.SSLEOFError):
        return "the other side hung up; it may want (another) client certificate"
    return f"there is no agreement with the other side ({reason or 'no reason given'})"


#: Nothing of the request has left where one of these is why.
_BEFORE_SENDING = (
    urllib3.exceptions.NewConnectionError,
    urllib3.exceptions.ConnectTimeoutError,
    ssl.SSLCertVerificationError,
)


def _may_have_arrived(chain: Sequence[BaseException]) -> bool:
    return not any(isinstance(one, _BEFORE_SENDING) for one in chain)


#: The answer breaks the rules of HTTP.
_NOT_HTTP = (
    http.client.BadStatusLine,
    http.client.UnknownProtocol,
    http.client.LineTooLong,
    requests.exceptions.InvalidHeader,
    urllib3.exceptions.InvalidChunkLength,
)
#: The words of ``http.client`` where a proxy answers CONNECT with anything but 200.
_REFUSED_TUNNEL = re.compile(r"Tunnel connection failed: (\d+)")
#: To the library no connection is a kind of timeout, however soon it is known.
_FAILED = urllib3.exceptions.NewConnectionError
_TIMEOUTS = (requests.Timeout, urllib3.exceptions.TimeoutError, TimeoutError)
_WRONG_URL = (
    requests.exceptions.InvalidURL,
    requests.exceptions.InvalidSchema,
    requests.exceptions.MissingSchema,
    urllib3.exceptions.LocationParseError,
    UnicodeError,
)


def _list_causes(error: BaseException | None) -> list[BaseException]:
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
