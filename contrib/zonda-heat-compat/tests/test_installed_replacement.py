"""Servers, ports and key pairs let go of what their successors need, and get it back."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("zonda_heat_compat", reason="pip install contrib/zonda-heat-compat")
pytest.importorskip("openstack", reason="pip install 'contrib/zonda-heat-compat[openstack]'")

from zonda.hooks import NotReady
from zonda.hooks.testing import Lifecycle

from zonda_heat_compat import plugin, replacement
from zonda_heat_compat.adapter import adapted

assert plugin, "it lends the name heat"

pytestmark = pytest.mark.filterwarnings("ignore")


class Gone(Exception):
    """The error of a client for what is not there."""


class Killed(BaseException):
    """The end of the process."""


@contextlib.contextmanager
def ignore_gone() -> Iterator[None]:
    with contextlib.suppress(Gone):
        yield


class Nova:
    """Servers and their ports; a port that Nova has made goes when it is detached."""

    def __init__(self, **ports: str) -> None:
        self.ports = dict(ports)
        self.own = {name for name in ports if name.startswith("nova")}
        self.status = dict.fromkeys(ports.values(), "ACTIVE")
        self.ignore_not_found = ignore_gone()
        self.servers = self
        self.asked: list[Any] = []
        self.dies_after = -1

    def __getattribute__(self, name: str) -> Any:
        return ignore_gone() if name == "ignore_not_found" else super().__getattribute__(name)

    def get(self, key: str) -> Any:
        if key not in self.status:
            raise Gone(key)
        mine = [SimpleNamespace(port_id=port) for port, at in self.ports.items() if at == key]
        return SimpleNamespace(status=self.status[key], interface_list=lambda: mine)

    def _check_active(self, server: Any, name: str = "") -> bool:
        from heat.common import exception

        if isinstance(server, str):
            server = self.get(server)
        if server.status == "ERROR":
            raise exception.ResourceInError(resource_status="ERROR")
        return bool(server.status == "ACTIVE")

    def show_port(self, key: str) -> Any:
        if key not in self.ports:
            raise Gone(key)
        return {"port": {"id": key}}

    def interface_detach(self, server: str, port: str) -> bool:
        if self.ports.get(port) == server:
            if self.status[server] != "ACTIVE":
                raise RuntimeError("a server in ERROR has no port detached")
            self.ports[port] = ""
            if port in self.own:
                del self.ports[port]
        return True

    def interface_attach(self, server: str, port: str | None = None, **asked: Any) -> bool:
        if self.dies_after == 0:
            raise Killed
        self.dies_after -= 1
        self.asked.append(asked)
        port = port or asked.get("port_id")
        if port is None:
            port = f"nova-{len(self.ports)}"
            self.ports[port] = ""
            self.own.add(port)
        if self.ports[port]:
            raise RuntimeError(f"port {port} is in use")
        self.ports[port] = server
        return True

    def check_interface_detach(self, server: str, port: str) -> bool:
        return self.ports.get(port) != server

    def check_interface_attach(self, server: str, port: str) -> bool:
        return self.ports.get(port) == server


class Kept:
    """A part of a resource: what it stores, and a cloud."""

    name = "r"

    def __init__(self, cloud: Any, key: str | None, properties: Any) -> None:
        self.cloud, self.key, self.properties = cloud, key, properties
        self.stack: Any = SimpleNamespace()
        self.stack._backup_stack = lambda: SimpleNamespace(resources={"r": self.stack.former})
        self.kept: dict[str, str] = {}

    @property
    def resource_id(self) -> str | None:
        return self.key

    def client(self, name: str = "") -> Any:
        return self.cloud

    client_plugin = client

    def data(self) -> dict[str, str]:
        return dict(self.kept)

    def data_set(self, key: str, value: Any, redact: bool = False) -> None:
        self.kept[key] = value

    def data_delete(self, key: str) -> None:
        del self.kept[key]


def make(place: str, cls: str, cloud: Any, key: str | None, **properties: Any) -> Any:
    """A resource of a class of Heat's on a cloud of the test."""
    module = __import__(f"heat.engine.resources.openstack.{place}", fromlist=[cls])
    kind = getattr(module, cls)
    made = type(cls, (Kept, kind), {"__module__": kind.__module__})(cloud, key, properties)
    if cls == "Server" and key is not None:
        made.store_external_ports()
    return made


def make_server(cloud: Nova, key: str | None, *networks: dict[str, str]) -> Any:
    found = make("nova.server", "Server", cloud, key, networks=list(networks), security_groups=None)
    found._get_network_id = lambda net: net["network"]
    return found


def get_holding(heat: Any) -> replacement.Holding:
    return replacement._find_kind(type(heat))(heat)


PORT, PLAIN = {"port": "p"}, {"network": "n"}


def test_a_server_lets_go_of_its_port_and_gets_it_back() -> None:
    nova = Nova(p="old")
    old = make_server(nova, "old", PORT)
    get_holding(old).let_go()
    assert nova.ports == {"p": ""}
    nova.ports["p"], nova.status["new"] = "new", "ACTIVE"
    new = make_server(nova, "new", PORT)
    get_holding(old).take_back(new, lambda: None)
    assert nova.ports == {"p": "old"}
    assert list(old.kept) == ["external_ports"]


