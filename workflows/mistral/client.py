"""Requests to one Mistral, with what proves who asks. Called by the runner and the API of types.

Knows nothing of workflows. Gives answers as they are. Nobody waits here for others: see
``circuit_breaker``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

from zonda.hooks import redact
from zonda.hooks.http import Reply, TokenAuth, Transport, TransportError, origin

from ..client.circuit_breaker import CircuitBreakers, Limits
from ..http_runner.settings import redacted_url
from . import response
from .keystone import KeystoneTokens, Urgency
from .settings import HEADER, MistralSettings

LONGEST_QUESTION = 5.0
#: Seconds for which one is not asked again who did not answer a question.
ASKED_AGAIN = 30.0


class MistralClient:
    """Sends requests for many threads."""

    def __init__(self, settings: MistralSettings) -> None:
        self.settings = settings
        http = settings.http
        self._transport = Transport(http)
        limits = Limits(http.max_in_flight, http.breaker_failures, http.breaker_pause)
        self._gates = CircuitBreakers(http.clock, http.random, limits)
        self._origin = origin(http.endpoint)
        self._tokens = KeystoneTokens(settings.keystone) if settings.keystone else None
        self._silent_until = 0.0

    def send(
        self,
        method: str,
        *parts: str,
        query: Mapping[str, str] | None = None,
        content: Any = None,
        seconds: float | None = None,
        urgent: bool = False,
        last: bool = False,
        fresh: bool = False,
    ) -> Reply:
        """The answer to a request for ``/PART/PART``.

        ``content``: a text is sent as it is, anything else as JSON. ``urgent``: no limit holds it
        up. ``last``: there is no later one. ``fresh``: see ``Transport.send``. Raises Unreachable,
        Unusable, NoLogin and NotNow, and ValueError for numbers that JSON has no word for.
        """
        url = self.url(*parts, query=query)
        headers, body = _encode_content(content)
        headers = {**self.settings.http.headers, **headers}

        auth = None
        if self._tokens is not None:
            fetch = partial(self._tokens.token, Urgency(urgent, last), seconds)
            auth = TokenAuth(fetch, self._tokens.forget, HEADER)
        with self._gates.request_permit(self._origin, urgent=urgent, last=last) as leave:
            try:
                reply = self._transport.send(
                    method, url, headers, body, seconds=seconds, auth=auth, fresh=fresh
                )
            except TransportError as error:
                leave.answered = False if error.blames_endpoint else None
                raise
            # That there is no such thing is told by 500, too.
            leave.answered = reply.status < 500 or response.is_missing(reply)
            return reply

    def is_paused(self) -> bool:
        """Whether requests to Mistral are paused now."""
        return self._gates.is_paused(self._origin)

    def question(self, method: str, *parts: str, **more: Any) -> Reply:
        """The answer to a request that may stay unanswered, as at validation: a short attempt.

        A template may have a thousand such questions, so nobody is waited for who did not answer
        one a moment ago.
        """
        now = self.settings.http.clock.monotonic()
        if now < self._silent_until or self.is_paused():
            raise TransportError("no answer a moment ago")
        try:
            return self.send(method, *parts, seconds=LONGEST_QUESTION, urgent=True, **more)
        except TransportError:
            self._silent_until = now + ASKED_AGAIN
            raise

    def url(self, *parts: str, query: Mapping[str, str] | None = None) -> str:
        """The URL of ``/PART/PART``, without what is empty in ``query``."""
        path = "/".join(quote(part, safe="") for part in parts)
        asked = urlencode({name: value for name, value in (query or {}).items() if value})
        url = f"{self.settings.http.endpoint}/{path}"
        return f"{url}?{asked}" if asked else url

    def format_url(self, *parts: str) -> str:
        """The URL for messages, without secrets."""
        return redacted_url(self.url(*parts))

    def redact(self, text: str) -> str:
        """``text`` without anything secret that is known here."""
        text = self.settings.http.redact(text)
        return redact(text, self._tokens.secrets()) if self._tokens else text

    def close(self) -> None:
        """Close every connection."""
        self._transport.close()
        if self._tokens:
            self._tokens.close()


def _encode_content(content: Any) -> tuple[dict[str, str], bytes | None]:
    if content is None:
        return {"Accept": "application/json"}, None
    if isinstance(content, str):
        # Whoever takes plain text says that it gives plain text, too (406), and gives JSON.
        return {"Accept": "*/*", "Content-Type": "text/plain"}, content.encode()
    text = json.dumps(content, allow_nan=False)
    return {"Accept": "application/json", "Content-Type": "application/json"}, text.encode()
