"""A JSON Schema (draft 2020-12) of manifests, for editors: ``zonda type schema``."""

from __future__ import annotations

from typing import Any

from ..resources import workflow_call
from .model import ACTIONS, KEY, VERSIONS
from .schemas import ATTRIBUTE_TYPES, TYPES

_TEXT = {"type": "string"}
_FLAG = {"type": "boolean"}
_SECONDS = {"type": "number", "minimum": 1, "description": "Seconds."}
_ON_TIMEOUT = {
    "enum": [*workflow_call.ON_TIMEOUT],
    "description": "What happens to a run whose time is over.",
}
_PATH = {
    "anyOf": [
        _TEXT,
        {"type": "array", "minItems": 1, "items": {"type": ["string", "integer"]}},
    ]
}


def build_json_schema() -> dict[str, Any]:
    """The schema. The reader may still refuse what it accepts: only that knows the names."""
    actions = {name: _build_action(name) for name in ACTIONS}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A type of resource that workflows make",
        "type": "object",
        "required": [KEY, "name", "actions"],
        "additionalProperties": False,
        "properties": {
            KEY: {"enum": [*VERSIONS], "description": "The version of the format."},
            "name": {**_TEXT, "pattern": "::", "description": "Acme::Disk, for example."},
            "description": _TEXT,
            "runner": {**_TEXT, "description": "A section [runners.NAME] of the settings."},
            "timeout": _SECONDS,
            "on_timeout": _ON_TIMEOUT,
            "properties": _build_map("property"),
            "attributes": _build_map("attribute"),
            "replace_on": {"type": "array", "items": _TEXT},
            "actions": _build_closed_object(actions, "CREATE"),
            "allow_id_change": _FLAG,
            "always_update": _FLAG,
            "capabilities": {"type": "object"},
            "example": {"type": "object"},
        },
        "$defs": {
            "property": _build_property(),
            "attribute": _build_attribute(),
            "mapping": _MAPPING,
        },
    }


def _build_map(name: str) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": {"$ref": f"#/$defs/{name}"}}


def _build_closed_object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "required": [*required],
        "additionalProperties": False,
        "properties": properties,
    }


def _build_property() -> dict[str, Any]:
    inside = {"$ref": "#/$defs/property"}
    known = {
        "type": {"enum": [*TYPES]},
        "description": _TEXT,
        "required": _FLAG,
        "default": True,
        "hidden": {**_FLAG, "description": "Encrypted at rest, and never shown."},
        "immutable": {**_FLAG, "description": "No update may change it."},
        "constraints": {"type": "array", "items": {"type": "object"}},
        "schema": {"type": "object", "additionalProperties": inside},
        "items": inside,
    }
    return _build_closed_object(known, "type")


def _build_attribute() -> dict[str, Any]:
    return {
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": {
            "type": {"enum": [*ATTRIBUTE_TYPES]},
            "description": _TEXT,
            "hidden": _FLAG,
            "value": {"$ref": "#/$defs/mapping"},
        },
    }


def _build_action(name: str) -> dict[str, Any]:
    mapped = {"$ref": "#/$defs/mapping"}
    known: dict[str, Any] = {
        "workflow": _TEXT,
        "runner": _TEXT,
        "input": mapped,
        "params": mapped,
        "timeout": _SECONDS,
        "on_timeout": _ON_TIMEOUT,
        "retries": {"type": "integer", "minimum": 0},
        "retry_delay": {"type": "number", "minimum": 0},
    }
    if name == "CHECK":
        names = {"type": "array", "items": _TEXT}
        known |= {"observes": {"anyOf": [names, {"type": "object"}]}, "exists": mapped}
    else:
        known["output"] = mapped
    whole = _build_closed_object(known, "workflow")
    return {"anyOf": [{**_TEXT, "description": "The name of a workflow."}, whole]}


#: Plain data, or a call; what is inside is judged by the reader.
_MAPPING: dict[str, Any] = {
    "description": "Data, with {get_property: NAME}, {get_output: NAME}, {get_resource: WHAT}, "
    "{list_join: [TEXT, LIST]} and {secret: env:NAME} in it.",
    "if": {"type": "object", "required": ["get_property"]},
    "then": {"properties": {"get_property": _PATH}},
}
