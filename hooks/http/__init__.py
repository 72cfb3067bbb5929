"""HTTP for plug-ins that call out, above all for runners: nothing here can hold a thread for long.

::

    from zonda.hooks.http import ClientConfig, RequestRejected, Transport, TransportError, origin

    config = ClientConfig(clock, answer_timeout=30.0, trusted=frozenset({origin(endpoint)}))
    reply = Transport(config).send("POST", url, {"Content-Type": "application/json"}, body)

One total time is for looking up the name, for the connection, for what is sent and for the whole
answer, however slowly the other side takes or gives each byte; an answer has a total size. What is
not ``trusted`` must have a public address. The one part of ``zonda.hooks`` that opens sockets: no
other part imports it, and nobody need use it.
"""

from ..text.urls import is_url
from .address_policy import AddressPolicy, Denied, Network, networks
from .config import (
    MEBIBYTE,
    ClientConfig,
    canonical_url,
    host_and_port,
    origin,
    read_connection,
    redacted_url,
)
from .transport import (
    Reply,
    RequestRejected,
    TokenAuth,
    Transport,
    TransportError,
    list_url_secrets,
)

__all__ = [
    "MEBIBYTE",
    "AddressPolicy",
    "ClientConfig",
    "Denied",
    "Network",
    "Reply",
    "RequestRejected",
    "TokenAuth",
    "Transport",
    "TransportError",
    "canonical_url",
    "host_and_port",
    "is_url",
    "list_url_secrets",
    "networks",
    "origin",
    "read_connection",
    "redacted_url",
]
