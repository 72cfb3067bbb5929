"""What a plug-in's class declares is looked at when it is gathered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from zonda.hooks import attributes, properties, support
from zonda.hooks.errors import SchemaError
from zonda.hooks.resources.declaration import validate_declaration
from zonda.hooks.resources.resource import Resource


async def later(self: Any) -> None:
    return None


def stepwise(self: Any) -> Iterator[None]:
    yield


def raising(cls: Any) -> Any:
    raise RuntimeError("not today")


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ({"support_status": "SUPPORTED"}, "support_status is 'SUPPORTED'"),
        ({"properties_schema": {"a": "string"}}, "properties_schema: a is 'string'"),
        ({"properties_schema": {"a": {"Type": "String"}}}, "properties_schema: a is {'Type'"),
        ({"properties_schema": ["a"]}, r"properties_schema is \\['a'\\], not a mapping"),
        ({"properties_schema": None}, "properties_schema is None, not a mapping"),
        ({"properties_schema": property(lambda self: {})}, "properties_schema is <property"),
        ({"properties_schema": {1: properties.Schema("String")}}, "has the name 1"),
        ({"properties_schema": {"a": attributes.Schema("a")}}, "not properties.Schema"),
        ({"attributes_schema": {"a": "text"}}, "attributes_schema: a is 'text'"),
        ({"update_policy_schema": 7}, "update_policy_schema is 7"),
        ({"example": 5}, "example is 5, not a mapping"),
        ({"exposes_properties": ["a"]}, "exposes_properties is"),
        ({"capabilities": "fast"}, "capabilities is 'fast', not a mapping"),
        ({"capabilities": {"a": {}}}, "capabilities: a is {}"),
        ({"capabilities": {"a": ["b", None]}}, "capabilities: a is ['b', None]"),
        ({"start_policy": "sometimes"}, "'sometimes' is none of fail, idempotent, find"),
        ({"handle_create": 5}, "handle_create is 5, not a method"),
        ({"handle_create": later}, "handle_create is a coroutine or a generator"),
        ({"handle_delete": stepwise}, "handle_delete is a coroutine or a generator"),
        ({"check_create_complete": later}, "check_create_complete is a coroutine"),
        ({"__init__": lambda self: None}, "__init__ must take name, definition, context"),
    ],
    ids=lambda value: "" if isinstance(value, str) else "-".join(value),
)
def test_a_wrong_declaration_is_told(declared: dict[str, Any], told: str) -> None:
    found = validate_declaration(type("Bad", (Resource,), declared), Resource)
    assert isinstance(found, support.Unavailable)
    assert told.replace("\\", "") in found.reason


def test_a_class_that_raises_when_it_is_looked_at_is_told() -> None:
    bad = type("Bad", (Resource,), {"__zonda_resource__": classmethod(raising)})
    assert validate_declaration(bad, Resource) == support.Unavailable("RuntimeError: not today")


def test_a_good_class_is_taken_as_it_is() -> None:
    def init(self: Any, *given: Any, **named: Any) -> None:
        return None

    good = type(
        "Good",
        (Resource,),
        {
            "properties_schema": {"a": properties.Schema("String")},
            "attributes_schema": {"b": attributes.Schema("b")},
            "support_status": support.Status("1"),
            "__init__": init,
        },
    )
    assert validate_declaration(good, Resource) is good


@pytest.mark.parametrize("inside", [{"x": 5}, {1: properties.Schema("String")}], ids=["5", "name"])
def test_what_is_inside_a_map_is_declared_too(inside: Any) -> None:
    with pytest.raises(SchemaError, match="names to Schema objects"):
        properties.Schema("Map", schema=inside)


@pytest.mark.parametrize("schema", [properties.Schema, attributes.Schema])
def test_the_status_of_a_property_is_no_text(schema: Any) -> None:
    with pytest.raises((ValueError, SchemaError), match="support_status is 'SUPPORTED'"):
        schema("String", support_status="SUPPORTED")
