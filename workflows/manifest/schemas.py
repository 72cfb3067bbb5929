"""The sections ``properties`` and ``attributes`` of a manifest as schemas."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from zonda.hooks import (
    Constraint,
    Path,
    SchemaError,
    attributes,
    constraints,
    properties,
    suggestion,
)

from .diagnostics import Faults, describe_kind

#: The words for types -> those of the plug-in API.
TYPES = {
    name.lower(): name
    for name in (*("String", "Integer", "Number", "Boolean"), *("Map", "List", "Any"))
}
ATTRIBUTE_TYPES = ("string", "number", "boolean", "map", "list")
PROPERTY_KEYS = (
    *("type", "description", "required", "default", "constraints"),
    *("hidden", "immutable", "schema", "items"),
)
ATTRIBUTE_KEYS = ("type", "description", "value", "hidden")
_LIMITS = ("min", "max")
_CONSTRAINTS = (
    *("range", "length", "modulo", "allowed_values"),
    *("allowed_pattern", "custom_constraint"),
)


def read_properties_schema(
    data: Any, in_place: Callable[[str], bool], faults: Faults
) -> dict[str, properties.Schema]:
    """The properties; ``in_place``: whether UPDATE can change one."""
    found = {}
    at: Path = ("properties",)
    for name, entry in faults.read_map({} if data is None else data, "properties", at).items():
        schema = _read_property(entry, (*at, name), faults, in_place(name))
        if schema is not None:
            found[name] = schema
    return found


def _read_property(
    entry: Any, at: Path, faults: Faults, in_place: bool = False
) -> properties.Schema | None:
    data = faults.read_map(entry, f"The property {at[-1]}", at)
    if not isinstance(entry, Mapping):
        return None
    faults.check_keys(data, PROPERTY_KEYS, at)
    type_ = _read_type(data, TYPES, at, faults)
    before = len(faults.errors)
    immutable = faults.flag(data, "immutable", at)
    parts: dict[str, Any] = {
        "description": faults.text(data, "description", at) or None,
        "default": data.get("default"),
        "required": faults.flag(data, "required", at),
        "hidden": faults.flag(data, "hidden", at),
        "immutable": immutable,
        "update_allowed": in_place and not immutable,
        "constraints": [*_read_constraints(data.get("constraints"), (*at, "constraints"), faults)],
        "schema": _read_inner_schema(data, type_, at, faults),
    }
    if not type_ or len(faults.errors) > before:
        return None
    try:
        schema = properties.Schema(TYPES[type_], **parts)
    except SchemaError as error:
        faults.add(str(error), at, key=True)
        return None
    _check_default(schema, at, faults)
    return schema


def _read_type(data: Mapping[str, Any], known: Collection[str], at: Path, faults: Faults) -> str:
    if "type" not in data:
        faults.add("type is missing.", at, f"One of {', '.join(known)}.", key=True)
        return ""
    value = data["type"]
    if not isinstance(value, str) or value.lower() not in known:
        hint = suggestion(value, known) or f"There are {', '.join(known)}."
        faults.add(f"There is no type {value!r}.", (*at, "type"), hint)
        return ""
    return value.lower()


def _read_inner_schema(data: Mapping[str, Any], type_: str, at: Path, faults: Faults) -> Any:
    """The schemas inside a map (``schema``), or of the items of a list (``items``)."""
    for key, owner in (("schema", "map"), ("items", "list")):
        if key in data and type_ and type_ != owner:
            faults.add(f"{key} is for the type {owner}, not for {type_}.", (*at, key), key=True)
            return None
    if "items" in data:
        return _read_property(data["items"], (*at, "items"), faults)
    if "schema" not in data:
        return None
    here = (*at, "schema")
    fields = faults.read_map(data["schema"], "schema", here)
    found = {name: _read_property(each, (*here, name), faults) for name, each in fields.items()}
    return {name: each for name, each in found.items() if each is not None}


def _check_default(schema: properties.Schema, at: Path, faults: Faults) -> None:
    if schema.default is None:
        return
    if schema.required:
        faults.add("What is required needs no default.", (*at, "default"), key=True)
    name = str(at[-1])
    judged = properties.Properties({name: schema}, {}, context=faults.judging)
    for fault in judged.validate((), pending=()):
        faults.add(f"The default does not fit: {fault.message}", (*at, "default"))


def _read_constraints(data: Any, at: Path, faults: Faults) -> Iterator[Constraint]:
    if data is None:
        return
    if not isinstance(data, list):
        faults.add(f"constraints must be a list, not {describe_kind(data)}.", at)
        return
    for index, entry in enumerate(data):
        made = _read_constraint(entry, (*at, index), faults)
        if made is not None:
            yield made


def _read_constraint(entry: Any, at: Path, faults: Faults) -> Constraint | None:
    if not isinstance(entry, Mapping):
        faults.add(f"A constraint must be a map, not {describe_kind(entry)}.", at)
        return None
    faults.check_keys(entry, (*_CONSTRAINTS, "description"), at)
    names = [name for name in _CONSTRAINTS if name in entry]
    if len(names) != 1:
        if names or not set(entry) - {"description"}:
            faults.add("A constraint has one rule.", at, f"One of {', '.join(_CONSTRAINTS)}.")
        return None
    description = entry.get("description")
    try:
        return _make_constraint(names[0], entry[names[0]], description, (*at, names[0]), faults)
    except SchemaError as error:
        faults.add(str(error), (*at, names[0]))
        return None


def _make_constraint(
    name: str, rule: Any, description: str | None, at: Path, faults: Faults
) -> Constraint | None:
    if name == "allowed_values":
        if not isinstance(rule, list) or not rule:
            faults.add("allowed_values must be a list with something in it.", at)
            return None
        return constraints.AllowedValues(rule, description)
    if name == "allowed_pattern":
        return constraints.AllowedPattern(rule, description)
    if name == "custom_constraint":
        return constraints.CustomConstraint(str(rule), description)
    keys = ("step", "offset") if name == "modulo" else _LIMITS
    given = faults.read_map(rule, name, at)
    faults.check_keys(given, keys, at)
    kinds: Mapping[str, Any] = {
        "range": constraints.Range,
        "length": constraints.Length,
        "modulo": constraints.Modulo,
    }
    parts = {key: given[key] for key in keys if key in given}
    if name != "modulo" and not _can_hold(parts.get("min"), parts.get("max"), name):
        faults.add(f"Nothing keeps this {name}.", at)
        return None
    made: Constraint = kinds[name](**parts, description=description)
    return made


def _can_hold(least: Any, most: Any, name: str) -> bool:
    """Whether anything is between two limits; what is no number is judged elsewhere."""
    numbers = [each for each in (least, most) if isinstance(each, int | float)]
    if name == "length" and isinstance(most, int | float) and most < 0:
        return False
    return len(numbers) < 2 or least <= most


def read_attributes_schema(data: Any, faults: Faults) -> dict[str, attributes.Schema]:
    """The attributes; what their values are is read elsewhere."""
    found = {}
    at: Path = ("attributes",)
    for name, entry in faults.read_map({} if data is None else data, "attributes", at).items():
        here = (*at, name)
        given = faults.read_map({} if entry is None else entry, f"The attribute {name}", here)
        faults.check_keys(given, ATTRIBUTE_KEYS, here)
        type_ = _read_type(given, ATTRIBUTE_TYPES, here, faults) if "type" in given else ""
        hidden = faults.flag(given, "hidden", here)
        description = faults.text(given, "description", here) or None
        if name == "show":
            faults.add("Every type has the attribute show.", here, "Choose another.", key=True)
        found[name] = attributes.Schema(description, type=type_.capitalize() or None, hidden=hidden)
    return found
