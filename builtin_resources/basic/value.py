"""``OS::Heat::Value``: gives a name to an expression."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from zonda.hooks import (
    ResourceDefinition,
    SupportStatus,
    attributes,
    constraints,
    properties,
)

from ..base import DefinitionResource

VALUE = "value"
TYPE = "type"

#: The types of the property ``value`` by the values of the property ``type``.
_TYPES = {
    "string": properties.Schema.STRING,
    "number": properties.Schema.NUMBER,
    "comma_delimited_list": properties.Schema.LIST,
    "json": properties.Schema.MAP,
    "boolean": properties.Schema.BOOLEAN,
}


def _make_schema(value_type: str) -> Mapping[str, properties.Schema]:
    return {
        VALUE: properties.Schema(
            value_type,
            "The value, usually an expression.",
            required=True,
            update_allowed=True,
        ),
        TYPE: properties.Schema(
            properties.Schema.STRING,
            "The type that the value must have. Any will do without it.",
            constraints=[constraints.AllowedValues(list(_TYPES))],
            update_allowed=True,
        ),
    }


_TYPED = {name: _make_schema(value_type) for name, value_type in _TYPES.items()}


class Value(DefinitionResource):
    """Keeps the value of an expression under a name of its own.

    The attribute ``value`` shows it as it was given: ``type`` is checked but converts nothing.
    """

    support_status = SupportStatus(version="7.0.0")
    properties_schema = _make_schema(properties.Schema.ANY)
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        VALUE: attributes.Schema("The value, as it was given.")
    }

    def make_properties(self, definition: ResourceDefinition) -> properties.Properties:
        """The properties, where ``value`` has the type that ``type`` names."""
        named = definition.properties.get(TYPE)
        typed = _TYPED.get(named) if isinstance(named, str) else None
        return properties.Properties(
            self.properties_schema if typed is None else typed,
            definition.properties,
            raw=definition.raw.get("properties") or {},
            context=self.context,
        )

    def _resolve_attribute(self, name: str) -> Any:
        return self.properties.get_user_value(VALUE)
