"""The recovery of a handler of Heat's that was cut off: what it has made is found, and removed.

Then it is called again, so that there is neither a second thing nor one that belongs to nobody.
How something is found depends on what the service offers: a mark (``marks``), a name that zonda has
made, or an id that the properties give. Where it offers nothing, the resource fails and says what
to look for. Called by ``adapter``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final, NamedTuple

from zonda.hooks import NotReady, ResourceFailure

from .marks import KEY, KINDS, Kind, format_description
from .steps import is_busy

#: A request whose sender is gone may still be at work: so often a thing is looked for, in vain.
LOOKS: Final = 5
_PAUSE: Final = 2.0
#: The most attempts at the removal of what was found.
_REMOVALS: Final = 60
#: The key of the data that says that a handler was cut off.
CUT_OFF: Final = "zonda_cut_off"
_PLACE: Final = "heat.engine.resources."


class Thing(NamedTuple):
    """A thing in the cloud."""

    kind: Kind
    id: str


@dataclass(frozen=True)
class Way:
    """A way to find what a creation has made; ``told`` is its row in the documentation."""

    told: str
    kinds: tuple[Kind, ...] = ()
    #: The physical id that the properties give.
    tell_id: Callable[[Any], str] | None = None

    def list_made(self, heat: Any) -> list[Thing]:
        """The things that bear the mark of the resource, or its name."""
        return [thing for kind in self.kinds for thing in _list_made(heat, kind)]

    def is_certain(self, heat: Any) -> bool:
        """Whether the way leads to what was made, if there is anything."""
        return all(_find_field(kind, heat) for kind in self.kinds)


def _marked(*bodies: str) -> Way:
    kinds = tuple(KINDS[body] for body in bodies)
    where = "metadata" if kinds[0].field == "metadata" else "description"
    return Way(f"by a mark in its {where}", kinds)


def _named(service: str, path: str) -> Way:
    return Way("by its name, if the template gives none", (Kind(service, path, "", "name"),))


def _known(tell_id: Callable[[Any], str]) -> Way:
    return Way("by what it connects", tell_id=tell_id)


def _tell_interface(props: Any) -> str:
    key, value = "subnet_id", props["subnet"]
    if not value:
        key, value = "port_id", props["port"]
    return f"{props['router']}:{key}={value}"


_REPEATED: Final = Way("is done again: a second time changes nothing")
#: By the class of Heat's.
WAYS: Final[Mapping[str, Way]] = {
    "Server": _marked("server", "port"),
    "CinderVolume": _marked("volume"),
    "Net": _marked("network"),
    "Subnet": _marked("subnet"),
    "Port": _marked("port"),
    "Router": _marked("router"),
    "FloatingIP": _marked("floatingip"),
    "SecurityGroup": _marked("security_group"),
    "SecurityGroupRule": _marked("security_group_rule"),
    "Trunk": _marked("trunk"),
    "QoSPolicy": _marked("policy"),
    "SubnetPool": _marked("subnetpool"),
    "Segment": _marked("segment"),
    "MeteringLabel": _marked("metering_label"),
    "AddressScope": _named("network", "/address-scopes"),
    "ServerGroup": _named("compute", "/os-server-groups"),
    "NovaFlavor": _named("compute", "/flavors"),
    "QoSSpecs": _named("block_storage", "/qos-specs"),
    "KeystoneProject": _named("identity", "/projects"),
    "KeystoneUser": _named("identity", "/users"),
    "KeystoneGroup": _named("identity", "/groups"),
    "KeystoneRole": _named("identity", "/roles"),
    "KeystoneService": _named("identity", "/services"),
    "RouterInterface": _known(_tell_interface),
    "CinderVolumeAttachment": _known(lambda props: str(props["volume_id"])),
    "ExtraRoute": _known(
        lambda props: f"{props['router_id']}:{props['destination']}:{props['nexthop']}"
    ),
    "ExtraRouteSet": _known(lambda props: str(props["router"])),
    "RouterGateway": _REPEATED,
    "FloatingIPAssociation": _REPEATED,
    "CinderQuota": _REPEATED,
    "NovaQuota": _REPEATED,
    "NeutronQuota": _REPEATED,
    "QoSAssociation": _REPEATED,
    "KeystoneUserRoleAssignment": _REPEATED,
    "KeystoneGroupRoleAssignment": _REPEATED,
}


def find_way(heat_class: type[Any]) -> Way | None:
    """The way for a class of Heat's, or one that extends it; None where there is none."""
    for each in heat_class.__mro__:
        if each.__module__.startswith(_PLACE) and each.__name__ in WAYS:
            return WAYS[each.__name__]
    return None


