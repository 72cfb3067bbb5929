"""One resource type as plain data, with the field names of the openstack client."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from zonda.hooks import support
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.attributes import Schema as AttributeSchema
from zonda.hooks.schema.properties import Schema

#: The operations of a type besides creation and deletion, with the method of each.
_ABILITIES = {
    "suspend": "handle_suspend",
    "resume": "handle_resume",
    "check": "handle_check",
    "snapshot": "handle_snapshot",
    "signal": "handle_signal",
}

#: The operations on a nested stack, which need no method of its owner.
_OF_CHILDREN = ("suspend", "resume", "check", "snapshot")


def read_description(cls: type[Resource]) -> str:
    """Read the docstring of a class without its markup; '' where it has none of its own."""
    own = inspect.getdoc(cls) if cls.__dict__.get("__doc__") else ""
    return (own or "").replace("``", "").strip()


def summarize(cls: type[Resource]) -> str:
    """Return the first paragraph of the docstring, in one line."""
    return " ".join(read_description(cls).partition("\n\n")[0].split())


def describe_type(name: str, cls: type[Resource], origin: str = "") -> dict[str, Any]:
    """Describe a type completely."""
    policy = {key: describe_property(each) for key, each in cls.update_policy_schema.items()}
    return {
        "resource_type": name,
        "description": summarize(cls),
        "support_status": cls.support_status.to_dict(),
        "properties": {key: describe_property(each) for key, each in cls.properties_schema.items()},
        "attributes": {
            key: describe_attribute(each) for key, each in sorted(cls.attributes_schema.items())
        },
        **({"update_policy": policy} if policy else {}),
        "actions": list_abilities(cls),
        "capabilities": dict(cls.capabilities),
        "origin": origin,
    }


def list_abilities(cls: type[Resource]) -> list[str]:
    """List the operations of a resource besides creation and deletion."""
    found = [
        name
        for name, method in _ABILITIES.items()
        if hasattr(cls, method) or (cls.is_nested_stack and name in _OF_CHILDREN)
    ]
    updates = any(schema.update_allowed for schema in cls.properties_schema.values())
    live = cls.get_live_state is not Resource.get_live_state
    return ["update"] * updates + found + ["live state"] * live


def describe_property(schema: Schema) -> dict[str, Any]:
    """Describe one property with its nested properties."""
    shown = schema.to_dict()
    if schema.hidden:
        shown["hidden"] = True
        shown.pop("default", None)
    shown.update(_describe_status(schema.support_status))
    inside: Mapping[str, Schema] = schema.fields
    if schema.items is not None:
        inside = {"*": schema.items}
    if inside:
        shown["schema"] = {key: describe_property(each) for key, each in inside.items()}
    return shown


def describe_attribute(schema: AttributeSchema) -> dict[str, Any]:
    """Describe one attribute."""
    shown: dict[str, Any] = {"description": schema.description}
    if schema.type is not None:
        shown["type"] = schema.type.lower()
    if schema.hidden:
        shown["hidden"] = True
    return {**shown, **_describe_status(schema.support_status)}


def _describe_status(status: support.SupportStatus) -> dict[str, Any]:
    """Describe the support status, unless it is the default."""
    plain = status.status == support.SUPPORTED and status.version is None
    return {} if plain else {"support_status": status.to_dict()}
