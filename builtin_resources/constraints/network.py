"""Custom constraints for addresses and names in networks, with Heat's sentences."""

from __future__ import annotations

import ipaddress
import re
from typing import Any, Final

from zonda.hooks import BaseCustomConstraint, ResourceContext

NAME_LIMIT: Final = 255
LABEL_LIMIT: Final = 63
_LABEL: Final = re.compile(r"[a-z0-9-]{1,63}\Z")

#: The ways to write a MAC address: separator, number of groups, digits in each.
_MAC_FORMS: Final = (
    (":", 6, "1,2"),
    ("-", 6, "1,2"),
    (":", 3, "1,4"),
    ("-", 3, "1,4"),
    (".", 3, "1,4"),
    ("-", 2, "5,6"),
    (":", 2, "5,6"),
    ("", 1, "11,12"),
)
_MAC: Final = re.compile(
    "|".join(
        re.escape(separator).join([f"[0-9a-f]{{{digits}}}"] * groups)
        for separator, groups, digits in _MAC_FORMS
    ),
    re.IGNORECASE,
)


class IpAddress(BaseCustomConstraint):
    """``ip_addr``: an IPv4 or IPv6 address."""

    examples = ("192.0.2.10", "2001:db8::10")

    _error_message = "Invalid IP address"

    def validate(self, value: Any, context: ResourceContext | None) -> bool:
        """Whether ``value`` is one address, without prefix and zone."""
        return _is_address(value)


class MacAddress(BaseCustomConstraint):
    """``mac_addr``: an EUI-48 address in one of the usual forms."""

    examples = ("02:00:5e:10:00:01", "02:00:5e:10:00:02")

    _error_message = "Invalid MAC address."

    def validate(self, value: Any, context: ResourceContext | None) -> bool:
        """Whether ``value`` is a MAC address."""
        return isinstance(value, str) and _MAC.fullmatch(value) is not None


class Cidr(BaseCustomConstraint):
    """``net_cidr``: a network with its prefix; host bits may be set."""

    examples = ("192.0.2.0/24", "2001:db8::/64")

    def validate(self, value: Any, context: ResourceContext | None) -> bool:
        """Whether ``value`` is a network."""
        try:
            ipaddress.ip_network(str(value), strict=False)
        except ValueError:
            self._error_message = f"Invalid net cidr invalid IPNetwork {value} "
            return False
        self._error_message = _find_subnet_fault(str(value))
        return self._error_message is None


class IpOrCidr(BaseCustomConstraint):
    """``ip_or_cidr``: an address, or a network with its prefix."""

    examples = ("192.0.2.10", "192.0.2.0/24")

    def validate(self, value: Any, context: ResourceContext | None) -> bool:
        """Whether ``value`` is an address or a network."""
        if not isinstance(value, str):
            self._error_message = f"{value} is not a valid IP or CIDR"
        elif "/" in value:
            self._error_message = _find_subnet_fault(value)
        elif not _is_address(value):
            self._error_message = f"'{value}' is not a valid IP address"
        else:
            return True
        return self._error_message is None


def _is_address(value: Any) -> bool:
    if not isinstance(value, str) or "%" in value:
        return False
    try:
        ipaddress.ip_address(value)
    except ValueError:
        return False
    return True


def _find_subnet_fault(value: str) -> str | None:
    """The fault of a network, or None. A prefix is needed, and for IPv4 as a number."""
    try:
        network = ipaddress.ip_interface(value)
    except ValueError:
        return f"'{value}' is not a valid IP subnet"
    written = value.endswith(f"/{network.network.prefixlen}")
    if "/" not in value or (network.version == 4 and not written):
        return f"'{value}' isn't a recognized IP subnet cidr, '{network.network}' is recommended"
    return None


class DnsName(BaseCustomConstraint):
    """``dns_name``: a host or domain name, with or without the dot at the end."""

    examples = ("www.example.org.", "example.org.")

    def validate(self, value: Any, context: ResourceContext | None) -> bool:
        """Whether ``value`` is a name; an empty one is."""
        reason = _find_name_fault(value)
        if reason is not None:
            self._error_message = f"'{value}' not in valid format. Reason: {reason}"
        return reason is None


def _find_name_fault(value: Any) -> str | None:
    if not value:
        return None
    if not isinstance(value, str):
        return "It is not text."
    trimmed = value.removesuffix(".")
    if len(trimmed) > NAME_LIMIT:
        return f"'{trimmed}' exceeds the {NAME_LIMIT} character FQDN limit"
    labels = trimmed.split(".")
    for label in labels:
        fault = _find_label_fault(label)
        if fault is not None:
            return fault
    if value.endswith(".") and len(labels) > 1 and re.fullmatch("[0-9]+", labels[-1]):
        return f"TLD '{labels[-1]}' must not be all numeric."
    return None


def _find_label_fault(label: str) -> str | None:
    if not label:
        return "Encountered an empty component."
    if label.startswith("-") or label.endswith("-"):
        return f"Name '{label}' must not start or end with a hyphen."
    if not _LABEL.match(label):
        return (
            f"Name '{label}' must be 1-{LABEL_LIMIT} characters long, each of which can only be "
            "alphanumeric or a hyphen."
        )
    return None


class RelativeDnsName(DnsName):
    """``rel_dns_name``: a name that a domain can be appended to."""

    examples = ("www", "www.example")

    def validate(self, value: Any, context: ResourceContext | None) -> bool:
        """Whether ``value`` is a name without a dot at the end; an empty one is."""
        if isinstance(value, str) and value.endswith("."):
            self._error_message = f"'{value}' is a FQDN. It should be a relative domain name."
            return False
        if isinstance(value, str) and len(value) > NAME_LIMIT - 3:
            self._error_message = (
                f"'{value}' contains '{len(value)}' characters. Adding a domain name will cause it "
                f"to exceed the maximum length of a FQDN of '{NAME_LIMIT}'."
            )
            return False
        return super().validate(value, context)


class DnsDomain(DnsName):
    """``dns_domain``: a domain name with its dot at the end."""

    examples = ("example.org.", "example.net.")

    def validate(self, value: Any, context: ResourceContext | None) -> bool:
        """Whether ``value`` is a domain; an empty one is."""
        if not super().validate(value, context):
            return False
        if value and not value.endswith("."):
            self._error_message = f"'{value}' must end with '.'."
            return False
        return True
