"""Addresses of this machine itself."""

from __future__ import annotations

import ipaddress

#: Names of the machine itself.
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1", "[::1]"})


def is_loopback(host: str) -> bool:
    """Whether an address or a name leads to this machine only."""
    if host.lower() in LOOPBACK:
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
