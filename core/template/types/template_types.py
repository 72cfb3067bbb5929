"""Templates as types: the class that a template file stands for.

Made by ``TemplateTree``, one per file. The template's parameters are the properties, its outputs
the attributes; what happens to such a resource happens to a nested stack.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar

from zonda.hooks import attributes, properties
from zonda.hooks.errors import TemplateError
from zonda.hooks.resources.nested_stack import Child, ChildTemplate, NestedStack

from ..parameters.parameters import ParameterSchema
from ..parameters.types import BOOLEAN, JSON, LIST, NUMBER, STRING

_TYPES = {
    STRING: properties.Schema.STRING,
    NUMBER: properties.Schema.NUMBER,
    LIST: properties.Schema.LIST,
    JSON: properties.Schema.MAP,
    BOOLEAN: properties.Schema.BOOLEAN,
}


class TemplateResource(NestedStack):
    """A resource that a template file provides. ``source``: the file's key in the bundle.

    ``problem``: why the file is no template; it is told when a resource of this type is checked.
    """

    source: ClassVar[str] = ""
    problem: ClassVar[TemplateError | None] = None

    def next_template(self, child: Child | None, applied: int) -> ChildTemplate | None:
        """The file with the properties as parameters, once."""
        if applied:
            return None
        return ChildTemplate(file=self.source, parameters=self.child_parameters())

    def get_reference_id(self) -> str:
        """The output ``OS::stack_id``, else the name of the nested stack among all resources."""
        child = self.child
        if child is None or child.has_output("OS::stack_id"):
            return super().get_reference_id()
        project = self.context.stack.project
        return f"arn:openstack:heat::{project}:stacks/{child.name}/{child.id}"

    def child_parameters(self) -> dict[str, Any]:
        """The properties as parameters; null is the type's empty value."""
        return {
            name: to_parameter_value(self.properties.props[name], value)
            for name, value in self.properties.get_stored_values().items()
        }


def to_parameter_value(schema: properties.Schema, value: Any) -> Any:
    """Convert a property's value to a parameter's: a list becomes text with commas, as in Heat."""
    if schema.type != properties.Schema.LIST or not isinstance(value, list):
        return value
    if value and isinstance(value[0], Mapping):
        return ",".join(_format_members(value))
    return ",".join("" if item is None else str(item) for item in value)


def _format_members(items: list[Any]) -> Iterator[str]:
    for index, item in enumerate(items):
        for key, value in item.items() if isinstance(item, Mapping) else ():
            yield f".member.{index}.{key}={value}"


def build_property_schema(declared: ParameterSchema, is_given: bool = False) -> properties.Schema:
    """Build the property for a parameter; raises SchemaError where a constraint does not fit.

    ``is_given``: an environment has a default for it. The default itself stays the nested
    template's affair, so that null means the empty value.
    """
    return properties.Schema(
        _TYPES[declared.type],
        description=str(declared.description or "") or None,
        required=declared.default is None and not is_given,
        constraints=declared.constraints,
        update_allowed=True,
        allow_conversion=declared.type in (JSON, LIST),
        hidden=declared.hidden,
    )


def build_template_class(
    source: str,
    parameters: Mapping[str, ParameterSchema],
    outputs: Any,
    defaults: Collection[str],
    problem: TemplateError | None = None,
) -> type[TemplateResource]:
    """Build the class of a file. ``outputs``: its section; ``defaults``: names with other defaults.

    Raises SchemaError.
    """
    schemas = {
        name: build_property_schema(each, name in defaults) for name, each in parameters.items()
    }
    fields: dict[str, Any] = {
        "__doc__": f"A resource that the template {source} provides.",
        "__module__": __name__,
        "__qualname__": TemplateResource.__qualname__,
        "source": source,
        "problem": problem,
        "any_attribute": problem is not None,
        "properties_schema": schemas,
        "attributes_schema": dict(_build_attributes(outputs)),
    }
    return type(TemplateResource.__name__, (TemplateResource,), fields)


def _build_attributes(outputs: Any) -> Iterator[tuple[str, attributes.Schema]]:
    for name, entry in outputs.items() if isinstance(outputs, Mapping) else ():
        if isinstance(name, str):
            description = entry.get("description") if isinstance(entry, Mapping) else None
            yield name, attributes.Schema(str(description or "") or None)
