"""Templates of one resource, made from the schema of its type."""

from __future__ import annotations

import json
from typing import Any

from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.attributes import SHOW, SHOW_SCHEMA
from zonda.hooks.schema.properties import Schema

#: The types of parameters in both notations, by the types of properties.
_TYPES = {
    "String": ("string", "String"),
    "Integer": ("number", "Number"),
    "Number": ("number", "Number"),
    "Boolean": ("boolean", "Boolean"),
    "Map": ("json", "Json"),
    "List": ("comma_delimited_list", "CommaDelimitedList"),
    "Any": ("string", "String"),
}
_BOOLEANS = ["True", "true", "False", "false"]


def build_hot(name: str, cls: type[Resource]) -> dict[str, Any]:
    """A template in HOT."""
    short, schemas = _shorten(name), cls.properties_schema
    return {
        "heat_template_version": "2016-10-14",
        "description": f"Initial template of {short}",
        "parameters": {key: _build_hot_parameter(each) for key, each in schemas.items()},
        "resources": {
            short: {"type": name, "properties": {key: {"get_param": key} for key in schemas}}
        },
        "outputs": {
            key: {"description": text, "value": json.dumps({"get_attr": [short, key]})}
            for key, text in _list_attributes(cls).items()
        },
    }


def build_cfn(name: str, cls: type[Resource]) -> dict[str, Any]:
    """A template in CloudFormation's notation."""
    short, schemas = _shorten(name), cls.properties_schema
    return {
        "HeatTemplateFormatVersion": "2012-12-12",
        "Description": f"Initial template of {short}",
        "Parameters": {key: _build_cfn_parameter(each) for key, each in schemas.items()},
        "Resources": {
            short: {
                "Type": name,
                "Properties": {key: _build_reference(key, each) for key, each in schemas.items()},
            }
        },
        "Outputs": {
            key: {"Description": text, "Value": json.dumps({"Fn::GetAtt": [short, key]})}
            for key, text in _list_attributes(cls).items()
        },
    }


def _shorten(name: str) -> str:
    return name.rpartition("::")[2] or name


def _list_attributes(cls: type[Resource]) -> dict[str, str]:
    known = {SHOW: SHOW_SCHEMA, **cls.attributes_schema}
    return {key: str(each.description or "") for key, each in known.items()}


def _build_hot_parameter(schema: Schema) -> dict[str, Any]:
    shown: dict[str, Any] = {"type": _find_types(schema)[0]}
    if schema.description:
        shown["description"] = schema.description
    if schema.default is not None and not schema.hidden:
        shown["default"] = schema.default
    if schema.hidden:
        shown["hidden"] = True
    rules = [each.to_dict() for each in schema.constraints]
    if rules:
        shown["constraints"] = rules
    return shown


def _build_cfn_parameter(schema: Schema) -> dict[str, Any]:
    kind = _find_types(schema)[1]
    shown: dict[str, Any] = {"Type": kind}
    if schema.description:
        shown["Description"] = schema.description
    if schema.default is not None and not schema.hidden:
        shown["Default"] = schema.default
    if kind == "Boolean":
        shown["AllowedValues"] = _BOOLEANS
    for rule in (each.to_dict() for each in schema.constraints):
        for key, name in (
            ("allowed_values", "AllowedValues"),
            ("allowed_pattern", "AllowedPattern"),
        ):
            if key in rule:
                shown[name] = rule[key]
        for key, name in (("length", "Length"), ("range", "Value")):
            shown |= {f"{end.capitalize()}{name}": rule[key][end] for end in rule.get(key, ())}
    return shown


def _build_reference(key: str, schema: Schema) -> dict[str, Any]:
    if _find_types(schema)[1] == "CommaDelimitedList":
        return {"Fn::Split": [",", {"Ref": key}]}
    return {"Ref": key}


def _find_types(schema: Schema) -> tuple[str, str]:
    return _TYPES.get(schema.type, ("string", "String"))
