"""The questions to a service about types of Heat that tell no live state, or too little of it.

The types that connect two things are asked for both ends. Called by ``observing``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from .looking import raise_gone, show
from .observed_server import observe_server


def _observe_association(heat: Any) -> dict[str, Any]:
    id = heat.properties["floatingip_id"]
    found = show(heat, lambda: heat.client().show_floatingip(id))["floatingip"]
    if not found["port_id"]:
        raise_gone(heat)
    return {
        "floatingip_id": found["id"],
        "port_id": found["port_id"],
        "fixed_ip_address": found["fixed_ip_address"],
    }


def _observe_attachment(heat: Any) -> dict[str, Any]:
    server, volume = heat.properties["instance_uuid"], heat.properties["volume_id"]
    volumes = heat.client("nova").volumes
    found = show(heat, lambda: volumes.get_server_volume(server, volume), "nova")
    return {"instance_uuid": found.serverId, "volume_id": found.volumeId}


def _observe_interface(heat: Any) -> dict[str, Any]:
    router, subnet, port = (heat.properties[name] for name in ("router", "subnet", "port"))
    for each in heat.client().list_ports(device_id=router)["ports"]:
        subnets = [address["subnet_id"] for address in each["fixed_ips"]]
        if each["id"] == port or subnet in subnets:
            return {"router": router, "subnet": subnet, "port": port}
    return dict(raise_gone(heat))


def _observe_gateway(heat: Any) -> dict[str, Any]:
    router = heat.properties["router_id"]
    found = show(heat, lambda: heat.client().show_router(router))["router"]
    gateway = found["external_gateway_info"] or raise_gone(heat)
    return {"router_id": router, "network": gateway["network_id"]}


def _observe_routes(heat: Any) -> dict[str, Any]:
    router = heat.properties["router"]
    found = show(heat, lambda: heat.client().show_router(router))["router"]["routes"]
    wanted = [dict(each) for each in heat.properties["routes"]]
    return {"router": router, "routes": [each for each in found if each in wanted]}


def _observe_route(heat: Any) -> dict[str, Any]:
    router = heat.properties["router_id"]
    route = {name: heat.properties[name] for name in ("destination", "nexthop")}
    found = show(heat, lambda: heat.client().show_router(router))["router"]["routes"]
    return {"router_id": router, **route} if route in found else dict(raise_gone(heat))


def _observe_forwarding(heat: Any) -> dict[str, Any]:
    id, address = heat.resource_id, heat.properties["floating_ip"]
    network = heat.client().network
    found = show(heat, lambda: network.get_port_forwarding(id, address)).to_dict()
    return {
        "floating_ip": address,
        "internal_port": found["internal_port_id"],
        "internal_port_number": found["internal_port"],
        **{name: found[name] for name in ("external_port", "internal_ip_address", "protocol")},
    }


def _observe_secret(heat: Any) -> dict[str, Any]:
    """A secret, an order or a container of Barbican, which never change: whether it is there."""
    kept = getattr(heat.client(), heat.entity).get(heat.resource_id)
    found = {"name": show(heat, lambda: kept.name)}  # it is asked for when it is read
    if heat.entity == "secrets":
        found["payload_content_type"] = kept.payload_content_type
    return found


def _observe_segment(heat: Any) -> dict[str, Any]:
    found = show(heat, heat._show_resource, "openstack")
    names = ("name", "description", "network_type", "physical_network", "segmentation_id")
    return {"network": found["network_id"], **{name: found[name] for name in names}}


def _observe_quota(heat: Any) -> dict[str, Any]:
    """The limits of a project: its name is not that of the resource, as Heat takes it."""
    project = heat.properties["project"]
    if type(heat).__name__ == "NeutronQuota":
        found = heat.client().show_quota(project)["quota"]
    else:
        found = heat.client().quotas.get(project).to_dict()
    limits = {name: found[name] for name in heat.properties if name in found}
    return {**limits, "project": project}


def _observe_specs(heat: Any) -> dict[str, Any]:
    """The volume types of a set of specs, as far as the resource has associated them."""
    specs, wanted = (heat.properties[name] for name in ("qos_specs", "volume_types"))
    found = show(heat, lambda: heat.client().qos_specs.get_associations(specs))
    ids = {each.id for each in found}
    return {"qos_specs": specs, "volume_types": [each for each in wanted if each in ids]}


def _observe_user_roles(heat: Any) -> dict[str, Any]:
    user = heat.user_id or raise_gone(heat)
    return {"user": heat.properties["user"], "roles": list(_list_wanted_roles(heat, user_id=user))}


def _observe_group_roles(heat: Any) -> dict[str, Any]:
    group = heat.group_id or raise_gone(heat)
    roles = list(_list_wanted_roles(heat, group_id=group))
    return {"group": heat.properties["group"], "roles": roles}


def _list_wanted_roles(heat: Any, **whose: str) -> Iterable[dict[str, Any]]:
    """The assignments of the template that there are, in its words."""
    there = show(heat, lambda: heat.parse_list_assignments(**whose))
    wanted = heat.properties["roles"] or []
    for each, normal in zip(wanted, heat._normalize_to_id(wanted), strict=True):
        if normal in there:
            yield dict(each)


def _observe_rules(heat: Any, data: Mapping[str, Any]) -> dict[str, Any]:
    """The rules of a security group; those that Neutron gives to each one do not count."""
    rules = []
    egress = any(each["direction"] == "egress" for each in heat.properties["rules"])
    for rule in data["security_group_rules"]:
        if rule["direction"] == "egress" and not egress and rule["remote_ip_prefix"] is None:
            continue
        mode = "remote_group_id" if rule["remote_group_id"] else "remote_ip_prefix"
        names = ("direction", "ethertype", "protocol", "port_range_min", "port_range_max")
        told = {name: rule[name] for name in (*names, "remote_group_id", "remote_ip_prefix")}
        rules.append({**told, "remote_mode": mode, "description": rule["description"] or None})
    return {"rules": rules}


def _observe_roles(heat: Any, whose: str) -> dict[str, Any]:
    """The roles of a user or a group, those of the template in its words."""
    there = heat.parse_list_assignments(**{whose: heat.resource_id})
    wanted = heat.properties["roles"] or []
    for each, normal in zip(wanted, heat._normalize_to_id(wanted), strict=True):
        there = [dict(each) if one == normal else one for one in there]
    return {"roles": there}


def _observe_flavor(heat: Any, data: Any) -> dict[str, Any]:
    shown = show(heat, lambda: heat.client().flavors.get(heat.resource_id)).to_dict()
    names = ("name", "ram", "vcpus", "disk", "rxtx_factor")
    return {
        **{name: shown[name] for name in names},
        "swap": shown["swap"] or 0,
        "ephemeral": shown["OS-FLV-EXT-DATA:ephemeral"],
        "is_public": shown["os-flavor-access:is_public"],
    }


def _observe_volume(heat: Any, data: Mapping[str, Any]) -> dict[str, Any]:
    """The type of a volume, which Cinder tells by its name, in the template's words."""
    wanted, told = heat.properties["volume_type"], data.get("volume_type")
    is_other = wanted and told and wanted != told
    is_same = is_other and heat.client_plugin().get_volume_type(told) == wanted
    return {"volume_type": wanted if is_same else told}


