"""The connection to a server: requests with a token, sent again where that repeats nothing.

Failures become sentences: a server that cannot be reached, a token that it refuses, TLS, another
version.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any
from urllib.parse import quote

import zonda
from zonda.core.engine.actions.wire import parse_error
from zonda.core.system.clock import SystemClock
from zonda.core.wire.classes import VERSION
from zonda.core.wire.codec import Unreadable, decode
from zonda.hooks.errors import StoreError, UsageError
from zonda.hooks.http import (
    MEBIBYTE,
    ClientConfig,
    Reply,
    RequestRejected,
    TokenAuth,
    Transport,
    TransportError,
    origin,
)

from .account import Account

#: Seconds that an answer may take besides those that the server is asked to wait.
_PATIENCE = 60.0
_LARGEST = 256 * MEBIBYTE
#: Attempts of a request whose connection breaks, and the seconds in front of each further one.
_PAUSES = (0.2, 0.5, 1.0, 2.0, 4.0)
_CANNOT_REACH = "Check ZONDA_URL, and that 'zonda serve' runs there."
_CANNOT_TRUST = (
    "Set ZONDA_URL_CA_BUNDLE to the file of the certificates that the server's is signed by; "
    "write ZONDA_URL with http:// where the server speaks no TLS."
)
#: Answers that say: not now.
_BUSY = frozenset({429, 502, 503, 504})


class ServerError(StoreError):
    """The server cannot be used."""


class Connection:
    """The connection of one command to its server."""

    def __init__(self, account: Account, clock: SystemClock) -> None:
        self._account = account
        self._clock = clock
        url = account.url.rstrip("/")
        if not origin(url):
            raise UsageError(
                f"The setting url is no http(s) URL: {url[:200]}.",
                hint="Write it as http://HOST:PORT/ or https://HOST/.",
            )
        self.url = url
        config = ClientConfig(
            clock,
            answer_timeout=_PATIENCE,
            max_body=_LARGEST,
            ca_bundle=account.ca_bundle,
            trusted=frozenset({origin(url)}),
        )
        self._transport = Transport(config)
        #: Whether a request may have arrived: there is a server, which may be starting again.
        self._was_reached = False

    @cached_property
    def project(self) -> str:
        """The project: that of the token, else the one of the settings. Greets the server."""
        known = self._exchange("GET", "hello", None, {})
        try:
            protocol, is_bound, project = known["protocol"], known["is_bound"], known["project"]
        except (KeyError, TypeError):
            raise ServerError(f"What answers at {self.url} is no zonda server.") from None
        if protocol != VERSION:
            raise ServerError(
                f"The server is zonda {known.get('zonda')} and speaks version {protocol} of its "
                f"protocol; this is zonda {zonda.__version__} with version {VERSION}.",
                hint="Install the same version on both sides.",
            )
        return str(project) if is_bound else self._account.project

    def read(self, name: str, /, patience: float = 0.0, **arguments: Any) -> Any:
        """The result of a read; raises the error that the server raised.

        ``patience``: seconds that the server is asked to wait with its answer.
        """
        answer = self._exchange(
            "POST", f"{quote(self.project, safe='')}/read/{name}", arguments, {}, patience
        )
        try:
            return decode(answer["result"])
        except (Unreadable, KeyError, TypeError) as error:
            raise ServerError(
                f"The answer of {self.url} cannot be read ({error}).",
                hint="Install the same version of zonda on both sides.",
            ) from error

    def act(self, text: str, key: str) -> Mapping[str, Any]:
        """Send an action once; ``key`` is the same however often the connection breaks."""
        path = f"{quote(self.project, safe='')}/actions"
        headers = {"Idempotency-Key": key}
        found: Mapping[str, Any] = self._exchange("POST", path, json.loads(text), headers)
        return found

    def _exchange(
        self,
        method: str,
        path: str,
        body: Any,
        headers: Mapping[str, str],
        seconds: float = 0.0,
    ) -> Any:
        reply = self._send(method, path, body, headers, seconds)
        try:
            answer = json.loads(reply.body)
        except ValueError:
            answer = None
        if reply.status == 200 and answer is not None:
            return answer
        raise self._explain(reply, answer)

    def _send(
        self, method: str, path: str, body: Any, headers: Mapping[str, str], seconds: float
    ) -> Reply:
        """The last answer of a few attempts: everything that is sent can be sent again."""
        data = None if body is None else json.dumps(body).encode()
        sent = {"Accept": "application/json", **headers}
        if data is not None:
            sent["Content-Type"] = "application/json"
        url = f"{self.url}/zonda/v1/{path}"
        account = self._account
        for pause in (*_PAUSES, None):
            auth = TokenAuth(account.fetch_token, account.forget_token, "X-Auth-Token")
            try:
                reply = self._transport.send(
                    method, url, sent, data, seconds=_PATIENCE + seconds, auth=auth
                )
                self._was_reached = True
                if reply.status not in _BUSY or pause is None:
                    return reply
            except TransportError as error:
                self._was_reached |= error.may_have_arrived
                if pause is None or not self._was_reached:
                    is_about_tls = str(error).startswith("TLS failed")
                    raise ServerError(
                        f"The server at {self.url} cannot be reached: {error}.",
                        hint=_CANNOT_TRUST if is_about_tls else _CANNOT_REACH,
                    ) from error
            except RequestRejected as error:
                raise ServerError(
                    f"The server at {self.url} cannot be used: {error}.",
                    hint="Check ZONDA_URL, ZONDA_TOKEN and ZONDA_URL_CA_BUNDLE.",
                ) from error
            self._clock.pause(pause)
        raise AssertionError("the last attempt answers or raises")

    def _explain(self, reply: Reply, answer: Any) -> Exception:
        if reply.status == 401:
            return ServerError(
                f"The server at {self.url} does not accept the token.",
                hint="Set ZONDA_TOKEN to one that 'zonda token create' has shown there.",
            )
        said = answer.get("error") if isinstance(answer, dict) else None
        if isinstance(said, dict) and "class" in said:
            return parse_error(said)
        if 300 <= reply.status < 400 or reply.status in (404, 405):
            return ServerError(
                f"What answers at {self.url} is no zonda server (status {reply.status}).",
                hint="ZONDA_URL is the address that 'zonda serve' prints, without a path.",
            )
        message = said.get("message") if isinstance(said, dict) else None
        shown = f": {message}" if isinstance(message, str) else ""
        return ServerError(f"The server at {self.url} answered with status {reply.status}{shown}")

    def close(self) -> None:
        """Close every connection."""
        self._transport.close()
