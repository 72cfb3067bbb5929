"""Rules for network addresses: checked when a connection is made, and pinned.

A name is resolved once, each of its addresses is checked, and the connection goes to an address
that passed: what the name means a moment later does not matter. What an operator has configured
may be on a private network; what a template or an answer names must be public. Used by whatever
opens connections (``connections``); knows nothing of HTTP.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..records import dataclass
from .resolver import Lookups, Resolve, resolve_host

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
#: The options of a socket before it connects.
Options = Iterable[tuple[int, int, int | bytes]]

#: Denied whoever names them, unless ``allowed_networks`` lists them: a machine's own link, where
#: clouds keep their metadata; what stands for many machines, or for none.
NEVER: tuple[Network, ...] = tuple(
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8",
        "169.254.0.0/16",
        "100.100.100.200/32",
        "192.0.0.192/32",
        "168.63.129.16/32",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "::/128",
        "fe80::/10",
        "fec0::/10",
        "fd00:ec2::254/128",
        "fd20:ce::254/128",
        "ff00::/8",
    )
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_LAST_32_BITS: tuple[ipaddress.IPv6Network, ...] = (
    ipaddress.IPv6Network("::/96"),  # IPv4-compatible
    ipaddress.IPv6Network("::ffff:0:0:0/96"),  # IPv4-translated
    ipaddress.IPv6Network("64:ff9b:1::/48"),  # NAT64 of one's own
)
_LOOKUPS = Lookups()
#: For what is configured: as many names as the settings hold, so that each has its place.
_CONFIGURED = Lookups(sys.maxsize)
_IPV4 = 0xFFFFFFFF
_ISATAP = (0x00005EFE, 0x02005EFE)


class Denied(Exception):
    """An address that must not be talked to. The text names it and is fit for users."""


def networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """``10.0.0.0/8`` and the like, and single addresses. Raises ValueError that names the text."""
    found = []
    for text in texts:
        try:
            found.append(ipaddress.ip_network(text.strip()))
        except ValueError:
            raise ValueError(f"{text!r} is no network such as 10.0.0.0/8 or fd00::/8") from None
    return tuple(found)


@dataclass(frozen=True, slots=True)
class AddressPolicy:
    """The addresses that may be called. ``denied`` wins over ``allowed``, then come the defaults.

    ``trusted`` (of the methods) is true for what the operator has configured; it may be private.
    ``remedy`` is how something that is not public would be configured.
    """

    allowed: tuple[Network, ...] = ()
    denied: tuple[Network, ...] = ()
    resolve: Resolve = resolve_host
    remedy: str = "settings: endpoint of a runner, or allowed_networks"

    def check(self, address: str, *, trusted: bool = False) -> None:
        """Raise Denied for an address, in numbers, that must not be talked to."""
        try:
            found = ipaddress.ip_address(address.partition("%")[0])
        except ValueError:
            raise Denied("the name of the host leads to no address") from None
        for one in expand_address(found):
            self._check(address, one, trusted)

    def _check(self, shown: str, address: Address, trusted: bool) -> None:
        if _is_within(address, self.denied):
            raise Denied(f"the address {shown} is in denied_networks")
        if _is_within(address, self.allowed):
            return
        if _is_within(address, NEVER):
            raise Denied(f"the address {shown} is not to be called (link-local, metadata or none)")
        if not trusted and (not address.is_global or address.is_reserved):
            raise Denied(
                f"the address {shown} is not public, and nobody has configured it ({self.remedy})"
            )

    def list_addresses(
        self,
        host: str,
        port: int,
        *,
        trusted: bool = False,
        left: Callable[[], float] | None = None,
    ) -> list[str]:
        """The addresses of ``host`` that may be talked to. Raises Denied if none may, OSError."""
        refusal = Denied("the name of the host leads to no address")
        good: list[str] = []
        for address in dict.fromkeys(self._look_up(host, port, trusted, left)):
            try:
                self.check(address, trusted=trusted)
            except Denied as error:
                refusal = error
            else:
                good.append(address)
        if not good:
            raise refusal
        return good

    def _look_up(
        self, host: str, port: int, trusted: bool, left: Callable[[], float] | None
    ) -> Sequence[str]:
        if left is None:
            return self.resolve(host, port)
        lookups = _CONFIGURED if trusted else _LOOKUPS
        return lookups.find(self.resolve, host, port, left)

    def connect(
        self,
        host: str,
        port: int,
        *,
        trusted: bool = False,
        left: Callable[[], float] | None = None,
        options: Options = (),
    ) -> socket.socket:
        """A connection to one of them, tried in order. Raises Denied and OSError.

        ``left`` gives the seconds that are left for the name and all its addresses together; it
        may raise.
        """
        failure: OSError = OSError("no address")
        waiting = self.list_addresses(host, port, trusted=trusted, left=left)
        while waiting:
            # One address that never answers must not cost the others their chance.
            seconds = None if left is None else left() / len(waiting)
            try:
                return _open_connection(waiting.pop(0), port, seconds, options)
            except OSError as error:
                failure = error
        raise failure


def _open_connection(
    address: str, port: int, seconds: float | None, options: Options
) -> socket.socket:
    # Numbers only: nothing is looked up again. It adds the scope of an address on a link.
    family, kind, protocol, _, place = socket.getaddrinfo(
        address, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST
    )[0]
    with contextlib.ExitStack() as undo:
        sock = socket.socket(family, kind, protocol)
        undo.callback(sock.close)
        for option in options:
            sock.setsockopt(*option)
        sock.settimeout(seconds)
        sock.connect(place)
        undo.pop_all()
    return sock


def _is_within(address: Address, listed: Iterable[Any]) -> bool:
    return any(address.version == network.version and address in network for network in listed)


def expand_address(address: Address) -> list[Address]:
    """``address`` and the IPv4 addresses that it carries; all of them must pass.

    An IPv4 address in IPv6 clothes (``::ffff:a.b.c.d``, or as NAT64 has it) is that IPv4 address
    and nothing else.
    """
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    if address.ipv4_mapped is not None:
        return [address.ipv4_mapped]
    if address in _NAT64:
        return [ipaddress.IPv4Address(int(address) & _IPV4)]
    return [address, *_list_embedded_addresses(address)]


def _list_embedded_addresses(address: ipaddress.IPv6Address) -> list[Address]:
    number, found = int(address), list[Address]()
    if address.sixtofour is not None:
        found.append(address.sixtofour)
    if address.teredo is not None:
        found += address.teredo
    last = number & _IPV4
    isatap = (number >> 32) & _IPV4 in _ISATAP
    if isatap or (last > 1 and _is_within(address, _LAST_32_BITS)):
        found.append(ipaddress.IPv4Address(last))
    return found
