"""The live state of types that tell Heat none."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("zonda_heat_compat", reason="pip install contrib/zonda-heat-compat")

from zonda_heat_compat import observing

RULE = {
    "direction": "ingress",
    "ethertype": "IPv4",
    "protocol": "tcp",
    "port_range_min": 22,
    "port_range_max": 22,
    "remote_group_id": None,
    "remote_ip_prefix": None,
    "description": "",
}
EGRESS = {**RULE, "direction": "egress", "protocol": None}


class Neutron:
    def __init__(self, **shown: Any) -> None:
        self.shown = shown

    def show_floatingip(self, id: str) -> Any:
        return {"floatingip": self.shown}

    def list_ports(self, device_id: str) -> Any:
        return {"ports": self.shown["ports"]}


class Heat:
    name = "r"

    def __init__(self, properties: dict[str, Any], data: Any = None, **shown: Any) -> None:
        self.properties, self.data, self.shown = properties, data, shown

    def client(self) -> Neutron:
        return Neutron(**self.shown)

    def get_live_resource_data(self) -> Any:
        return self.data

    def parse_live_resource_data(self, properties: Any, data: Any) -> Any:
        return {"told": 1}


def observe(kind: str, *given: Any, **shown: Any) -> dict[str, Any]:
    return observing.observe(type(kind, (Heat,), {})(*given, **shown))


def test_a_service_is_read_by_the_names_of_properties() -> None:
    data = {"cidr": "10.0.0.0/24", "network_id": "n", "tags": ["a"], "other": 1}
    found = observe("Subnet", {"cidr": None, "network": None, "tags": None}, data)
    assert found == {"told": 1, "cidr": "10.0.0.0/24", "network": "n"}


def test_rules_of_a_group_are_told_without_those_of_every_group() -> None:
    data = {"security_group_rules": [RULE, EGRESS]}
    (rule,) = observe("SecurityGroup", {"rules": [{"direction": "ingress"}]}, data)["rules"]
    assert (rule["port_range_min"], rule["remote_mode"]) == (22, "remote_ip_prefix")
    both = observe("SecurityGroup", {"rules": [{"direction": "egress"}]}, data)["rules"]
    assert len(both) == 2


def test_an_address_that_was_moved_or_released() -> None:
    properties = {"floatingip_id": "f", "port_id": "p"}
    moved = {"id": "f", "port_id": "q", "fixed_ip_address": "10.0.0.1"}
    assert observe("FloatingIPAssociation", properties, **moved)["port_id"] == "q"
    with pytest.raises(Exception, match="could not be found"):
        observe("FloatingIPAssociation", properties, id="f", port_id=None)


def test_a_router_that_was_unplugged() -> None:
    properties = {"router": "r", "subnet": "s", "port": None}
    plug = {"id": "x", "fixed_ips": [{"subnet_id": "s"}]}
    assert observe("RouterInterface", properties, ports=[plug])["subnet"] == "s"
    with pytest.raises(Exception, match="could not be found"):
        observe("RouterInterface", properties, ports=[])
