"""Limits of connections: how many there are, how long and large heads are, how long an end takes.

Mixed into uvicorn's protocol, which waits without an end for the head of a request.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from zonda.hooks.records import dataclass, field

from ..hosts import Proxies

#: Bytes of the head of a request; seconds until it must be there.
HEAD_BYTES = 16384
HEAD_SECONDS = 60.0
#: Seconds that an idle client by TLS has to agree to the end of its connection.
END_SECONDS = 1.0
#: Connections of all clients together.
MOST_CONNECTIONS = 1000

_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\n"
    b"content-length: 0\r\n\r\n"
)
_TOO_MANY = (
    b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 1\r\n"
    b"content-length: 0\r\n\r\n"
)


@dataclass(slots=True)
class Connections:
    """The connections of one server, counted by address. ``most``: of one address."""

    most: int
    proxies: Proxies
    counts: Counter[str] = field(default_factory=Counter)
    total: int = 0

    def enter(self, address: str) -> bool:
        """Count a connection; False for one too many, which is counted, too."""
        self.total += 1
        self.counts[address] += 1
        if self.total > MOST_CONNECTIONS:
            return False
        return self.counts[address] <= self.most or self.proxies.is_trusted(address)

    def leave(self, address: str) -> None:
        """Count a connection no more."""
        self.total -= 1
        self.counts[address] -= 1
        if not self.counts[address]:
            del self.counts[address]


class LimitedProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """One connection."""

    def __init__(self, connections: Connections, **more: Any) -> None:
        super().__init__(**more)
        self._counted = connections
        self._address = ""
        self._timer: asyncio.TimerHandle | None = None
        self._head = 0

    def connection_made(self, transport: Any) -> None:
        """Refuse a connection that is one too many."""
        super().connection_made(transport)
        self._address = str((transport.get_extra_info("peername") or ("",))[0])
        if self._counted.enter(self._address):
            self._wait_for_head()
        else:
            self._refuse(_TOO_MANY)

    def data_received(self, data: bytes) -> None:
        """Watch the head of a request grow."""
        if self.transport.is_closing():
            return
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before or (before is not None and not before.response_complete):
            self._head = 0
            self._cancel_timer()
            return
        self._head += len(data)
        self._wait_for_head()
        if self._head > HEAD_BYTES and not self.transport.is_closing():
            self._refuse(_TOO_LARGE)

    def connection_lost(self, exc: Exception | None) -> None:
        """Count the connection no more."""
        self._cancel_timer()
        self._counted.leave(self._address)
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """End the connection, once its request is answered.

        TLS waits for the client's agreement, and a client that keeps a connection for later does
        not look at it.
        """
        super().shutdown()
        if self.transport.is_closing() and self.transport.get_extra_info("sslcontext"):
            self.loop.call_later(END_SECONDS, self.transport.abort)

    def _wait_for_head(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, answer: bytes) -> None:
        self.transport.write(answer)
        self.transport.close()
