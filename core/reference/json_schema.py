"""A JSON Schema (draft 2020-12) of templates, for editors: sections, functions, installed types.

Called by the command line. It accepts every template that ``stack.load`` accepts, as far as a
template can be judged without parameters and registry: what only shows when functions are resolved
is left open, and so is everything below a type that is not installed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from inspect import getdoc
from typing import Any

from zonda.core.template.capabilities.section import RESOURCE_TYPE
from zonda.core.template.parameters.types import TYPES
from zonda.core.template.source.versions import CONDITIONS_SINCE, KEY, MODULO_SINCE, TAGS_SINCE
from zonda.hooks.resources.resource import Resource

from .json_schema_properties import FUNCTION, build_closed_object, build_properties_schema

JsonSchema = dict[str, Any]

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_NUMBER_OR_TEXT = {"type": ["number", "string"]}


def build_template_schema(
    versions: Sequence[str],
    functions: Mapping[str, str],
    conditions: Mapping[str, str],
    types: Mapping[str, type[Resource]],
    names: Collection[str] = (),
) -> JsonSchema:
    """Build the schema of templates of ``versions`` (dates and names; the newest date decides).

    ``functions`` and ``conditions`` map the names of what may be called, elsewhere and in
    conditions, to a line that explains it; ``types`` are the resource types to describe, ``names``
    those of others that are installed.
    """
    date = max(version for version in versions if version[:1].isdigit())
    return {
        "$schema": _DRAFT,
        "title": f"Heat Orchestration Template ({', '.join(versions)})",
        **build_closed_object(_build_sections(versions, date), [KEY]),
        "$defs": {
            "function": _build_call(functions),
            "condition": {"anyOf": [{"type": "boolean"}, _build_call(conditions)]},
            "parameter": _build_parameter(date),
            "constraint": _build_constraint(date),
            "resource": _build_resource(date, types, names),
            "output": _build_output(date),
            **{f"type {name}": build_properties_schema(cls) for name, cls in sorted(types.items())},
        },
    }


def _build_sections(versions: Sequence[str], date: str) -> JsonSchema:
    sections: JsonSchema = {
        KEY: {"enum": list(versions), "description": "The version of the template language."},
        "description": {"description": "What the template is for."},
        "parameter_groups": {"type": ["array", "null"], "items": {"type": "object"}},
        "parameters": _build_map_of("parameter", "Values that are given from outside."),
        "resources": {
            **_build_map_of("resource", "What the stack is made of."),
            "propertyNames": {"pattern": "^[^/]*$"},
        },
        "outputs": _build_map_of("output", "What the stack tells about itself."),
        "capabilities": _build_capabilities(),
        "__undefined__": True,
    }
    if date >= CONDITIONS_SINCE:
        sections["conditions"] = {
            **_build_map_of(
                "condition", "Named conditions; evaluated when something asks for them."
            ),
            "type": "object",
        }
    return sections


def _build_capabilities() -> JsonSchema:
    value = {"type": ["string", "number", "boolean"]}
    text = {"type": "string"}
    types = {"anyOf": [text, {"type": "array", "items": text}]}
    return {
        "type": ["object", "null"],
        "description": "What the template offers, where an environment lists several for a type.",
        "properties": {
            RESOURCE_TYPE: {**types, "description": "The types that the template may stand for."}
        },
        "additionalProperties": {"anyOf": [value, {"type": "array", "items": value}]},
    }


def _build_map_of(definition: str, description: str) -> JsonSchema:
    return {
        "type": ["object", "null"],
        "description": description,
        "additionalProperties": {"$ref": f"#/$defs/{definition}"},
    }


def _build_call(functions: Mapping[str, str]) -> JsonSchema:
    """Build the schema of a function call: a map with one key, the name of the function."""
    return {
        **build_closed_object(
            {name: {"description": functions[name]} for name in sorted(functions)}
        ),
        "minProperties": 1,
        "maxProperties": 1,
    }


def _build_parameter(date: str) -> JsonSchema:
    properties: JsonSchema = {
        "type": {"enum": list(TYPES)},
        "default": {"description": "The value where none is given; null: there must be one."},
        "description": {"description": "What the value is for."},
        "label": {"description": "A name for people."},
        "hidden": {"description": "Whether the value is masked wherever it is shown."},
        "immutable": {"description": "Whether no update may change the value."},
        "schema": True,
        "constraints": {"type": ["array", "null"], "items": {"$ref": "#/$defs/constraint"}},
    }
    if date >= TAGS_SINCE:
        properties["tags"] = {"type": ["array", "null"]}
    return build_closed_object(properties, ["type"])


def _build_constraint(date: str) -> JsonSchema:
    bounds = build_closed_object({"min": _NUMBER_OR_TEXT, "max": _NUMBER_OR_TEXT})
    kinds: JsonSchema = {
        "length": bounds,
        "range": bounds,
        "allowed_values": {"type": "array"},
        "allowed_pattern": {"type": "string"},
        "custom_constraint": {"type": "string"},
    }
    if date >= MODULO_SINCE:
        kinds["modulo"] = build_closed_object({"step": _NUMBER_OR_TEXT, "offset": _NUMBER_OR_TEXT})
    text = {"description": "The sentence to show where the constraint is broken."}
    return {
        **build_closed_object({**kinds, "description": text}),
        "anyOf": [{"required": [kind]} for kind in kinds],
    }


def _build_resource(
    date: str, types: Mapping[str, type[Resource]], names: Collection[str]
) -> JsonSchema:
    later = date >= CONDITIONS_SINCE
    map_or_call = {"type": "object"}
    policies = ["Delete", "Retain", "Snapshot"]
    properties: JsonSchema = {
        "type": {
            "anyOf": [
                *map(_build_type_name, sorted(types.items())),
                *([{"enum": sorted(names)}] if names else []),
                {"type": "string", "minLength": 1},
            ]
        },
        "properties": map_or_call,
        "metadata": map_or_call,
        "update_policy": map_or_call,
        "depends_on": {"type": ["string", "array"], "items": {"type": "string"}},
        "deletion_policy": {
            "anyOf": [
                {"enum": [*policies, *map(str.lower, policies)] if later else policies},
                FUNCTION,
            ]
        },
        "description": {"type": "string"},
    }
    if later:
        properties["external_id"] = {"anyOf": [{"type": "string"}, FUNCTION]}
        properties["condition"] = {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/condition"}]}
    rules = [_build_type_rule(name) for name in sorted(types)]
    return {**build_closed_object(properties, ["type"]), "allOf": rules}


def _build_type_name(entry: tuple[str, type[Resource]]) -> JsonSchema:
    name, cls = entry
    first = (getdoc(cls) or "").strip().split("\n\n")[0].replace("\n", " ")
    attributes = ", ".join(sorted(cls.attributes_schema))
    return {"const": name, "description": f"{first} Attributes: {attributes or 'none'}."}


def _build_type_rule(name: str) -> JsonSchema:
    """Build the rule of a resource of one type; ``external_id`` turns it off."""
    return {
        "if": {
            "properties": {"type": {"const": name}},
            "required": ["type"],
            "not": {"required": ["external_id"]},
        },
        "then": {"$ref": f"#/$defs/type {name}"},
    }


def _build_output(date: str) -> JsonSchema:
    properties: JsonSchema = {
        "value": {"anyOf": [FUNCTION, True]},
        "description": {"description": "What the value is."},
    }
    if date >= CONDITIONS_SINCE:
        condition = [{"type": ["string", "null"]}, {"$ref": "#/$defs/condition"}]
        properties["condition"] = {"anyOf": condition}
    return {"type": "object", "required": ["value"], "properties": properties}
