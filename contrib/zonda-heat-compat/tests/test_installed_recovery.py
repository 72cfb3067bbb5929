"""Things made by a handler that was cut off are found and removed."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("zonda_heat_compat", reason="pip install contrib/zonda-heat-compat")
pytest.importorskip("openstack", reason="pip install 'contrib/zonda-heat-compat[openstack]'")

from zonda.hooks import NotReady, ResourceDefinition, ResourceFailure, ResourceState

from zonda_heat_compat import plugin, recovery
from zonda_heat_compat.adapter import Adapted, adapted
from zonda_heat_compat.marks import KEY, format_description

assert plugin, "it lends the name heat"

MINE = format_description("u")


class Service:
    """A service with one collection; a thing is gone one look after its removal."""

    def __init__(self, things: list[dict[str, Any]]) -> None:
        self.things = things
        self.removed: list[str] = []

    def get(self, path: str, params: Any) -> Any:
        shown = [each for each in self.things if each["id"] not in self.removed]
        return SimpleNamespace(status_code=200, json=lambda: {"things": shown})

    def delete(self, path: str) -> None:
        self.removed.append(path.rpartition("/")[2])


class Heat:
    """A resource of Heat's, as recovery sees it."""

    uuid = "u"

    def __init__(self, service: Service, **properties: Any) -> None:
        cloud = SimpleNamespace(connection=SimpleNamespace(network=service, compute=service))
        self.context = SimpleNamespace(cloud=cloud)
        self.properties = properties
        self.resource_id: str | None = None
        self.deleted: list[str | None] = []
        self.kept: dict[str, str] = {"internal_ports": "[]"}

    def type(self) -> str:
        return "OS::Neutron::Port"

    def physical_resource_name(self) -> str:
        return "stack-port-abc"

    def resource_id_set(self, value: str | None) -> None:
        self.resource_id = value

    def data(self) -> dict[str, str]:
        return dict(self.kept)

    def data_delete(self, key: str) -> None:
        del self.kept[key]

    def handle_delete(self) -> None:
        self.deleted.append(self.resource_id)


def undo(heat: Heat, way: str) -> int:
    """The number of calls until nothing is left."""
    made = recovery.Recovery(heat, recovery.WAYS[way])
    for number in range(1, 100):
        try:
            made.undo_creation()
        except NotReady:
            continue
        return number
    raise AssertionError("it never ends")


def test_what_bears_the_mark_is_removed_and_nothing_else() -> None:
    service = Service([{"id": "a", "description": MINE}, {"id": "b", "description": "other"}])
    heat = Heat(service, name="web")
    undo(heat, "Port")
    assert service.removed == ["a"]
    assert heat.kept == {}


def test_a_server_and_its_ports_are_found_by_metadata_and_description() -> None:
    service = Service([{"id": "s", "metadata": {KEY: "u"}}, {"id": "p", "description": MINE}])
    undo(Heat(service, name="web", metadata=None), "Server")
    assert set(service.removed) == {"s", "p"}


def test_a_late_answer_is_waited_for() -> None:
    service = Service([])
    assert undo(Heat(service, name=None), "Net") == recovery.LOOKS


def test_a_name_of_zonda_is_enough_where_the_template_has_the_description() -> None:
    service = Service([{"id": "a", "name": "stack-port-abc"}, {"id": "b", "name": "web"}])
    undo(Heat(service, name=None, description="mine"), "SecurityGroup")
    assert service.removed == ["a"]


def test_what_cannot_be_told_from_others_is_left_and_named() -> None:
    service = Service([{"id": "b", "name": "web"}])
    with pytest.raises(ResourceFailure, match=r"Look for OS::Neutron::Port named web"):
        undo(Heat(service, name="web", description="mine"), "SecurityGroup")
    with pytest.raises(ResourceFailure, match="named web"):
        undo(Heat(service, name="web"), "ServerGroup")
    with pytest.raises(ResourceFailure):
        undo(Heat(service, name="web", value_specs={"description": "mine"}), "Port")
    assert service.removed == []


def test_what_connects_two_things_is_known_by_them() -> None:
    heat = Heat(Service([]), router="r", subnet="s", port=None)
    undo(heat, "RouterInterface")
    assert heat.deleted == ["r:subnet_id=s"]
    assert heat.resource_id is None


def test_a_removal_takes_several_polls() -> None:
    heat = Heat(Service([]), volume_id="v")
    polled: list[Any] = []
    heat.handle_delete = lambda: "token"  # type: ignore[method-assign,assignment,return-value]
    heat.check_delete_complete = lambda token: polled.append(token) or len(polled) == 3  # type: ignore[attr-defined]
    undo(heat, "CinderVolumeAttachment")
    assert polled == ["token"] * 3
    assert heat.resource_id is None


def test_a_thing_that_cannot_be_removed_is_named_at_last() -> None:
    service = Service([{"id": "a", "description": MINE}])
    service.delete = lambda path: None  # type: ignore[method-assign]
    with pytest.raises(ResourceFailure, match="cannot be removed: a"):
        undo(Heat(service, name=None), "Port")


def test_the_progress_of_an_attachment_survives_the_process() -> None:
    from heat.engine.clients import progress
    from zonda_heat_compat.tokens import pack, unpack

    token = progress.VolumeDetachProgress("s", "v", "a")
    token.called = True
    (found,) = unpack(json.loads(json.dumps(pack([token]))))
    assert type(found) is type(token)
    assert vars(found) == vars(token)


def make_port(heat: Heat) -> Adapted:
    """An adapted port, whose instance of Heat's is ``heat``."""
    from heat.engine.resources.openstack.neutron.port import Port

    made = adapted(Port)
    assert isinstance(made, type)
    definition = ResourceDefinition("port", "OS::Neutron::Port")
    port = made("port", definition, SimpleNamespace(), ResourceState(uuid="u"))  # type: ignore[arg-type]
    port._heat = heat
    return port


@pytest.mark.parametrize(
    ("id", "kept", "removed"),
    [(None, {}, ["a", "b"]), ("b", {recovery.CUT_OFF: "CREATE"}, ["a"]), ("b", {}, [])],
    ids=["no-id", "cut-off", "whole"],
)
def test_a_deletion_removes_what_a_handler_that_was_cut_off_has_made(
    id: str | None, kept: dict[str, str], removed: list[str]
) -> None:
    service = Service([{"id": each, "description": MINE} for each in "ab"])
    heat = Heat(service, name=None)
    heat.resource_id, heat.kept = id, kept
    port = make_port(heat)
    if removed:
        with pytest.raises(NotReady):  # until they are gone
            port.handle_delete()
    assert heat.deleted == []
    port.handle_delete()
    assert service.removed == removed
    assert heat.deleted == [id]


def test_only_classes_of_heat_have_a_way() -> None:
    class Server:
        pass

    assert recovery.find_way(Server) is None
    Server.__module__ = "heat.engine.resources.openstack.nova.server"
    assert recovery.find_way(type("Mine", (Server,), {})) is recovery.WAYS["Server"]
