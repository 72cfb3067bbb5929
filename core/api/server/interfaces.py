"""The interfaces of the server, in the order in which they are asked for a path."""

from __future__ import annotations

from ..heat.interface import HeatInterface
from ..http.documents import DocumentInterface
from ..http.interfaces import Interface
from ..identity.callers import Identity
from ..identity.local_identity import LocalIdentity
from ..login.interface import LoginInterface
from ..pages.interface import PagesInterface
from ..service.service import Service
from ..signals.callbacks import CallbackInterface
from ..signals.signals import SignalInterface
from ..zonda.events import watch_events
from ..zonda.interface import ZondaInterface


def make_interfaces(service: Service, identity: Identity) -> list[Interface]:
    """The interfaces for one service."""
    login = [LoginInterface(service, identity)] if isinstance(identity, LocalIdentity) else []
    return [
        HeatInterface(service, identity),
        SignalInterface(service, identity),
        CallbackInterface(service, identity),
        ZondaInterface(service, identity),
        DocumentInterface(service, identity),
        PagesInterface(service, identity, watch_events),
        *login,
    ]
