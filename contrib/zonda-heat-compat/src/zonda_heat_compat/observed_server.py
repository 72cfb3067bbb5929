"""The live state of a server: its flavor, its image, and the interfaces that it has.

Called by ``observers``. Heat's own type cannot tell of a server without an image, and knows its
networks by name only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from heat.common import exception

from .looking import show

#: The keys of an item of ``networks`` that say which interface is meant.
_KEYS = ("port", "network", "uuid", "subnet", "fixed_ip")


def observe_server(heat: Any) -> dict[str, Any]:
    """The live state; of a server that zonda has suspended, too."""
    servers, props = heat.client().servers, heat.properties
    server = show(heat, lambda: servers.get(heat.resource_id))
    if server.status == "SUSPENDED" and heat.stack.last_action == heat.SUSPEND:
        data = server.to_dict()
    else:
        server, data = heat.get_live_resource_data()
    flavor, image = data["flavor"], data["image"]
    found = {
        "name": data["name"],
        "flavor": str(flavor.get("id") or flavor.get("original_name")),
        "metadata": data["metadata"],
    }
    if image:  # else it boots from a volume
        found["image"] = str(image["id"])
    if "tags" in data:
        found["tags"] = data["tags"]
    wanted = props["networks"] or []
    if wanted and not any(each["allocate_network"] for each in wanted):
        found["networks"] = list(_list_networks(server.interface_list(), wanted))
    if props["security_groups"]:
        found.update(_observe_groups(heat, {each["port"] for each in wanted}))
    return found


def _list_networks(interfaces: list[Any], wanted: list[Any]) -> Iterator[dict[str, Any]]:
    """The networks in the template's words, and interfaces of which it says nothing."""
    left = [_describe(each) for each in interfaces]
    for each in wanted:
        given = {key: each[key] for key in _KEYS if each[key]}
        same = next((one for one in left if _fits(one, given)), None)
        if same is not None:
            left.remove(same)
            yield {**each}
    for one in left:
        yield {key: min(one[key]) for key in ("port", "network", "fixed_ip") if one[key]}


def _describe(interface: Any) -> Mapping[str, set[Any]]:
    """The values that an item of ``networks`` may have for an interface."""
    addresses = interface.fixed_ips or []
    return {
        "port": {interface.port_id},
        "network": {interface.net_id},
        "uuid": {interface.net_id},
        "subnet": {each["subnet_id"] for each in addresses},
        "fixed_ip": {each["ip_address"] for each in addresses},
    }


def _fits(interface: Mapping[str, set[Any]], given: Mapping[str, Any]) -> bool:
    return all(value in interface[key] for key, value in given.items())


def _observe_groups(heat: Any, own_ports: set[Any]) -> dict[str, Any]:
    """The security groups of the ports that Nova has made; none where it has made none."""
    neutron = heat.client_plugin("neutron")
    ports = neutron.client().list_ports(device_id=heat.resource_id)["ports"]
    made = [each["security_groups"] for each in ports if each["id"] not in own_ports]
    if not made:
        return {}
    wanted, there = heat.properties["security_groups"], {id for ids in made for id in ids}
    ids = {each: _find_group(neutron, each) for each in wanted}
    more = sorted(there - set(ids.values()))
    return {"security_groups": [*(each for each in wanted if ids[each] in there), *more]}


def _find_group(neutron: Any, name: str) -> str:
    """The id of a security group; '' where it is gone, or none of several of that name."""
    try:
        (found,) = neutron.get_secgroup_uuids([name])
    except (exception.EntityNotFound, exception.PhysicalResourceNameAmbiguity):
        return ""
    return str(found)
