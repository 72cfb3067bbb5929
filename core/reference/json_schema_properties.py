"""Properties of a resource type as JSON Schema. Called by ``json_schema`` only.

A function may stand wherever a value may; null stands for the default. What a type converts (a
number given as text) is accepted, and constraints are applied to values of the type itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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

#: What Python's patterns may hold and JavaScript's may not.
_FOREIGN = ("(?", "\\A", "\\Z", "\\N", "\\a", "++", "*+", "?+")


def properties_schema(cls: type[Resource]) -> JsonSchema:
    """What an entry of this type must look like below its key ``properties``."""
    fields = cls.properties_schema
    inside = {"anyOf": [FUNCTION, _map_of(fields)]}
    schema: JsonSchema = {"properties": {"properties": inside}}
    if _required(fields):
        schema["required"] = ["properties"]
    attributes = {name: entry.description or "" for name, entry in cls.attributes_schema.items()}
    return {**schema, f"{EXTENSION}attributes": attributes}


def _map_of(fields: Mapping[str, Schema]) -> JsonSchema:
    made: JsonSchema = {
        "type": "object",
        "properties": {name: _value(schema) for name, schema in fields.items()},
        "additionalProperties": False,
    }
    return {**made, "required": _required(fields)} if _required(fields) else made


def _required(fields: Mapping[str, Schema]) -> list[str]:
    return [name for name, schema in fields.items() if schema.required and schema.default is None]


def _value(schema: Schema) -> JsonSchema:
    made: JsonSchema = {"anyOf": [FUNCTION, _literal(schema)]}
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


def _literal(schema: Schema) -> Any:
    if schema.type == Schema.ANY:
        return True
    made: JsonSchema = {"type": [*_TYPES[schema.type], "null"]}
    if schema.allow_conversion and schema.type in (Schema.MAP, Schema.LIST):
        made["type"] += ["string", "array"] if schema.type == Schema.MAP else ["string"]
    if schema.type == Schema.BOOLEAN:
        made["pattern"] = _BOOLEAN_WORDS
    if schema.fields:
        inside = _map_of(schema.fields)
        made.update({key: inside[key] for key in inside if key != "type"})
    if schema.items is not None:
        made["items"] = _value(schema.items)
    rules = [rule for constraint in schema.constraints for rule in _rules(constraint, schema.type)]
    return {**made, "allOf": rules} if rules else made


def _rules(constraint: Constraint, kind: str) -> Iterator[JsonSchema]:
    """A constraint as far as JSON Schema has a word for it."""
    if isinstance(constraint, Length):
        yield from _length(constraint, kind)
    elif isinstance(constraint, Range):
        bounds = {"minimum": constraint.min, "maximum": constraint.max}
        yield _if("number", {key: bound for key, bound in bounds.items() if bound is not None})
    elif isinstance(constraint, Modulo) and constraint.offset == 0:
        yield _if("number", {"multipleOf": abs(constraint.step)})
    elif isinstance(constraint, AllowedValues):
        yield from _allowed(constraint, kind)
    elif isinstance(constraint, AllowedPattern) and not any(
        part in constraint.pattern for part in _FOREIGN
    ):
        yield _if("string", {"pattern": f"^(?:{constraint.pattern})$"})


def _length(constraint: Length, kind: str) -> Iterator[JsonSchema]:
    if kind == Schema.STRING:
        bounds = {"minLength": constraint.min, "maxLength": constraint.max}
        yield _if("string", {key: int(bound) for key, bound in bounds.items() if bound is not None})
    elif constraint.min is not None:
        # No upper bound: an ``if`` inside may leave its item out.
        what, word = ("array", "minItems") if kind == Schema.LIST else ("object", "minProperties")
        yield _if(what, {word: int(constraint.min)})


def _allowed(constraint: AllowedValues, kind: str) -> Iterator[JsonSchema]:
    allowed = list(constraint.allowed)
    if kind == Schema.STRING:
        yield _if("string", {"enum": [str(value) for value in allowed]})
    elif kind in (Schema.INTEGER, Schema.NUMBER):
        if all(isinstance(value, int | float) for value in allowed):
            yield _if("number", {"enum": allowed})
    elif kind == Schema.LIST:
        yield _if("array", {"items": {"anyOf": [FUNCTION, {"enum": allowed}]}})


def _if(kind: str, then: JsonSchema) -> JsonSchema:
    return {"if": {"type": kind}, "then": then}