class Recovery:
    """The recovery of one resource within one operation."""

    def __init__(self, heat: Any, way: Way) -> None:
        self._heat = heat
        self._way = way
        self._looks = 0
        self._removals = 0
        self._is_deleting = False
        self._token: Any = None

    def undo_creation(self) -> None:
        """Remove what a creation has made; raises NotReady until there is nothing."""
        heat, way = self._heat, self._way
        if not way.is_certain(heat):
            raise ResourceFailure(
                "interrupted in handle_create, outcome unknown: it may have made something that "
                f"zonda cannot tell from others. Look for {heat.type()} named "
                f"{_get_given(heat, 'name')} in the cloud"
            )
        if heat.resource_id is None and way.tell_id is not None:
            heat.resource_id_set(way.tell_id(heat.properties))
        if heat.resource_id is not None:
            self._delete()
            self._looks = LOOKS
        self.remove_strays()
        self._looks += 1
        if way.kinds and self._looks < LOOKS:
            raise NotReady(_PAUSE)
        for key in heat.data():
            if key != CUT_OFF:
                heat.data_delete(key)

    def wait_until_idle(self) -> None:
        """Wait for the end of what an interrupted handler has asked for."""
        self._looks += 1
        if self._looks < _REMOVALS and is_busy(self._heat):
            raise NotReady(_PAUSE)

    def _delete(self) -> None:
        heat = self._heat
        if not self._is_deleting:
            self._token, self._is_deleting = heat.handle_delete(), True
        check = getattr(heat, "check_delete_complete", None)
        if check is not None and not check(self._token):
            self._go_on([heat.resource_id])
        heat.resource_id_set(None)
        self._is_deleting = False

    def remove_strays(self) -> None:
        """Remove what bears the mark and is not the resource; raises NotReady until it is gone."""
        heat = self._heat
        left = [thing for thing in self._way.list_made(heat) if thing.id != heat.resource_id]
        for thing in left:
            _get_proxy(heat, thing.kind).delete(f"{thing.kind.path}/{thing.id}")
        if left:
            self._looks = LOOKS
            self._go_on(thing.id for thing in left)

    def _go_on(self, ids: Iterable[str]) -> None:
        self._removals += 1
        if self._removals > _REMOVALS:
            raise ResourceFailure(
                f"what an interrupted handler has made cannot be removed: {', '.join(ids)}"
            )
        raise NotReady(1.0)


class Recovering:
    """The part of an adapted class that recovers; ``heat`` is the plug-in's own instance."""

    heat: Any
    #: The way to find what a handler that was cut off has made; None where there is none.
    way: ClassVar[Way | None] = None

    def find_cut_off(self, op_id: str) -> None:
        """Undo a creation that was cut off; everything else may be done twice, but a snapshot.

        Not before the first time has ended: meanwhile the services refuse the second one.
        """
        action = self.heat.action
        if action == "SNAPSHOT":
            raise ResourceFailure("interrupted in handle_snapshot, outcome unknown")
        self.heat.data_set(CUT_OFF, action)
        if action == "CREATE":
            self._recovery.undo_creation()
        else:
            self._recovery.wait_until_idle()

    @cached_property
    def _recovery(self) -> Recovery:
        assert self.way is not None
        return Recovery(self.heat, self.way)

    def remove_strays(self) -> None:
        """Remove what handlers that were cut off have made, before the resource is deleted."""
        has_strays = self.heat.resource_id is None or CUT_OFF in self.heat.data()
        if has_strays and self.way is not None and self.heat.context.cloud is not None:
            self._recovery.remove_strays()


def _find_field(kind: Kind, heat: Any) -> str:
    """The field that tells whose a thing is; '' where the template has taken it."""
    if kind.field == "metadata":
        return kind.field
    if kind.field == "description" and not _get_given(heat, "description"):
        return kind.field
    return "name" if "name" in heat.properties and not _get_given(heat, "name") else ""


def _get_given(heat: Any, name: str) -> Any:
    """The value in the template."""
    props = heat.properties
    given = {key: props[key] for key in (name, "value_specs") if key in props}
    return given.get(name) or (given.get("value_specs") or {}).get(name)


def _list_made(heat: Any, kind: Kind) -> Iterator[Thing]:
    field, mark = _find_field(kind, heat), heat.uuid
    if field == "metadata":
        for thing in _list_things(heat, f"{kind.path}/detail", kind, {}):
            if (thing.get(field) or {}).get(KEY) == mark:
                yield Thing(kind, str(thing["id"]))
    elif field:
        is_marked = field == "description"
        wanted = format_description(mark) if is_marked else heat.physical_resource_name()
        asked = {field: wanted} if kind.service in ("network", "identity") else {}
        for thing in _list_things(heat, kind.path, kind, asked):
            if thing.get(field) == wanted:
                yield Thing(kind, str(thing["id"]))


def _list_things(
    heat: Any, path: str, kind: Kind, asked: Mapping[str, str]
) -> list[Mapping[str, Any]]:
    from openstack import exceptions

    try:
        response = _get_proxy(heat, kind).get(path, params=dict(asked))
    except exceptions.EndpointNotFound:  # a service that is not there has made nothing
        return []
    exceptions.raise_from_response(response)
    return next(each for each in response.json().values() if isinstance(each, list))


def _get_proxy(heat: Any, kind: Kind) -> Any:
    return getattr(heat.context.cloud.connection, kind.service)
