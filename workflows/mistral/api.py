"""Mistral's API as resource types want it: what they ask for, or an error that says what to do.

Lent by the ``mistral`` runner. Raises ``NotFound``, ``Conflict`` and ``ResourceFailure``; what may
be over soon is ``Unanswered``, what was not sent is ``PutOff``: both are a ``NotReady``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.hooks import Conflict, NotFound, ResourceFailure
from zonda.hooks.http import Reply, RequestRejected, TransportError

from ..client import backoff
from ..client.circuit_breaker import RetryLater
from ..http_contract import response
from ..http_runner import plain_response
from . import response as mistral_answer
from .client import MistralClient
from .keystone import LoginFailed
from .resource_base import RequestDeferred, Unanswered

_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
#: Seconds to the next attempt where nobody asked for a time.
_AGAIN = 5.0


class MistralApi:
    """One Mistral, for resource types."""

    def __init__(self, client: MistralClient) -> None:
        self._client = client
        self._http = client.settings.http

    @property
    def give_up(self) -> float:
        """Seconds after which one that never answers is given up."""
        return self._http.connect_give_up

    @property
    def namespace(self) -> str:
        """The namespace of workflows; empty for Mistral's own."""
        return self._client.settings.namespace

    def ask(
        self,
        method: str,
        *parts: str,
        query: Mapping[str, str] | None = None,
        content: Any = None,
        question: bool = False,
        **how: bool,
    ) -> Any:
        """Mistral's answer as data; None where it has no body.

        ``question``: it may be left unanswered; ``how``: urgent, last. See the client.
        """
        send = self._client.question if question else self._client.send
        where = self._client.format_url(*parts)
        try:
            reply = send(method, *parts, query=query, content=content, **how)
        except RetryLater as error:
            raise RequestDeferred(error.delay, self._client.redact(str(error))) from None
        except TransportError as error:
            why = self._client.redact(f"{where}: {error}")
            raise Unanswered(_AGAIN, why, may_have_arrived=error.may_have_arrived) from None
        except (RequestRejected, LoginFailed) as error:
            raise ResourceFailure(self._client.redact(f"{where}: {error}")) from None
        if 200 <= reply.status < 300:
            return response.decode_json(reply)
        raise self._build_refusal(reply, where, *parts)

    def _build_refusal(self, reply: Reply, where: str, *parts: str) -> Exception:
        why = self._client.redact(f"{where}: {mistral_answer.format_fault(reply)}")
        if mistral_answer.is_missing(reply):
            return NotFound(f"Mistral {parts[0]}", parts[-1])
        if reply.status == 409:
            return Conflict(why)
        if reply.status in _BUSY:
            delay = backoff.parse_retry_after(reply.headers, self._http.clock.now())
            may_have_arrived = reply.status not in plain_response.NOT_TAKEN
            return Unanswered(
                _AGAIN if delay is None else delay, why, may_have_arrived=may_have_arrived
            )
        return ResourceFailure(why)
