"""The names under which clients may know this server: URLs are built of no other.

A page in a browser can make any name lead to a loopback address; a request that comes by a name
that is not this server's is refused.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from zonda.core.system.addresses import LOOPBACK
from zonda.hooks.records import dataclass

ANY = "*"


@dataclass(frozen=True, slots=True)
class Hosts:
    """The allowed names, in lower case, without ports."""

    names: frozenset[str]

    def find_base(self, scheme: str, host: str) -> str | None:
        """The URL of the server as a request names it; None for a name that is not allowed."""
        name = split_port(host).lower()
        if not name or (ANY not in self.names and name not in self.names):
            return None
        return f"{scheme}://{host}"


def split_port(host: str) -> str:
    """A host without its port."""
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]


def choose_hosts(allowed: Iterable[str], address: str, public_url: str = "") -> Hosts:
    """The names that the settings allow, else those of the address that is listened on.

    The name in ``public_url``, under which signals come, is always one of them.
    """
    names = {name.lower() for name in allowed}
    if not names:
        names = {*LOOPBACK, address.lower(), f"[{address.lower()}]"}
    if public_url:
        names.add(split_port(urlsplit(public_url).netloc.lower()))
    return Hosts(frozenset(names))


@dataclass(frozen=True, slots=True)
class Proxies:
    """The proxies in front of the server that are believed."""

    networks: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...] = ()

    @classmethod
    def parse(cls, networks: Iterable[str]) -> Proxies:
        """The proxies of the settings."""
        return cls(tuple(ipaddress.ip_network(each) for each in networks))

    def is_trusted(self, address: str) -> bool:
        """Whether an address is a proxy's."""
        if not self.networks:
            return False
        try:
            found = ipaddress.ip_address(address)
        except ValueError:
            return False
        found = getattr(found, "ipv4_mapped", None) or found
        return any(found in network for network in self.networks)

    def find_origin(self, address: str, scheme: str, headers: Mapping[str, str]) -> tuple[str, str]:
        """The scheme and the host that the client has asked for, by a proxy or without one."""
        host = headers.get("host", "")
        if not self.networks or not self.is_trusted(address):
            return scheme, host
        # the last value is that of the proxy; those before it are the client's own
        named = headers.get("x-forwarded-proto", "").rpartition(",")[2].strip().lower()
        host = headers.get("x-forwarded-host", "").rpartition(",")[2].strip() or host
        return (named if named in ("http", "https") else scheme), host


NO_PROXIES = Proxies()
