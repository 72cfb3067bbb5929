"""Templates made from a resource type: an initial one, and one with example values."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from zonda.hooks import support
from zonda.hooks.context import ResourceContext
from zonda.hooks.resources.nested_stack import NestedStack
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema import examples
from zonda.hooks.schema.properties import Schema

from .description import summarize

VERSION: Final = "2018-08-31"
_PARAMETER_TYPES: Final = {
    Schema.INTEGER: "number",
    Schema.NUMBER: "number",
    Schema.STRING: "string",
    Schema.BOOLEAN: "boolean",
    Schema.MAP: "json",
    Schema.LIST: "comma_delimited_list",
    Schema.ANY: "json",
}


def build_initial_template(name: str, cls: type[Resource]) -> dict[str, Any]:
    """Build a template with a parameter for every property and an output for every attribute.

    Heat gives the same for ``resource type show --template-type hot``.
    """
    shown = {
        key: schema
        for key, schema in cls.properties_schema.items()
        if schema.implemented and schema.support_status.status != support.HIDDEN
    }
    resource = name.rpartition("::")[2] or "resource"
    template: dict[str, Any] = {
        "heat_template_version": VERSION,
        "description": f"Initial template of {resource}",
    }
    if shown:
        template["parameters"] = {key: _build_parameter(schema) for key, schema in shown.items()}
    named = f"{resource}_resource" if resource in shown else resource
    entry: dict[str, Any] = {"type": name}
    if shown:
        entry["properties"] = {key: {"get_param": key} for key in shown}
    template["resources"] = {named: entry}
    template["outputs"] = _build_outputs(named, cls)
    return {key: each for key, each in template.items() if each}


def _build_parameter(schema: Schema) -> dict[str, Any]:
    kind = _choose_parameter_type(schema)
    made: dict[str, Any] = {"type": kind}
    if schema.description:
        made["description"] = schema.description
    if schema.default is not None and not schema.hidden:
        made["default"] = schema.default_value()
    elif not schema.required and kind in ("json", "comma_delimited_list"):
        made["default"] = [] if schema.type == Schema.LIST else {}
    if schema.hidden:
        made["hidden"] = True
    if schema.constraints and (kind != "json" or schema.type == Schema.MAP):
        made["constraints"] = [each.to_dict() for each in schema.constraints]
    return made


def _choose_parameter_type(schema: Schema) -> str:
    """Choose the parameter type that can carry every value of a property."""
    if schema.items is not None and schema.items.type in (Schema.MAP, Schema.LIST):
        return "json"
    return _PARAMETER_TYPES[schema.type]


def _build_outputs(
    resource: str, cls: type[Resource], without: Collection[str] = ()
) -> dict[str, Any]:
    return {
        key: {"description": schema.description or key, "value": {"get_attr": [resource, key]}}
        for key, schema in sorted(cls.attributes_schema.items())
        if schema.support_status.status != support.HIDDEN and key not in without
    }


def build_example(
    name: str, cls: type[Resource], context: ResourceContext | None = None
) -> dict[str, Any]:
    """Build a template that the type accepts: required properties and typical values."""
    given = examples.build_properties(cls.properties_schema, cls.example, context)
    secrets = {key for key in given if cls.properties_schema[key].hidden}
    template: dict[str, Any] = {"heat_template_version": VERSION}
    if summarize(cls):
        template["description"] = summarize(cls)
    if secrets:
        template["parameters"] = {
            key: {"type": "string", "hidden": True} for key in sorted(secrets)
        }
    entry: dict[str, Any] = {"type": name}
    if given:
        entry["properties"] = {
            key: {"get_param": key} if key in secrets else value for key, value in given.items()
        }
    template["resources"] = {"example": entry}
    # attributes that cannot be read by their name alone
    keyed = cls.attributes_with_key if issubclass(cls, NestedStack) else ()
    outputs = _build_outputs("example", cls, keyed)
    template["outputs"] = {key: {"value": each["value"]} for key, each in outputs.items()}
    return {key: each for key, each in template.items() if each}
