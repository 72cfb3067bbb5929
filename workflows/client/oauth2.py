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
    """The request that asks for a token. ``secrets``: the values that must not be shown."""

    token_url: str
    headers: Mapping[str, str] = field(repr=False)
    content: bytes = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)


def read_oauth2(values: Mapping[str, Any] | None) -> OAuth2 | None:
    """The settings in the table ``oauth2`` of a runner's section. Raises UsageError."""
    if values is None:
        return None
    if not origin(values["token_url"]):
        raise UsageError("The setting oauth2.token_url is no http(s) URL.")
    client = {name: values[name] for name in ("client_id", "client_secret")}
    pair = base64.b64encode(":".join(map(quote_plus, client.values())).encode()).decode()
    headers = {
        "Accept": "application/json",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    content = {"grant_type": "client_credentials"}
    content |= {name: values[name] for name in ("scope", "audience", "resource") if values[name]}
    if values["send"] == "basic":
        headers["Authorization"] = f"Basic {pair}"
    else:
        content |= client
    secrets = (values["client_secret"], pair)
    return OAuth2(values["token_url"], headers, urlencode(content).encode(), secrets)


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
        asks = self._settings
        try:
            reply = self._transport.send(
                "POST", asks.token_url, asks.headers, asks.content, seconds=_LONGEST_FETCH
            )
        except TransportError as error:
            raise TransportError(
                f"{where}: {error}", may_have_arrived=False, blames_endpoint=False
            ) from None
        except RequestRejected as error:
            raise NoToken(f"{where}: {error}") from None
        if reply.status >= 500 or reply.status in (408, 425, 429):
            why = f"{where} answers HTTP {reply.status}"
            raise TransportError(why, may_have_arrived=False, blames_endpoint=False)
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
