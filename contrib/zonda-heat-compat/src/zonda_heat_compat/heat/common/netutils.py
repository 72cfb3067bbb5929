"""Names and networks."""

from __future__ import annotations

import ipaddress
import re

DNS_LABEL_MAX_LEN = 63
DNS_LABEL_REGEX = r"[a-z0-9-]{1,63}$"
FQDN_MAX_LEN = 255


def is_prefix_subset(orig_prefixes: list[str], new_prefixes: list[str]) -> bool:
    """Whether each of the first networks lies inside one of the second."""
    around = [ipaddress.ip_network(each) for each in new_prefixes]

    def inside(prefix: str) -> bool:
        network = ipaddress.ip_network(prefix)
        return any(
            each.version == network.version and network.subnet_of(each)  # type: ignore[arg-type]
            for each in around
        )

    return all(inside(prefix) for prefix in orig_prefixes)


def validate_dns_format(data: str) -> None:
    """Raise ValueError for what is no name in a domain."""
    if not data:
        return
    trimmed = data[:-1] if data.endswith(".") else data
    if len(trimmed) > FQDN_MAX_LEN:
        raise ValueError(f"'{trimmed}' exceeds the {FQDN_MAX_LEN} character FQDN limit")
    for label in trimmed.split("."):
        wrong = label.startswith("-") or label.endswith("-")
        if wrong or not re.match(DNS_LABEL_REGEX, label, re.IGNORECASE):
            raise ValueError(f"'{data}' not in valid format: '{label}' is no label of a name")