def test_a_server_without_a_given_port_or_address_keeps_its_interfaces() -> None:
    nova = Nova(nova1="old")
    old = make_server(nova, "old", PLAIN)
    get_holding(old).let_go()
    get_holding(old).take_back(None, lambda: make_server(nova, None, PLAIN))
    assert nova.ports == {"nova1": "old"}
    assert nova.asked == []


def test_nova_makes_the_interfaces_again_that_went_with_their_ports() -> None:
    nova = Nova(p="old", nova1="old")
    net = {**PLAIN, "fixed_ip": "10.0.0.5"}
    old = make_server(nova, "old", PORT, net)
    get_holding(old).let_go()
    assert nova.ports == {"p": ""}
    get_holding(old).take_back(None, lambda: make_server(nova, None, PORT, net))
    assert sorted(nova.ports.values()) == ["old", "old"]
    assert {"port_id": None, "net_id": "n", "fip": "10.0.0.5"} in nova.asked
    assert {each["id"] for each in json.loads(old.kept["external_ports"])} == set(nova.ports)


def test_a_restoration_that_was_cut_off_is_made_once_more() -> None:
    nova = Nova(p="old", q="old")
    old = make_server(nova, "old", PORT, {"port": "q"})
    get_holding(old).let_go()
    nova.dies_after = 1

    def make_unmade() -> Any:
        return make_server(nova, None, PORT)

    with pytest.raises(Killed):
        get_holding(old).take_back(None, make_unmade)
    nova.dies_after = -1
    get_holding(old).take_back(None, make_unmade)
    assert nova.ports == {"p": "old", "q": "old"}


def test_a_successor_that_is_being_built_is_waited_for() -> None:
    nova = Nova(p="old")
    old = make_server(nova, "old", PORT)
    get_holding(old).let_go()
    nova.status["new"] = "BUILD"
    new = make_server(nova, "new", PORT)
    with pytest.raises(NotReady):
        get_holding(old).take_back(new, lambda: None)
    assert nova.ports == {"p": ""}


@pytest.mark.parametrize("status", ["ERROR", None])
def test_a_successor_that_failed_or_is_gone_has_nothing(status: str | None) -> None:
    nova = Nova(p="old")
    old = make_server(nova, "old", PORT)
    get_holding(old).let_go()
    nova.status["new"] = "ACTIVE"
    new = make_server(nova, "new", PORT)
    del nova.status["new"]
    if status:
        nova.status["new"] = status
    get_holding(old).take_back(new, lambda: make_server(nova, None, PORT))
    assert nova.ports == {"p": "old"}


class Neutron:
    """A port's addresses; a request that was cut off may be asked for again."""

    def __init__(self, **ports: Any) -> None:
        self.ports = ports
        self.dies = False

    @property
    def ignore_not_found(self) -> Any:
        return ignore_gone()

    def update_port(self, key: str, body: Any) -> None:
        self.ports[key] = body["port"]["fixed_ips"]
        if self.dies:
            raise Killed


def make_port(neutron: Neutron, key: str | None) -> Any:
    port = make("neutron.port", "Port", neutron, key)
    port._show_resource = lambda: {"fixed_ips": neutron.ports[key]}
    return port


def test_the_address_of_a_port_survives_two_preparations() -> None:
    address = [{"ip_address": "10.0.0.5"}]
    neutron = Neutron(old=address)
    old = make_port(neutron, "old")
    neutron.dies = True
    with pytest.raises(Killed):
        get_holding(old).let_go()
    neutron.dies = False
    get_holding(old).let_go()
    neutron.ports["new"] = address
    get_holding(old).take_back(make_port(neutron, "new"), lambda: None)
    assert neutron.ports == {"old": address, "new": []}


class Keys(dict[str, str]):
    """Key pairs by name."""

    keypairs = property(lambda self: self)

    @property
    def ignore_not_found(self) -> Any:
        return ignore_gone()

    def get(self, name: str, default: Any = None) -> str:  # as Nova's client has it
        if name not in self:
            raise Gone(name)
        return self[name]

    def delete(self, name: str) -> None:
        del self[name]


@pytest.mark.parametrize(("successor", "made"), [("other", ["old"]), ("old", [])])
def test_a_key_pair_is_made_again_unless_its_successor_has_its_name(
    successor: str, made: list[str]
) -> None:
    keys = Keys(old="a")
    old = make("nova.keypair", "KeyPair", keys, "old")
    again: list[str] = []
    old.handle_create = lambda: again.append("old")
    get_holding(old).let_go()
    assert keys == {}
    keys[successor] = "b"
    get_holding(old).take_back(make("nova.keypair", "KeyPair", keys, successor), lambda: None)
    assert again == made


def test_a_type_of_a_stranger_is_told_before_its_successor_is_made() -> None:
    from heat.engine import properties, resource

    told: list[str] = []

    class Thing(resource.Resource):
        properties_schema = {"name": properties.Schema("String")}  # noqa: RUF012

        def handle_create(self) -> None:
            told.append(f"create {self.properties['name']}")
            self.resource_id_set("x")

        def prepare_for_replace(self) -> None:
            told.append(f"prepare {self.properties['name']}")

        def handle_delete(self) -> None:
            told.append(f"delete {self.properties['name']}")

    class Plain(resource.Resource):
        pass

    life = Lifecycle(adapted(Thing), {"name": "a"})
    life.create()
    assert life.update({"name": "b"}) == "replaced"
    assert told == ["create a", "prepare a", "create b", "delete a"]
    assert not hasattr(adapted(Plain), "prepare_for_replace")
