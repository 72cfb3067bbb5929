"""The event sink ``webhook``: one signed POST for each event, as Standard Webhooks has it.

The ``webhook-id`` is the id of the event, so that a receiver can tell what it has got already. What
answers with anything but 2xx is sent again later. Of the URL nobody is told more than its host,
since for many receivers the rest is the credential.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from zonda.hooks import EventSink
from zonda.hooks.events import EventRecord, SinkError
from zonda.hooks.http import Reply, RequestRejected, Transport, TransportError

from ..client import webhook_signature
from ..client.backoff import parse_retry_after
from ..http_runner.settings import read_settings
from .payload import build_payload
from .schema import WEBHOOK


class WebhookSink(EventSink):
    """Sends events to one URL."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        values = WEBHOOK.read(given)
        self._url = values.pop("url")
        added = {name: given[name] for name in ("clock", "random")}
        self._settings = read_settings({**values, **added, "endpoint": self._url})
        self._host = urlsplit(self._url).hostname or ""
        self._transport = Transport(self._settings)
        self.timeout = self._settings.connect_timeout + self._settings.answer_timeout

    def deliver(self, events: Sequence[EventRecord]) -> None:
        """Send each event by itself; raises SinkError at the first that is not taken."""
        for number, event in enumerate(events):
            try:
                self._send(event)
            except SinkError as error:
                error.delivered = number
                raise

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def _send(self, event: EventRecord) -> None:
        body = json.dumps(build_payload(event), ensure_ascii=False).encode()
        now = self._settings.clock.now()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "zonda",
            "webhook-id": event.id,
            "webhook-timestamp": str(int(now)),
            **webhook_signature.build_headers(self._settings.signing_keys, event.id, now, body),
            **self._settings.credentials(self._url),
        }
        try:
            reply = self._transport.send("POST", self._url, headers, body)
        except (TransportError, RequestRejected) as error:
            raise SinkError(f"{self._host}: {error}") from None
        if not 200 <= reply.status < 300:
            raise self._build_sink_error(reply, now)

    def _build_sink_error(self, reply: Reply, now: float) -> SinkError:
        asked = parse_retry_after(reply.headers, now)
        moved = " (redirects are not followed)" if 300 <= reply.status < 400 else ""
        return SinkError(f"{self._host} answered with {reply.status}{moved}", delay=asked)
