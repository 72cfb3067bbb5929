"""Attributes as Heat's plug-ins declare and read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from zonda.hooks import attributes

from heat.common import exception
from heat.engine.support import SupportStatus

BASE_ATTRIBUTES = (SHOW_ATTR,) = ("show",)
ALL_ATTRIBUTES = "*"


class Schema(attributes.Schema):
    """One declared attribute. Reads as a map of its parts, too."""

    KEYS = (DESCRIPTION, TYPE) = ("description", "type")
    INTEGER: ClassVar[str] = "Integer"
    ANY: ClassVar[str] = "Any"

    def __init__(
        self,
        description: Any = None,
        support_status: SupportStatus | None = None,
        cache_mode: str = attributes.Schema.CACHE_LOCAL,
        type: str | None = None,
        **more: Any,
    ) -> None:
        known = type if type in self.TYPES else None  # Heat does not look, so Integer occurs
        text = None if description is None else str(description)
        super().__init__(text, support_status or SupportStatus(), cache_mode, known, **more)

    @classmethod
    def from_attribute(cls, declared: Any) -> Schema:
        """A schema from a schema, or from the bare description of 2013."""
        if isinstance(declared, attributes.Schema):
            return declared  # type: ignore[return-value]
        if isinstance(declared, Attribute):
            return declared.schema
        if isinstance(declared, Mapping):
            return cls(declared.get("description") or declared.get("Description"))
        return cls(declared)

    def keys(self) -> list[str]:
        """The names of the parts."""
        return [key for key in self.KEYS if self[key] is not None]

    def __getitem__(self, key: str) -> Any:
        return {self.DESCRIPTION: self.description, self.TYPE: self.type}[key]

    def __contains__(self, key: object) -> bool:
        return key in self.keys()

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())


def schemata(schema: Mapping[str, Any]) -> dict[str, Schema]:
    """Schemas by name, whatever they were declared as."""
    return {name: Schema.from_attribute(each) for name, each in schema.items()}


class Attribute:
    """A schema with the name of its attribute."""

    def __init__(self, attr_name: str, schema: Any) -> None:
        self.name = attr_name
        self.schema = Schema.from_attribute(schema)

    def support_status(self) -> SupportStatus:
        return self.schema.support_status

    def as_output(self, resource_name: str, template_type: str = "cfn") -> dict[str, Any]:
        """An output of a template that shows the attribute."""
        if template_type == "hot":
            value: Any = {"get_attr": [resource_name, self.name]}
            return {"value": value, "description": self.schema.description}
        value = f'{{"Fn::GetAtt": ["{resource_name}", "{self.name}"]}}'
        return {"Value": value, "Description": self.schema.description}


class Attributes(Mapping[str, Any]):
    """The values of a resource's attributes, asked for when they are read."""

    def __init__(
        self, res_name: str, schema: Mapping[str, Any], resolver: Callable[[str], Any]
    ) -> None:
        self._resource_name = res_name
        self._resolver = resolver
        self.set_schema(schema)

    def set_schema(self, schema: Mapping[str, Any]) -> None:
        """Declare other attributes."""
        self._attributes = {name: Attribute(name, each) for name, each in schema.items()}
        self._resolved_values: dict[str, Any] = {}

    def get_cache_mode(self, attribute_name: str) -> str:
        known = self._attributes.get(attribute_name)
        return Schema.CACHE_LOCAL if known is None else known.schema.cache_mode

    def reset_resolved_values(self) -> None:
        """Forget every value."""
        self._resolved_values = {}

    reset = reset_resolved_values

    @property
    def cached_attrs(self) -> dict[str, Any]:
        """What was asked for and may be kept."""
        return self._resolved_values

    @cached_attrs.setter
    def cached_attrs(self, known: Mapping[str, Any] | None) -> None:
        self._resolved_values = dict(known or {})

    def set_cached_attr(self, key: str, value: Any) -> None:
        self._resolved_values[key] = value

    def __getitem__(self, key: str) -> Any:
        if key not in self._attributes:
            raise KeyError(f"{self._resource_name}: Invalid attribute {key}")
        if key in self._resolved_values:
            return self._resolved_values[key]
        value = self._resolver(key)
        if value is not None and self.get_cache_mode(key) != Schema.CACHE_NONE:
            self._resolved_values[key] = value
        return value

    def __contains__(self, key: object) -> bool:
        return key in self._attributes

    def __iter__(self) -> Iterator[str]:
        return iter(self._attributes)

    def __len__(self) -> int:
        return len(self._attributes)

    def __repr__(self) -> str:
        return f"Attributes for {self._resource_name}: {', '.join(self._attributes)}"


def select_from_attribute(attribute_value: Any, path: Any) -> Any:
    """What stands below ``path``."""
    return attributes.select(attribute_value, list(path))


def missing(resource_name: str, key: str) -> Exception:
    """What is raised for an attribute that is not declared."""
    error: Exception = exception.InvalidTemplateAttribute(resource=resource_name, key=key)
    return error
