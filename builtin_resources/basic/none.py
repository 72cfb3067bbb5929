"""``OS::Heat::None``: stands in for any other type and does nothing."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from typing import Any

from zonda.hooks import Path, Properties, ResourceDefinition, SupportStatus, TemplateError

from ..base import LocalResource


class AnyProperties(Properties):
    """Takes whatever is given, checks nothing and offers nothing to a plug-in."""

    __slots__ = ()

    def validate(
        self, path: Path = (), *, pending: Collection[str] | None = None
    ) -> list[TemplateError]:
        """Return no faults."""
        return []

    def get_stored_values(self) -> dict[str, Any]:
        """The values that were given, unchanged."""
        return dict(self._given)


class NoneResource(LocalResource):
    """Takes the place of another type, to switch that off in the resource registry.

    Any property is accepted and any attribute is null. An update never touches it, whatever
    changes.
    """

    support_status = SupportStatus(version="5.0.0")
    never_update = True
    any_attribute = True
    unchecked = True

    def make_properties(self, definition: ResourceDefinition) -> Properties:
        """The properties as given, unchecked."""
        return AnyProperties({}, definition.properties, raw=definition.raw.get("properties") or {})

    def handle_create(self) -> None:
        """Take a random id, so that references to different ones differ."""
        number = self.context.random.getrandbits(128)
        self.resource_id_set(str(uuid.UUID(int=number, version=4)))
