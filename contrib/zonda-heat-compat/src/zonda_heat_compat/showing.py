"""The attributes and the reference of a resource of Heat's. A part of ``Resource``."""

from __future__ import annotations

import logging
from typing import Any, ClassVar

from heat.common import exception
from heat.engine import attributes

from .storing import Storing

LOG = logging.getLogger(__name__)


class Showing(Storing):
    """The reference, the attributes and the live state."""

    name: str
    entity: Any
    SHOW: str
    base_attributes_schema: ClassVar[Any]
    attributes: Any
    attributes_schema: Any
    physical_resource_name: Any
    _update_allowed_properties: set[str]

    def get_reference_id(self) -> Any:
        """The value of ``get_resource``."""
        return str(self.name) if self.resource_id is None else str(self.resource_id)

    def FnGetRefId(self) -> Any:
        """``get_reference_id``, by the name that plug-ins overrode until 2016."""
        return self.get_reference_id()

    def physical_resource_name_or_FnGetRefId(self) -> str:
        """A name for the thing, or the reference where there is none yet."""
        name = self.physical_resource_name()
        return str(Showing.get_reference_id(self) if name is None else name)

    def get_attribute(self, key: str, *path: Any) -> Any:
        """The value of ``get_attr``; raises InvalidTemplateAttribute."""
        try:
            value = self.attributes[key]
        except KeyError:
            raise attributes.missing(self.name, key) from None
        return attributes.select_from_attribute(value, path)

    def FnGetAtt(self, key: str, *path: Any) -> Any:
        """``get_attribute``, by its older name."""
        return self.get_attribute(key, *path)

    def FnGetAtts(self) -> dict[str, Any]:
        """Every attribute but ``show``."""
        return {key: self.FnGetAtt(key) for key in self.attributes if key != self.SHOW}

    def FnBase64(self, data: Any) -> Any:
        """The value of ``Fn::Base64``: the text as it is."""
        return data

    def _resolve_any_attribute(self, attr: str) -> Any:
        if attr in self.base_attributes_schema and not self._shows_itself(attr):
            if self.resource_id is None:
                return None
            with self._default_client_plugin().ignore_not_found:
                return getattr(self, f"_{attr}_resource")()
        else:
            with self._default_client_plugin().ignore_not_found:
                return self._resolve_attribute(attr)
        return None

    def _shows_itself(self, attr: str) -> bool:
        """Until 2015 a type had to declare ``show``, and resolved it like any other."""
        own = attr in (type(self).attributes_schema or {})
        return own and type(self)._show_resource is Showing._show_resource

    def _resolve_attribute(self, name: str) -> Any:
        """The value of an attribute."""
        return None

    def _show_resource(self) -> Any:
        """The description by the service behind the resource."""
        if not self.entity or self.default_client_name is None:
            return None
        try:
            found = getattr(self.client(), self.entity).get(self.resource_id)
            return found if isinstance(found, dict) else found.to_dict()
        except AttributeError as error:
            LOG.warning("%s cannot be shown: %s", self.name, error)
            return None

    def get_live_resource_data(self) -> Any:
        """The live data of the service; raises EntityNotFound where it is gone."""
        try:
            return self._show_resource()
        except Exception as error:
            if self._default_client_plugin().is_not_found(error):
                gone = exception.EntityNotFound
                raise gone(entity="Resource", name=self.name) from error
            raise

    def parse_live_resource_data(self, resource_properties: Any, resource_data: Any) -> Any:
        """The properties in what the service tells."""
        return {
            key: resource_data[key]
            for key in self._update_allowed_properties
            if key in resource_data and not (key == "name" and resource_properties.get(key) is None)
        }

    def get_live_state(self, resource_properties: Any) -> Any:
        """The properties as they really are."""
        found = self.get_live_resource_data()
        return {} if found is None else self.parse_live_resource_data(resource_properties, found)

    def regenerate_info_schema(self, definition: Any) -> None:
        """Told before an update that schemas may change."""
