"""Properties of a resource type as JSON Schema. Called by ``json_schema`` only.

A function may stand wherever a value may; null stands for the default. What a type converts (a
number given as text) is accepted, and constraints are applied to values of the type itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.constraints import (
    AllowedPattern,
    AllowedValues,
    Constraint,
    CustomConstraint,
    Length,
    Modulo,
    Range,
)
from zonda.hooks.schema.properties import Schema
from zonda.hooks.schema.support import DEPRECATED

JsonSchema = dict[str, Any]

FUNCTION: JsonSchema = {"$ref": "#/$defs/function"}
EXTENSION = "x-zonda-"

_TYPES: dict[str, list[str]] = {
    Schema.STRING: ["string", "integer", "boolean"],
    Schema.INTEGER: ["number", "string", "boolean"],
    Schema.NUMBER: ["number", "string", "boolean"],
    Schema.BOOLEAN: ["boolean", "string"],
    Schema.MAP: ["object"],
    Schema.LIST: ["array"],
}
#: Spelled out, since JSON Schema's patterns have no flag for letters of any case.
_BOOLEAN_WORDS = "^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$"

#: The parts of Python's patterns that JavaScript's may not have.
_FOREIGN = ("(?", "\\A", "\\Z", "\\N", "\\a", "++", "*+", "?+")


def build_properties_schema(cls: type[Resource]) -> JsonSchema:
    """Build the schema of the key ``properties`` of a resource of this type."""
    fields = cls.properties_schema
    inside = {"anyOf": [FUNCTION, _build_map(fields)]}
    schema: JsonSchema = {"properties": {"properties": inside}}
    if _build_required(fields):
        schema["required"] = ["properties"]
    attributes = {name: entry.description or "" for name, entry in cls.attributes_schema.items()}
    return {**schema, f"{EXTENSION}attributes": attributes}


def _build_map(fields: Mapping[str, Schema]) -> JsonSchema:
    values = {name: _build_value(schema) for name, schema in fields.items()}
    return {**build_closed_object(values), **_build_required(fields)}


def build_closed_object(properties: JsonSchema, required: Sequence[str] = ()) -> JsonSchema:
    """Build the schema of a map that has no other keys."""
    made: JsonSchema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**made, "required": list(required)} if required else made


def _build_required(fields: Mapping[str, Schema]) -> JsonSchema:
    """Build what must be given: a property, or one of those that give it its value."""
    aliases: dict[str, list[str]] = {}
    for name, schema in fields.items():
        if schema.alias_of:
            aliases.setdefault(schema.alias_of, []).append(name)
    needed = [name for name, schema in fields.items() if schema.required and schema.default is None]
    plain = [name for name in needed if name not in aliases]
    choices = [
        {"anyOf": [{"required": [each]} for each in (name, *aliases[name])]}
        for name in needed
        if name in aliases
    ]
    return {**({"required": plain} if plain else {}), **({"allOf": choices} if choices else {})}


def _build_value(schema: Schema) -> JsonSchema:
    made: JsonSchema = {"anyOf": [_build_literal(schema), FUNCTION]}
    if schema.description:
        made["description"] = schema.description
    if schema.default is not None and not schema.hidden:
        made["default"] = schema.default_value()
    if schema.support_status.status == DEPRECATED:
        made["deprecated"] = True
    if not schema.update_allowed:
        made[f"{EXTENSION}replaces"] = True
    rules = [rule.name for rule in schema.constraints if isinstance(rule, CustomConstraint)]
    return {**made, f"{EXTENSION}constraints": rules} if rules else made


def _build_literal(schema: Schema) -> Any:
    if schema.type == Schema.ANY:
        return True
    made: JsonSchema = {"type": [*_TYPES[schema.type], "null"]}
    if schema.allow_conversion and schema.type in (Schema.MAP, Schema.LIST):
        made["type"] += ["string", "array"] if schema.type == Schema.MAP else ["string"]
    if schema.type == Schema.BOOLEAN:
        made["pattern"] = _BOOLEAN_WORDS
    if schema.fields:
        inside = _build_map(schema.fields)
        made.update({key: inside[key] for key in inside if key != "type"})
    if schema.items is not None:
        made["items"] = _build_value(schema.items)
    rules = made.pop("allOf", [])
    rules += [
        rule for constraint in schema.constraints for rule in _build_rules(constraint, schema.type)
    ]
    return {**made, "allOf": rules} if rules else made


def _build_rules(constraint: Constraint, kind: str) -> Iterator[JsonSchema]:
    """Build the rules of a constraint, as far as JSON Schema can express it."""
    if isinstance(constraint, Length):
        yield from _build_length_rules(constraint, kind)
    elif isinstance(constraint, Range):
        bounds = {"minimum": constraint.min, "maximum": constraint.max}
        yield _build_condition(
            "number", {key: bound for key, bound in bounds.items() if bound is not None}
        )
    elif isinstance(constraint, Modulo) and constraint.offset == 0:
        yield _build_condition("number", {"multipleOf": abs(constraint.step)})
    elif isinstance(constraint, AllowedValues):
        yield from _build_allowed_rules(constraint, kind)
    elif isinstance(constraint, AllowedPattern) and not any(
        part in constraint.pattern for part in _FOREIGN
    ):
        yield _build_condition("string", {"pattern": f"^(?:{constraint.pattern})$"})


def _build_length_rules(constraint: Length, kind: str) -> Iterator[JsonSchema]:
    if kind == Schema.STRING:
        bounds = {"minLength": constraint.min, "maxLength": constraint.max}
        yield _build_condition(
            "string", {key: int(bound) for key, bound in bounds.items() if bound is not None}
        )
    elif constraint.min is not None:
        # No upper bound: an ``if`` inside may leave its item out.
        what, word = ("array", "minItems") if kind == Schema.LIST else ("object", "minProperties")
        yield _build_condition(what, {word: int(constraint.min)})


def _build_allowed_rules(constraint: AllowedValues, kind: str) -> Iterator[JsonSchema]:
    allowed = list(constraint.allowed)
    if kind == Schema.STRING:
        yield _build_choice("string", [str(value) for value in allowed])
    elif kind in (Schema.INTEGER, Schema.NUMBER):
        if all(isinstance(value, int | float) for value in allowed):
            yield _build_choice("number", allowed)
    elif kind == Schema.LIST:
        yield _build_condition("array", {"items": {"anyOf": [FUNCTION, {"enum": allowed}]}})


def _build_choice(kind: str, allowed: Sequence[Any]) -> JsonSchema:
    """Build the rule that a value of a type is one of some: editors complete no ``if``."""
    return {"anyOf": [{"enum": [*allowed]}, {"not": {"type": kind}}]}


def _build_condition(kind: str, then: JsonSchema) -> JsonSchema:
    return {"if": {"type": kind}, "then": then}
