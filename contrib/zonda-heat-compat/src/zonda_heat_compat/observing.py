"""The live state of the types of Heat that tell none, or less than the service knows.

Heat asks a service for what an update may change. What else it tells by the name of a property is
added here, and the types that connect two things are asked for both ends. Called by ``adapter``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from heat.common import exception
from heat.engine.resource import Resource

from .live import match_template

#: The properties by type whose names mean something else in the service.
_OTHERWISE: Final[Mapping[str, frozenset[str]]] = {
    "Net": frozenset({"shared"}),
    "HostAggregate": frozenset({"metadata"}),
}


def tell(heat: Any) -> dict[str, Any] | None:
    """The live state in the template's words; None where the type cannot tell."""
    kind = type(heat)
    own = kind.get_live_state is not Resource.get_live_state
    asks = kind.get_live_resource_data is not Resource.get_live_resource_data
    has_client = heat.entity and heat.default_client_name
    if not (own or asks or has_client or kind.__name__ in _OBSERVERS):
        return None
    live = heat.get_live_state(heat.properties) if own else observe(heat)
    rules = heat.translation_rules(heat.properties) or ()
    return match_template(live, heat.properties.get, rules) if live else None


def observe(heat: Any) -> dict[str, Any]:
    """The properties as they are, by Heat's own type and by what is known of it here.

    Raises EntityNotFound where the thing is gone.
    """
    kind = type(heat).__name__
    own = _OBSERVERS.get(kind)
    if own is not None:
        return own(heat)
    data = heat.get_live_resource_data()
    if data is None:
        return {}
    found = dict(heat.parse_live_resource_data(heat.properties, data) or {})
    if isinstance(data, Mapping):
        for name in heat.properties:
            if name not in found and name not in _OTHERWISE.get(kind, ()):
                found.update(_read_plain(data, name))
    more = _ADDITIONS.get(kind)
    return {**found, **more(heat, data)} if more is not None else found


def _read_plain(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    for key in (name, f"{name}_id"):
        if isinstance(data.get(key), str | int | float):
            return {name: data[key]}
    return {}


def _raise_gone(heat: Any) -> Any:
    raise exception.EntityNotFound(entity="Resource", name=heat.name)


def _show(heat: Any, ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except Exception as error:
        if heat.client_plugin().is_not_found(error):
            _raise_gone(heat)
        raise


def _observe_association(heat: Any) -> dict[str, Any]:
    id = heat.properties["floatingip_id"]
    found = _show(heat, lambda: heat.client().show_floatingip(id))["floatingip"]
    if not found["port_id"]:
        _raise_gone(heat)
    return {
        "floatingip_id": found["id"],
        "port_id": found["port_id"],
        "fixed_ip_address": found["fixed_ip_address"],
    }


def _observe_attachment(heat: Any) -> dict[str, Any]:
    server, volume = heat.properties["instance_uuid"], heat.properties["volume_id"]
    volumes = heat.client("nova").volumes
    try:
        found = volumes.get_server_volume(server, volume)
    except Exception as error:
        if heat.client_plugin("nova").is_not_found(error):
            _raise_gone(heat)
        raise
    return {"instance_uuid": found.serverId, "volume_id": found.volumeId}


def _observe_interface(heat: Any) -> dict[str, Any]:
    router, subnet, port = (heat.properties[name] for name in ("router", "subnet", "port"))
    for each in heat.client().list_ports(device_id=router)["ports"]:
        subnets = [address["subnet_id"] for address in each["fixed_ips"]]
        if each["id"] == port or subnet in subnets:
            return {"router": router, "subnet": subnet, "port": port}
    return dict(_raise_gone(heat))


def _observe_gateway(heat: Any) -> dict[str, Any]:
    router = heat.properties["router_id"]
    found = _show(heat, lambda: heat.client().show_router(router))["router"]
    gateway = found["external_gateway_info"] or _raise_gone(heat)
    return {"router_id": router, "network": gateway["network_id"]}


def _observe_routes(heat: Any) -> dict[str, Any]:
    router = heat.properties["router"]
    found = _show(heat, lambda: heat.client().show_router(router))["router"]["routes"]
    wanted = [dict(each) for each in heat.properties["routes"]]
    return {"router": router, "routes": [each for each in found if each in wanted]}


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


_OBSERVERS: Final[Mapping[str, Callable[[Any], dict[str, Any]]]] = {
    "FloatingIPAssociation": _observe_association,
    "CinderVolumeAttachment": _observe_attachment,
    "RouterInterface": _observe_interface,
    "RouterGateway": _observe_gateway,
    "ExtraRouteSet": _observe_routes,
}
_ADDITIONS: Final[Mapping[str, Callable[[Any, Any], dict[str, Any]]]] = {
    "SecurityGroup": _observe_rules,
}
