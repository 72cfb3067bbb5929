"""The clients of a context, by name.

First those that packages for Heat bring (entry points of group ``heat.clients``), then zonda's
client plug-ins, then those of an installed openstack-heat, one for all stacks of a cloud. What none
of them brings cannot be used, and says so when it is asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from zonda.hooks import PluginError

from heat.common.context import RequestContext, request_context
from heat.engine.clients.client_plugin import ClientPlugin, ExceptionFilter
from zonda_heat_compat import installed
from zonda_heat_compat.cloud import NoAnswer, NoCloud

__all__ = ["ClientBackend", "ClientPlugin", "Clients", "OpenStackClients", "has_client"]


@cache
def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group="heat.clients")}


def has_client(name: str) -> bool:
    return name in _entries()


def initialise() -> None:
    """Nothing to do: clients are found when they are asked for."""


class Clients:
    """The clients of one context."""

    def __init__(self, context: Any) -> None:
        self.context = request_context(context)
        self._plugins: dict[str, Any] = {}

    def client_plugin(self, name: str) -> Any:
        """The client plug-in of that name; one that raises PluginError where there is none."""
        if name not in self._plugins:
            self._plugins[name] = self._made(name)
        return self._plugins[name]

    def _made(self, name: str) -> Any:
        entry = _entries().get(name)
        if entry is not None and not installed.brings(entry):
            return entry.load()(self.context)
        try:
            found = self.context.client_plugin(name)
        except (PluginError, AttributeError) as error:
            found = error
        if not isinstance(found, ClientPlugin | Exception):
            return _Plugin(found, name)
        if name == "heat":
            return _NoHeat(self.context)
        if entry is None:
            return Absent(NoAnswer(str(found), plugin=name))
        cloud = self.context.cloud
        if cloud is None:
            return Absent(NoCloud())
        return cloud.get_plugin(name, lambda: entry.load()(RequestContext(cloud=cloud)))

    def client(self, name: str, version: Any = None) -> Any:
        """The client of that name; raises PluginError where there is none."""
        plugin = self.client_plugin(name)
        return plugin.client() if version is None else plugin.client(version=version)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        # Before 2014: self.stack.clients.nova()
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *versions: self.client(name)


OpenStackClients = ClientBackend = Clients


class _Plugin:
    """A client plug-in of zonda's, with what plug-ins for Heat ask besides."""

    def __init__(self, plugin: Any, name: str) -> None:
        self._plugin = plugin
        self.name = name
        self.ignore_not_found = ExceptionFilter(self.is_not_found)
        self.ignore_conflict_and_not_found = ExceptionFilter(self._is_harmless)

    def client(self, version: Any = None) -> Any:
        """The client."""
        return self._plugin.client()

    def is_not_found(self, ex: BaseException) -> bool:
        """Whether it says that something is not there."""
        own = getattr(self._plugin, "is_not_found", None)
        if own is not None:
            return bool(own(ex))
        try:
            raise ex  # so that a plug-in which only says ``raise`` has something to raise
        except BaseException as raised:
            try:
                self._plugin.ignore_not_found(raised)
            except BaseException:
                return False
            return True

    def is_conflict(self, ex: BaseException) -> bool:
        """Whether it says that something else is in the way."""
        own = getattr(self._plugin, "is_conflict", None)
        return own is not None and bool(own(ex))

    def _is_harmless(self, ex: BaseException) -> bool:
        return self.is_conflict(ex) or self.is_not_found(ex)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plugin, name)


class Absent:
    """Stands for a client plug-in that nobody brings: whoever uses it is told."""

    def __init__(self, error: Any) -> None:
        self._error = error
        self.ignore_not_found = ExceptionFilter(self.is_not_found)
        self.ignore_conflict_and_not_found = ExceptionFilter(self.is_not_found)

    def is_not_found(self, ex: BaseException) -> bool:
        """It knows no exception."""
        return False

    is_conflict = is_over_limit = is_client_exception = is_not_found

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._refuse

    def _refuse(self, *given: Any, **named: Any) -> Any:
        raise self._error


class _NoHeat(ClientPlugin):
    """Stands for the client of Heat itself: what is asked for are addresses for signals.

    They are names and no URLs: signals come by ``zonda stack resource signal``.
    """

    def _create(self, version: Any = None) -> Any:
        raise PluginError("No client plug-in heat is installed.", plugin="heat")

    def get_heat_url(self) -> str:
        """The beginning of a resource's name."""
        return f"zonda:/{self.context.tenant_id}"

    get_heat_cfn_url = get_watch_server_url = get_cfn_metadata_server_url = get_heat_url

    def get_insecure_option(self) -> str:
        """Nothing."""
        return ""


def __getattr__(name: str) -> Any:
    # Until 2014 plug-ins asked here whether a library is installed: clients.novaclient is not None
    if name.endswith("client") and name.isidentifier() and not name.startswith("_"):
        try:
            return importlib.import_module(name)
        except ImportError:
            return None
    raise AttributeError(f"heat.engine.clients of zonda-heat-compat has no {name}")
