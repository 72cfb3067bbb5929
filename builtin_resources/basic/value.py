"""``OS::Heat::Value``: gives a name to an expression."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from zonda.hooks import (
    Resource,
    ResourceDefinition,
    SupportStatus,
    attributes,
    constraints,
    properties,
)

VALUE = "value"
TYPE = "type"

#: What the values of the property ``type`` mean for the property ``value``.
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


class Value(Resource):
    """Keeps the value of an expression under a name of its own.

    The attribute ``value`` shows it as it was given: ``type`` is checked but converts nothing.
    """

    support_status = SupportStatus(version="7.0.0")
    start_policy = "idempotent"
    has_side_effects = False
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

    def handle_create(self) -> None:
        """Make nothing; the id says that the value exists."""
        self.resource_id_set(self.physical_resource_name())

    def handle_update(
        self,
        json_snippet: ResourceDefinition,
        tmpl_diff: Mapping[str, Any],
        prop_diff: Mapping[str, Any],
    ) -> None:
        """Nothing to do: the attribute shows the new definition."""

    def _resolve_attribute(self, name: str) -> Any:
        return self.properties.get_user_value(VALUE)
