"""The replaced resource of Heat's: it lets go of what only one can have, and may get it back.

Heat's types say how in ``prepare_for_replace`` and ``restore_prev_rsrc``. Heat calls either once;
zonda may call it again after a crash, so that what the first call has kept is not forgotten. Called
by ``adapter``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from zonda.hooks import NotReady

from heat.common import exception

#: The key of the data that says how far it has come.
_KEY: Final = "zonda_replaced"
_PREPARED, _RESTORING = "prepared", "restoring"
_EMPTY: Final = "[]"
_PLACE: Final = "heat.engine.resources."


class Holding:
    """The hold of a resource on what only one can have."""

    def __init__(self, heat: Any) -> None:
        self.heat = heat

    def is_exclusive(self) -> bool:
        """Whether a second one could not be made beside it."""
        return True

    def let_go(self) -> None:
        """Let go of it."""
        heat = self.heat
        if heat.resource_id is None or not self.is_exclusive():
            return
        before = heat.data()
        heat.data_set(_KEY, _PREPARED)
        heat.prepare_for_replace()
        if _KEY in before:  # what is empty now was let go of by a call before this one
            for key, text in heat.data().items():
                if text == _EMPTY and before.get(key, _EMPTY) != _EMPTY:
                    heat.data_set(key, before[key])

    def take_back(self, successor: Any, make_unmade: Callable[[], Any]) -> None:
        """Take it back from a resource, which holds it; None: from nobody."""
        heat = self.heat
        state = heat.data().get(_KEY)
        if state is None:
            return
        if state == _RESTORING:  # so far that it was cut off
            self.let_go()
        holder = successor if self._can_take_from(successor) else make_unmade()
        heat.data_set(_KEY, _RESTORING)
        self._take_from(holder)
        heat.data_delete(_KEY)

    def _can_take_from(self, successor: Any) -> bool:
        """Whether a successor holds something that can be taken from it; it may be None."""
        return successor is not None

    def _take_from(self, holder: Any) -> None:
        """Take it from a holder, which may be one that was never made."""
        holder.stack.former = self.heat
        holder.restore_prev_rsrc(convergence=False)


class _Server(Holding):
    """A server holds its ports. One that Nova made for it is gone when it is detached."""

    def is_exclusive(self) -> bool:
        """Whether a port or an address is given: else it keeps its interfaces until it goes."""
        given = ("port", "fixed_ip")
        return any(net.get(name) for net in self._list_networks() for name in given)

    def _list_networks(self) -> list[Any]:
        return list(self.heat.properties["networks"] or ())

    def _can_take_from(self, successor: Any) -> bool:
        """Whether its ports can be detached; raises NotReady while it is being made."""
        if successor is None:
            return False
        plugin = successor.client_plugin()
        with suppress(exception.ResourceInError), plugin.ignore_not_found:
            server = successor.client().servers.get(successor.resource_id)
            if not plugin._check_active(server):
                raise NotReady(1.0)
            return True
        return False  # it has none: it is not there, or was never built

    def _take_from(self, holder: Any) -> None:
        is_complete = self._forget_vanished()
        super()._take_from(holder)
        if not is_complete:
            self._attach_networks()

    def _forget_vanished(self) -> bool:
        """Forget the ports that are not there any more; whether there are none such."""
        heat, vanished = self.heat, []
        plugin = heat.client_plugin("neutron")
        for port in heat._data_get_ports("external_ports"):
            vanished.append(port["id"])
            with plugin.ignore_not_found:
                heat.client("neutron").show_port(port["id"])
                vanished.pop()
        for key in vanished:
            heat._data_update_ports(key, "delete", port_type="external_ports")
        return not vanished

    def _attach_networks(self) -> None:
        """Have Nova make the ports again that it made for the networks of the template."""
        heat = self.heat
        own = ("port", "subnet", "port_extra_properties")
        networks = [net for net in self._list_networks() if not any(net.get(key) for key in own)]
        groups = heat.properties["security_groups"]
        for wanted in heat._calculate_add_nets(networks, [], groups) if networks else ():
            heat.client_plugin().interface_attach(heat.resource_id, **wanted)
        heat.store_external_ports()


class _KeyPair(Holding):
    """A key pair is deleted where its successor may have its name, and made again."""

    def _take_from(self, holder: Any) -> None:
        heat = self.heat
        if holder.resource_id == heat.resource_id:
            return  # it goes with its successor, whose name it has
        with heat.client_plugin().ignore_not_found:
            heat.client().keypairs.get(heat.resource_id)
            return
        heat.handle_create()


_KINDS: Final[Mapping[str, type[Holding]]] = {"Server": _Server, "KeyPair": _KeyPair}


def let_go(self: Any) -> None:
    """The method ``prepare_for_replace`` of an adapted class."""
    _find_kind(self.heat_class)(self.heat).let_go()


def take_back(self: Any, successor: Any) -> None:
    """The method ``restore_replaced`` of an adapted class."""
    # one of another type knows nothing of this one's ways
    holder = successor.heat if isinstance(successor, type(self)) else None
    unmade = type(self)(self.name, self.t, self.context)
    _find_kind(self.heat_class)(self.heat).take_back(holder, lambda: unmade.heat)


def _find_kind(heat_class: type[Any]) -> type[Holding]:
    """The kind of hold that resources of a class have."""
    for each in heat_class.__mro__:
        if each.__module__.startswith(_PLACE) and each.__name__ in _KINDS:
            return _KINDS[each.__name__]
    return Holding
