"""HTTP for plug-ins that call out, above all for runners: nothing here can hold a thread for long.

::

    from zonda.hooks.http import Transport, Unreachable, Unusable, Wire, origin

    wire = Wire(clock, answer_timeout=30.0, trusted=frozenset({origin(endpoint)}))
    reply = Transport(wire).send("POST", url, {"Content-Type": "application/json"}, body)

One total time is for looking up the name, for the connection, for what is sent and for the whole
answer, however slowly the other side takes or gives each byte; an answer has a total size. What is
not ``trusted`` must have a public address. The one part of ``zonda.hooks`` that opens sockets: no
other part imports it, and nobody need use it.
"""

from .address_policy import AddressPolicy, Denied, Network, networks
from .config import MEBIBYTE, Wire, base_url, is_url, origin, place, shown, target
from .transport import Reply, Transport, Unreachable, Unusable

__all__ = [
    "MEBIBYTE",
    "AddressPolicy",
    "Denied",
    "Network",
    "Reply",
    "Transport",
    "Unreachable",
    "Unusable",
    "Wire",
    "base_url",
    "is_url",
    "networks",
    "origin",
    "place",
    "shown",
    "target",
]
