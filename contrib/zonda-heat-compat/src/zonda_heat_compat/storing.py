"""The stored data of a resource of Heat's, and its clients: a part of ``Resource``."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from zonda.hooks import require_json, require_text


class Storing:
    """``_kept`` is what stores: the engine (``around.Stored``) or, without one, ``Kept``."""

    default_client_name: Any
    stack: Any
    t: Any
    _kept: Any

    @property
    def resource_id(self) -> str | None:
        """The physical id."""
        known: str | None = self._kept.resource_id
        return known

    @resource_id.setter
    def resource_id(self, value: str | None) -> None:
        self.resource_id_set(value)

    def resource_id_set(self, inst: Any) -> None:
        """Keep the physical id."""
        self._kept.save_resource_id(None if inst is None else require_text("resource_id", inst))

    def data(self) -> dict[str, str]:
        """The entries of ``data_set``."""
        return dict(self._kept.data)

    def data_set(self, key: str, value: Any, redact: bool = False) -> None:
        """Keep a text."""
        self._kept.save_data(key, str(value), redact)

    def data_delete(self, key: str) -> bool:
        """Forget a text; whether it was there."""
        if key not in self._kept.data:
            return False
        self._kept.save_data(key, None, False)
        return True

    def metadata_get(self, refresh: bool = False) -> dict[str, Any]:
        """The metadata: what was set, else the template's."""
        return dict(self._kept.metadata or self.t.metadata())

    def metadata_set(
        self, metadata: Mapping[str, Any], merge_metadata: Callable[..., Any] | None = None
    ) -> Any:
        """Keep other metadata; ``merge_metadata(new, kept)`` makes them of both."""
        changed = True
        known = dict(metadata)
        if merge_metadata is not None:
            before = self.metadata_get()
            known = merge_metadata(known, dict(before))
            changed = known != before
        self._kept.save_metadata(require_json("metadata", dict(known)))
        return changed

    #: The name of 2013; ``self.metadata = {...}`` keeps them as well.
    metadata = property(metadata_get, metadata_set)

    def metadata_update(self, new_metadata: Any = None) -> None:
        """Told that the metadata of the stack changed."""

    # -- clients -------------------------------------------------------------------------------

    def client(self, name: str | None = None, version: Any = None) -> Any:
        """The client of a service."""
        return self.stack.clients.client(name or self.default_client_name or "", version)

    def client_plugin(self, name: str | None = None) -> Any:
        """The client plug-in of a service."""
        return self.stack.clients.client_plugin(name or self.default_client_name or "")

    def _default_client_plugin(self) -> Any:
        if self.default_client_name:
            return self.client_plugin()
        return NoClient()

    @classmethod
    def is_service_available(cls, context: Any) -> tuple[bool, Any]:
        """Whether the service is there; its client says so when it is asked."""
        return True, None

    def keystone(self) -> Any:
        return self.client("keystone")

    def nova(self, *kind: Any) -> Any:
        return self.client("nova")

    def swift(self) -> Any:
        return self.client("swift")

    def neutron(self) -> Any:
        return self.client("neutron")

    quantum = neutron

    def cinder(self) -> Any:
        return self.client("cinder")

    def trove(self) -> Any:
        return self.client("trove")

    def ceilometer(self) -> Any:
        return self.client("ceilometer")

    def heat(self) -> Any:
        return self.client("heat")

    def glance(self) -> Any:
        return self.client("glance")


class NoClient:
    """Stands for the client plug-in of a type that has none: it knows no exception."""

    def __init__(self) -> None:
        self.ignore_not_found = contextlib.nullcontext()

    def is_not_found(self, ex: BaseException) -> bool:
        return False


class Kept:
    """The data of a resource while there is no engine: in unit tests of plug-ins."""

    def __init__(self) -> None:
        self.resource_id: str | None = None
        self.data: dict[str, str] = {}
        self.metadata: dict[str, Any] = {}

    def save_resource_id(self, value: str | None) -> None:
        self.resource_id = value

    def save_data(self, key: str, value: str | None, redact: bool) -> None:
        if value is None:
            self.data.pop(key, None)
        else:
            self.data[key] = value

    def save_metadata(self, metadata: dict[str, Any]) -> None:
        self.metadata = metadata
