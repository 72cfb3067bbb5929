"""Tokens of Keystone (v3) for a ``mistral`` runner with a password.

A token is kept until it is about to expire or Mistral no longer takes it. However many threads need
one, one of them logs in, while the others are told to come back (``RetryLater``); a Keystone that
fails gets a rest.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from zonda.hooks.http import Reply, RequestRejected, Transport, TransportError, origin

from ..client.circuit_breaker import CircuitBreakers, Limits, RetryLater
from ..http_contract import response
from ..http_runner.settings import redacted_url
from .settings import Keystone

#: Seconds before its end in which a token is not used any more, and how long one lasts that
#: names no end.
MARGIN = 60.0
LASTS = 3600.0
#: Seconds that a login may take at most.
LONGEST_LOGIN = 30.0


@dataclass(frozen=True, slots=True)
class Urgency:
    """Whether a request may wait. ``urgent``: not at all. ``last``: there is no later one."""

    urgent: bool = False
    last: bool = False


class LoginFailed(Exception):
    """Keystone gave no token, and a retry cannot help. The text is fit for users."""


@dataclass(frozen=True, slots=True)
class _Token:
    text: str = field(repr=False)
    until: float


class KeystoneTokens:
    """The tokens of one user. Many threads may call."""

    def __init__(self, settings: Keystone) -> None:
        http = settings.http
        self._settings = settings
        self._clock = http.clock
        self._transport = Transport(http)
        self._url = f"{http.endpoint}/auth/tokens"
        limits = Limits(1, min(1, http.breaker_failures), http.breaker_pause)
        self._gates = CircuitBreakers(http.clock, http.random, limits)
        self._token: _Token | None = None
        self._known: deque[str] = deque(maxlen=8)

    def token(self, urgency: Urgency, seconds: float | None) -> str:
        """The token that was given last, or a new one.

        Raises TransportError, RequestRejected, LoginFailed and RetryLater. ``seconds``: what
        getting one may take at most.
        """
        try:
            token = self._find_valid_token() or self._log_in_once(urgency, seconds)
        except RetryLater as error:
            if not error.paused:
                raise RetryLater(error.delay, "a token of Keystone is being fetched") from None
            if urgency.last:  # another of us has had no answer a moment ago
                raise TransportError(
                    f"Keystone: {error}", may_have_arrived=False, blames_endpoint=False
                ) from None
            raise
        return token.text

    def secrets(self) -> list[str]:
        """The tokens that are or were in use."""
        return list(self._known)

    def forget(self, token: str) -> bool:
        """Forget ``token``, unless another thread has got a newer one meanwhile."""
        known = self._token
        if known is not None and known.text == token:
            self._token = None
        return True

    def close(self) -> None:
        """Close every connection."""
        self._transport.close()

    def _find_valid_token(self) -> _Token | None:
        token = self._token
        return token if token is not None and self._clock.now() < token.until else None

    def _log_in_once(self, urgency: Urgency, seconds: float | None) -> _Token:
        with self._gates.request_permit(origin(self._url), urgent=urgency.urgent) as leave:
            try:
                # Somebody else may have been first.
                found = self._find_valid_token() or self._log_in(seconds)
            except TransportError:
                leave.answered = False
                raise
            leave.answered = True
            return found

    def _log_in(self, seconds: float | None) -> _Token:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        content = json.dumps(self._settings.request).encode()
        most = min(LONGEST_LOGIN, self._settings.http.answer_timeout)
        most = most if seconds is None else min(most, seconds)
        where = f"Keystone at {redacted_url(self._url)}"
        try:
            reply = self._transport.send("POST", self._url, headers, content, seconds=most)
        except TransportError as error:
            raise TransportError(
                f"{where}: {error}", may_have_arrived=False, blames_endpoint=False
            ) from None
        except RequestRejected as error:
            raise RequestRejected(f"{where}: {error}") from None
        text = reply.headers.get("X-Subject-Token", "")
        if reply.status not in (200, 201) or not text:
            self._raise_refusal(f"{where}: HTTP {reply.status}", reply)
        self._known.append(text)
        self._token = token = _Token(text, self._read_expiry(reply) - MARGIN)
        return token

    def _raise_refusal(self, why: str, reply: Reply) -> None:
        # Never more than the status: what Keystone says may repeat what it was sent.
        if reply.status >= 500 or reply.status in (408, 425, 429):
            raise TransportError(why, may_have_arrived=False, blames_endpoint=False)
        if reply.status in (401, 403):
            raise LoginFailed(f"{why}: Keystone does not accept user, password or project")
        raise LoginFailed(f"{why}: Keystone gave no token")

    def _read_expiry(self, reply: Reply) -> float:
        body = response.decode_json(reply)
        token = body.get("token") if isinstance(body, Mapping) else None
        ends = token.get("expires_at") if isinstance(token, Mapping) else None
        try:
            return datetime.fromisoformat(str(ends)).timestamp()
        except ValueError:
            return self._clock.now() + LASTS