def _observe_image(heat: Any, data: Mapping[str, Any]) -> dict[str, Any]:
    return {"active": data["status"] == "active"}


#: The questions for the whole live state, by the name of Heat's class.
OBSERVERS: Final[Mapping[str, Callable[[Any], dict[str, Any]]]] = {
    "FloatingIPAssociation": _observe_association,
    "FloatingIPPortForward": _observe_forwarding,
    "CinderVolumeAttachment": _observe_attachment,
    "RouterInterface": _observe_interface,
    "RouterGateway": _observe_gateway,
    "ExtraRoute": _observe_route,
    "ExtraRouteSet": _observe_routes,
    "Secret": _observe_secret,
    "Order": _observe_secret,
    "GenericContainer": _observe_secret,
    "CertificateContainer": _observe_secret,
    "RSAContainer": _observe_secret,
    "Segment": _observe_segment,
    "NovaQuota": _observe_quota,
    "CinderQuota": _observe_quota,
    "NeutronQuota": _observe_quota,
    "QoSAssociation": _observe_specs,
    "KeystoneUserRoleAssignment": _observe_user_roles,
    "KeystoneGroupRoleAssignment": _observe_group_roles,
    "Server": observe_server,
}
#: The questions for what Heat's type does not tell of itself, or tells otherwise than it is.
ADDITIONS: Final[Mapping[str, Callable[[Any, Any], dict[str, Any]]]] = {
    "SecurityGroup": _observe_rules,
    "KeystoneUser": lambda heat, data: _observe_roles(heat, "user_id"),
    "KeystoneGroup": lambda heat, data: _observe_roles(heat, "group_id"),
    "NovaFlavor": _observe_flavor,
    "GlanceWebImage": _observe_image,
    "CinderVolume": _observe_volume,
}
