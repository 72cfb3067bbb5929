"""Tokens of OAuth2 by client credentials (RFC 6749, 4.4): fetched, kept until they expire, renewed.

One per runner, for all its threads: while one of them fetches a token the others are told to come
back (``RetryLater``). Tokens and secrets stand in no text; ``secrets`` says what is to be masked.
"""

from __future__ import annotations

import base64
import json
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote_plus, urlencode

from zonda.hooks import Clock, UsageError
from zonda.hooks.http import RequestRejected, Transport, TransportError, origin, redacted_url
from zonda.hooks.settings import is_header_value

from .circuit_breaker import RetryLater

#: For how long a token is used that does not say when it expires, and any token at most.
LASTS, LONGEST = 300.0, 86_400.0
#: Seconds before its end in which a token is no longer used, at most a tenth of its life.
MARGIN = 30.0
#: A token that was refused is not replaced if it is younger than this: that would help nobody.
YOUNG = 10.0
_LOOK_AGAIN = 0.5
_LONGEST_FETCH = 30.0


class NoToken(RequestRejected):
    """The token endpoint refuses, or says what cannot be used."""


@dataclass(frozen=True, slots=True)
class OAuth2:
    """The settings of OAuth2. ``basic``: the client's secret goes into a header, not the body."""

    token_url: str
    client_id: str
    client_secret: str = field(repr=False)
    basic: bool = True
    more: Mapping[str, str] = field(default_factory=dict)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values that must not be shown."""
        return (self.client_secret, self._pair)

    @property
    def _pair(self) -> str:
        pair = f"{quote_plus(self.client_id)}:{quote_plus(self.client_secret)}"
        return base64.b64encode(pair.encode()).decode()

    def request(self) -> tuple[dict[str, str], bytes]:
        """Headers and body that ask for a token."""
        headers = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "Content-Type": "application/x-www-form-urlencoded",
            "User-Agent": "zonda",
        }
        content = {"grant_type": "client_credentials", **self.more}
        if self.basic:
            headers["Authorization"] = f"Basic {self._pair}"
        else:
            content |= {"client_id": self.client_id, "client_secret": self.client_secret}
        return headers, urlencode(content).encode()


def read_oauth2(values: Mapping[str, Any] | None) -> OAuth2 | None:
    """The settings in the table ``oauth2`` of a runner's section. Raises UsageError."""
    if values is None:
        return None
    if not origin(values["token_url"]):
        raise UsageError("The setting oauth2.token_url is no http(s) URL.")
    more = {name: values[name] for name in ("scope", "audience", "resource") if values[name]}
    return OAuth2(
        values["token_url"],
        values["client_id"],
        values["client_secret"],
        values["send"] == "basic",
        more,
    )


@dataclass(frozen=True, slots=True)
class _Token:
    text: str = field(repr=False)
    fetched: float
    until: float


class Tokens:
    """The tokens of one client. Times are monotonic."""

    def __init__(self, settings: OAuth2, transport: Transport, clock: Clock) -> None:
        self._settings = settings
        self._transport = transport
        self._clock = clock
        self._fetching = threading.Lock()
        self._token: _Token | None = None
        self._known: deque[str] = deque(maxlen=8)

    def header(self) -> str:
        """The value of ``Authorization``. Raises RetryLater, TransportError and NoToken."""
        token = self._find_valid_token()
        if token is None:
            if not self._fetching.acquire(blocking=False):
                raise RetryLater(_LOOK_AGAIN, "an access token is being fetched")
            try:
                token = self._find_valid_token() or self._fetch_token()
            finally:
                self._fetching.release()
        return f"Bearer {token.text}"

    def forget(self, header: str) -> bool:
        """Forget a token that was refused; return whether another try makes sense."""
        token = self._token
        if token is None or header != f"Bearer {token.text}":
            return True
        if self._clock.monotonic() - token.fetched < YOUNG:
            return False
        self._token = None
        return True

    def secrets(self) -> tuple[str, ...]:
        """The tokens that are or were in use, which must not be shown."""
        return tuple(self._known)

    def _find_valid_token(self) -> _Token | None:
        token = self._token
        return token if token is not None and self._clock.monotonic() < token.until else None

    def _fetch_token(self) -> _Token:
        where = f"the token endpoint {redacted_url(self._settings.token_url)}"
        headers, content = self._settings.request()
        try:
            reply = self._transport.send(
                "POST", self._settings.token_url, headers, content, seconds=_LONGEST_FETCH
            )
        except TransportError as error:
            raise TransportError(
                f"{where}: {error}", may_have_arrived=False, blames_endpoint=False
            ) from None
        except RequestRejected as error:
            raise NoToken(f"{where}: {error}") from None
        if reply.status >= 500 or reply.status in (408, 425, 429):
            raise TransportError(
                f"{where} answers HTTP {reply.status}",
                may_have_arrived=False,
                blames_endpoint=False,
            )
        answer = _parse_object(reply.body)
        if reply.status != 200:
            raise NoToken(
                f"{where} gives no token: HTTP {reply.status}{_format_error_code(answer)}"
            )
        self._token = token = self._read_token(answer, where)
        return token

    def _read_token(self, answer: Mapping[str, Any], where: str) -> _Token:
        text, kind = answer.get("access_token"), answer.get("token_type", "Bearer")
        if not isinstance(text, str) or not text or " " in text or not is_header_value(text):
            raise NoToken(f"{where} gives no token that can be used")
        if not isinstance(kind, str) or kind.lower() != "bearer":
            raise NoToken(f"{where} gives a token of another kind than Bearer")
        self._known.append(text)
        seconds = _to_lifetime(answer.get("expires_in"))
        now = self._clock.monotonic()
        return _Token(text, now, now + seconds - min(MARGIN, seconds / 10))


def _parse_object(body: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _format_error_code(answer: Mapping[str, Any]) -> str:
    """The error's code, and nothing else of what was sent back."""
    code = answer.get("error")
    known = isinstance(code, str) and code.replace("_", "").isalnum() and code.isascii()
    return f" ({str(code)[:60]})" if known else ""


def _to_lifetime(given: Any) -> float:
    try:
        seconds = float(given)
    except (TypeError, ValueError, OverflowError):
        return LASTS
    return min(seconds, LONGEST) if seconds > 0 else LASTS
