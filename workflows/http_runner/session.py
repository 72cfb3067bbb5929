"""Sends the requests of one runner: with its credentials, signatures and limits.

Called by the runner for everything that it sends. Knows how to prove who asks, and how often one
may ask; not what is asked.
"""

from __future__ import annotations

from collections.abc import Mapping

from zonda.hooks import redact
from zonda.hooks.http import Reply, TokenAuth, Transport, TransportError, origin
from zonda.hooks.runners import StartRequest, get_traceparent, http_contract

from ..client import message_signature, webhook_signature
from ..client.circuit_breaker import CircuitBreakers, Limits
from ..client.oauth2 import Tokens
from .actions import DEFAULT_ACTION, Action
from .settings import HttpSettings

_ALWAYS = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "User-Agent": "zonda",
}
#: Seconds that an endpoint is asked to answer in where places are few.
SHORT_WAIT = 2.0


class Caller:
    """Sends for many threads. All methods raise TransportError, RequestRejected and RetryLater."""

    def __init__(self, settings: HttpSettings) -> None:
        self._settings = settings
        self._transport = Transport(settings)
        limits = Limits(settings.max_in_flight, settings.breaker_failures, settings.breaker_pause)
        self._gates = CircuitBreakers(settings.clock, settings.random, limits)
        self._tokens: Tokens | None = None
        if settings.oauth2 is not None:
            self._tokens = Tokens(settings.oauth2, self._transport, settings.clock)

    def start(
        self,
        request: StartRequest,
        url: str,
        content: bytes | None,
        action: Action = DEFAULT_ACTION,
        *,
        seconds: float | None = None,
        last: bool = False,
    ) -> Reply:
        """The answer to the request that starts something. ``last``: there is no later one."""
        headers = {"Idempotency-Key": request.key}
        if content is not None:
            headers["Content-Type"] = "application/json"
        if not action.plain:
            headers |= {
                "Zonda-Contract": str(http_contract.CONTRACT),
                "Prefer": f"respond-async, wait={self._compute_wait(origin(url), seconds):g}",
                "Zonda-Attempt": str(request.attempt),
            }
        headers = self._complete_headers(headers, request.key, action.method, url, content)
        fresh = not action.repeat
        return self._send(
            action.method, url, headers, content, seconds=seconds, last=last, fresh=fresh
        )

    def later(
        self,
        method: str,
        url: str,
        key: str,
        *,
        urgent: bool = False,
        seconds: float | None = None,
    ) -> Reply:
        """The answer to a request without a body. ``urgent``: no limit holds it up."""
        headers = {"Zonda-Contract": str(http_contract.CONTRACT)}
        headers = self._complete_headers(headers, key, method, url, None)
        return self._send(method, url, headers, None, seconds=seconds, urgent=urgent)

    def is_paused(self, url: str) -> bool:
        """Whether requests to the endpoint are paused now."""
        return self._gates.is_paused(origin(url))

    def redact(self, text: str) -> str:
        """``text`` without anything secret that is known here."""
        text = self._settings.redact(text)
        return text if self._tokens is None else redact(text, self._tokens.secrets())

    def close(self) -> None:
        """Close every connection."""
        self._transport.close()

    def _compute_wait(self, place: str, seconds: float | None = None) -> float:
        """The time that the endpoint is asked to answer in: less than the runner waits.

        Short where places are few, since the answer holds one: another request may need it.
        """
        longest = (self._settings.answer_timeout if seconds is None else seconds) * 0.8
        wait = min(self._settings.wait, float(int(longest)) if longest >= 1 else 0.0)
        if self._gates.has_queue(place):
            return 0.0
        return min(wait, SHORT_WAIT) if self._gates.has_few_places() else wait

    def _complete_headers(
        self, headers: Mapping[str, str], key: str, method: str, url: str, content: bytes | None
    ) -> dict[str, str]:
        """``headers`` with those of every request, and the signatures."""
        settings = self._settings
        known = {**settings.credentials(url), **_ALWAYS, **headers}
        if traceparent := get_traceparent():
            known["traceparent"] = traceparent
        if not settings.knows(url):
            return known  # a signature for a stranger could be shown to whom it was not meant for
        now, keys = settings.clock.now(), settings.message_keys
        return {
            **known,
            **webhook_signature.build_headers(settings.signing_keys, key, now, content or b""),
            **message_signature.build_headers(keys, method, url, known, now, content),
        }

    def _send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        content: bytes | None,
        *,
        seconds: float | None,
        urgent: bool = False,
        last: bool = False,
        fresh: bool = False,
    ) -> Reply:
        auth = None
        if self._tokens is not None and self._settings.is_own(url):
            auth = TokenAuth(self._tokens.header, self._tokens.forget)
        with self._gates.request_permit(origin(url), urgent=urgent, last=last) as leave:
            try:
                reply = self._transport.send(
                    method, url, headers, content, seconds=seconds, auth=auth, fresh=fresh
                )
            except TransportError as error:
                leave.answered = False if error.blames_endpoint else None
                raise
            leave.answered = reply.status < 500
            return reply
