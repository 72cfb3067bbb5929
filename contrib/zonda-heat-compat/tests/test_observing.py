"""The live state of types that tell Heat none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("zonda_heat_compat", reason="pip install contrib/zonda-heat-compat")

from zonda.hooks import OpaqueState

import zonda_heat_compat.plugin
from zonda_heat_compat import observing

assert zonda_heat_compat.plugin, "it lends the name heat"

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
PORTS = [
    {"id": "p", "security_groups": ["id-mine"]},
    {"id": "q", "security_groups": ["id-web", "id-more"]},
]
EGRESS = {**RULE, "direction": "egress", "protocol": None}


class Neutron:
    def __init__(self, **shown: Any) -> None:
        self.shown = shown

    def show_floatingip(self, id: str) -> Any:
        return {"floatingip": self.shown}

    def list_ports(self, device_id: str) -> Any:
        return {"ports": self.shown["ports"]}


class Plugin:
    """A client plug-in, whose service has nothing but what is asked for."""

    def is_not_found(self, error: Exception) -> bool:
        return isinstance(error, KeyError)

    def client(self) -> Any:
        return SimpleNamespace(list_ports=lambda device_id: {"ports": PORTS})

    def get_secgroup_uuids(self, names: list[str]) -> list[str]:
        return [f"id-{name}" for name in names]


class Heat:
    name = "r"
    resource_id = "id"
    external_id: str | None = None
    SUSPEND = "SUSPEND"
    stack = SimpleNamespace(last_action="CREATE")

    def __init__(self, properties: dict[str, Any], data: Any = None, **shown: Any) -> None:
        self.properties, self.data, self.shown = properties, data, shown

    def client(self, name: str | None = None) -> Any:
        return self.shown.get("client") or Neutron(**self.shown)

    def client_plugin(self, name: str | None = None) -> Any:
        return Plugin()

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


NETWORK = dict.fromkeys(("port", "network", "uuid", "subnet", "fixed_ip", "allocate_network"))


def make_interface(port: str, subnet: str) -> Any:
    fixed_ips = [{"subnet_id": subnet, "ip_address": "10.0.0.3"}]
    return SimpleNamespace(port_id=port, net_id="n", fixed_ips=fixed_ips)


def observe_server(properties: dict[str, Any], **shown: Any) -> dict[str, Any]:
    data = {"name": "web", "flavor": {"id": 1}, "metadata": {}, "image": "", **shown}
    interfaces = [make_interface("p", "s"), make_interface("q", "t")]
    server = SimpleNamespace(
        status=data.pop("status", "ACTIVE"),
        to_dict=lambda: data,
        interface_list=lambda: interfaces,
    )
    client = SimpleNamespace(servers=SimpleNamespace(get=lambda id: server))
    given = {"networks": None, "security_groups": None, **properties}
    return observe("Server", given, (server, data), client=client)


def test_a_server_that_boots_from_a_volume_has_no_image() -> None:
    assert observe_server({}) == {"name": "web", "flavor": "1", "metadata": {}}
    assert observe_server({}, image={"id": "i"})["image"] == "i"


def test_a_server_that_was_suspended_is_observed_as_one_that_runs() -> None:
    stack = SimpleNamespace(last_action="SUSPEND")
    kind = type("Server", (Heat,), {"stack": stack, "get_live_resource_data": None})
    data = {"name": "web", "flavor": {"id": 1}, "metadata": {}, "image": ""}
    server = SimpleNamespace(status="SUSPENDED", to_dict=lambda: data)
    client = SimpleNamespace(servers=SimpleNamespace(get=lambda id: server))
    found = observing.observe(kind({"networks": None, "security_groups": None}, client=client))
    assert found["flavor"] == "1"


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ([{"subnet": "s"}, {"port": "q"}], [{"subnet": "s"}, {"port": "q"}]),
        (
            [{"network": "n", "fixed_ip": "10.0.0.3"}, {"port": "r"}],
            [{"network": "n", "fixed_ip": "10.0.0.3"}, {"port": "q"}],
        ),
    ],
)
def test_the_networks_of_a_server_are_told_in_the_words_of_the_template(
    wanted: list[Any], found: list[Any]
) -> None:
    networks = observe_server({"networks": [{**NETWORK, **each} for each in wanted]})["networks"]
    assert [each | given == each for each, given in zip(networks, found, strict=True)] == [True] * 2


def test_the_security_groups_of_ports_that_nova_has_made() -> None:
    networks = [{**NETWORK, "port": "p"}]
    told = observe_server({"networks": networks, "security_groups": ["web", "db"]})
    assert told["security_groups"] == ["web", "id-more"]


def test_roles_are_told_in_the_words_of_the_template() -> None:
    wanted = [{"role": "member"}, {"role": "admin"}]
    there = [{"role": "id-member"}, {"role": "id-other"}]
    body = {
        "parse_list_assignments": lambda self, **whose: [dict(each) for each in there],
        "_normalize_to_id": lambda self, roles: [{"role": f"id-{each['role']}"} for each in roles],
        "user_id": "u",
    }
    for kind in ("KeystoneUser", "KeystoneGroup"):
        heat = type(kind, (Heat,), body)({"roles": wanted}, {"id": "u"})
        assert observing.observe(heat)["roles"] == [{"role": "member"}, {"role": "id-other"}]
    assigned = type("KeystoneUserRoleAssignment", (Heat,), body)({"user": "u", "roles": wanted})
    assert observing.observe(assigned)["roles"] == [{"role": "member"}]
    body["user_id"] = None
    with pytest.raises(Exception, match="could not be found"):
        observing.observe(type("KeystoneUserRoleAssignment", (Heat,), body)({"user": "u"}))


def test_a_route_that_was_taken_from_its_router() -> None:
    route = {"destination": "10.1.0.0/24", "nexthop": "10.0.0.9"}
    client = SimpleNamespace(show_router=lambda id: {"router": {"routes": routes}})
    routes = [route]
    assert observe("ExtraRoute", {"router_id": "r", **route}, client=client)["router_id"] == "r"
    routes.clear()
    with pytest.raises(Exception, match="could not be found"):
        observe("ExtraRoute", {"router_id": "r", **route}, client=client)


def test_a_secret_that_is_gone() -> None:
    class Kept:
        payload_content_type = "text/plain"

        @property
        def name(self) -> str:
            return {"there": "s"}[Secret.resource_id]

    class Secret(Heat):
        entity = "secrets"
        resource_id = "there"

    client = SimpleNamespace(secrets=SimpleNamespace(get=lambda id: Kept()))
    told = {"name": "s", "payload_content_type": "text/plain"}
    assert observing.observe(Secret({}, client=client)) == told
    Secret.resource_id = "gone"
    with pytest.raises(Exception, match="could not be found"):
        observing.observe(Secret({}, client=client))


def test_a_quota_is_that_of_its_project() -> None:
    limits = SimpleNamespace(to_dict=lambda: {"volumes": 5, "id": "p"})
    client = SimpleNamespace(quotas=SimpleNamespace(get=lambda project: limits))
    found = observe("CinderQuota", {"project": "p", "volumes": 5, "gigabytes": None}, client=client)
    assert found == {"project": "p", "volumes": 5}


def test_volume_types_that_are_no_longer_associated() -> None:
    there = [SimpleNamespace(id="a"), SimpleNamespace(id="b")]
    specs = SimpleNamespace(get_associations=lambda id: there)
    properties = {"qos_specs": "s", "volume_types": ["b", "c"]}
    found = observe("QoSAssociation", properties, client=SimpleNamespace(qos_specs=specs))
    assert found["volume_types"] == ["b"]


def test_a_thing_whose_template_leaves_all_open_is_in_sync_while_it_is_there() -> None:
    class Group(Heat):
        entity = default_client_name = "x"
        get_live_state = None

        def translation_rules(self, properties: Any) -> Any:
            return None

    Group.__name__ = "SecurityGroup"
    Group.get_live_state = observing.Resource.get_live_state
    data = {"security_group_rules": [RULE]}
    told = observing.tell(Group({"rules": [], "name": None}, data))
    assert isinstance(told, OpaqueState)
    assert told.in_sync
    assert observing.tell(Group({"rules": [], "name": None}, None)) is None


def test_of_a_thing_that_is_only_referred_to_is_told_that_it_is_there() -> None:
    class Server(Heat):
        external_id, entity, default_client_name = "s", "servers", "nova"
        get_live_state = observing.Resource.get_live_state
        get_live_resource_data = observing.Resource.get_live_resource_data
        _show_resource = Heat.get_live_resource_data

        def _default_client_plugin(self) -> Any:
            return Plugin()

    assert observing.tell(Server({}, {"id": "s"})) == OpaqueState({}, in_sync=True)

    def refuse(self: Any) -> Any:
        raise KeyError("s")

    Server._show_resource = refuse  # type: ignore[method-assign]
    with pytest.raises(Exception, match="could not be found"):
        observing.tell(Server({}))


@pytest.mark.parametrize(
    ("wanted", "told", "seen"),
    [("id-fast", "fast", "id-fast"), ("fast", "fast", "fast"), ("id-slow", "fast", "fast")],
)
def test_the_type_of_a_volume_by_name_or_id(wanted: str, told: str, seen: str) -> None:
    class CinderVolume(Heat):
        def client_plugin(self, name: str | None = None) -> Any:
            return SimpleNamespace(get_volume_type=lambda name: f"id-{name}")

    data = {"volume_type": told}
    found = observing.observe(CinderVolume({"volume_type": wanted}, data))
    assert found["volume_type"] == seen
