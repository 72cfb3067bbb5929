"""Plausible values of what a simulated resource would tell: the same ones for the same resource."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from zonda.hooks.hashes import blake2b
from zonda.hooks.schema.attributes import Schema

#: The beginning of the physical ids of what is not there.
PREFIX: Final = "simulated-"
#: The classes of values of each type of attribute that is no text.
_CLASSES: Final[Mapping[str, Any]] = {"List": list, "Map": Mapping}


def make_physical_id(uuid: str) -> str:
    """The physical id of a resource."""
    return f"{PREFIX}{uuid}"


def make_attribute(
    name: str, schema: Schema | None, properties: Mapping[str, Any], physical_id: str
) -> Any:
    """The value of an attribute.

    That of the property of its name, else what is usual for an attribute of that name (addresses
    of networks for documentation, ``ACTIVE``), else something of its type.
    """
    kind = schema.type if schema is not None and schema.type is not None else "String"
    given, make = properties.get(name), _BY_NAME.get(name)
    if isinstance(given, _CLASSES.get(kind, object)) and given is not None:
        return given
    if make is not None:
        return make(properties, physical_id)
    if kind == "String":
        return f"{name} of {physical_id}"
    return {"Number": 1.0, "Boolean": True, "List": [], "Map": {}}.get(kind)


def _hash(physical_id: str) -> bytes:
    return blake2b(physical_id.encode(), digest_size=4).digest()


def _make_address(properties: Mapping[str, Any], physical_id: str) -> str:
    """An address of TEST-NET-1."""
    return f"192.0.2.{_hash(physical_id)[0] % 254 + 1}"


def _make_public_address(properties: Mapping[str, Any], physical_id: str) -> str:
    """An address of TEST-NET-3."""
    return f"203.0.113.{_hash(physical_id)[0] % 254 + 1}"


def _make_mac(properties: Mapping[str, Any], physical_id: str) -> str:
    return "fa:16:3e:" + ":".join(f"{each:02x}" for each in _hash(physical_id)[:3])


def _list_networks(properties: Mapping[str, Any]) -> list[str]:
    """The networks of a server, by name or id; those of its ports are not known."""
    given = properties.get("networks")
    items = given if isinstance(given, list) else []
    named = (item.get("network") or item.get("uuid") for item in items if isinstance(item, Mapping))
    return [str(each) for each in named if each] or ["network"]


def _make_networks(properties: Mapping[str, Any], physical_id: str) -> dict[str, list[str]]:
    return {
        each: [_make_address(properties, f"{physical_id}/{each}")]
        for each in _list_networks(properties)
    }


def _make_addresses(properties: Mapping[str, Any], physical_id: str) -> dict[str, Any]:
    return {
        network: [
            {
                "addr": each,
                "version": 4,
                "OS-EXT-IPS:type": "fixed",
                "OS-EXT-IPS-MAC:mac_addr": _make_mac(properties, each),
                "port": make_physical_id(f"port-of-{physical_id.removeprefix(PREFIX)}"),
            }
            for each in found
        ]
        for network, found in _make_networks(properties, physical_id).items()
    }


def _make_fixed_ips(properties: Mapping[str, Any], physical_id: str) -> list[dict[str, str]]:
    subnet = make_physical_id(f"subnet-of-{physical_id.removeprefix(PREFIX)}")
    return [{"subnet_id": subnet, "ip_address": _make_address(properties, physical_id)}]


def _make_first_address(properties: Mapping[str, Any], physical_id: str) -> str:
    return next(iter(_make_networks(properties, physical_id).values()))[0]


_BY_NAME: Final[Mapping[str, Callable[[Mapping[str, Any], str], Any]]] = {
    "id": lambda properties, physical_id: physical_id,
    "name": lambda properties, physical_id: physical_id,
    "status": lambda properties, physical_id: "ACTIVE",
    "state": lambda properties, physical_id: "ACTIVE",
    "accessIPv4": _make_first_address,
    "addresses": _make_addresses,
    "first_address": _make_first_address,
    "fixed_ip_address": _make_address,
    "fixed_ips": _make_fixed_ips,
    "floating_ip_address": _make_public_address,
    "gateway_ip": _make_address,
    "ip": _make_public_address,
    "ip_address": _make_address,
    "mac_address": _make_mac,
    "networks": _make_networks,
    "vip_address": _make_address,
}
