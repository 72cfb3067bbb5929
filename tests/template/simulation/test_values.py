"""Values of attributes of what is not there."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.core.template.simulation.values import make_attribute, make_physical_id
from zonda.hooks import attributes

MAP = attributes.Schema("", type="Map")
ONE, OTHER = make_physical_id("one"), make_physical_id("other")


@pytest.mark.parametrize(
    ("name", "kind", "properties", "value"),
    [
        ("size", "Number", {"size": 3}, 3),
        ("size", "Number", {"size": None}, 1.0),
        ("name", "String", {}, ONE),
        ("name", "String", {"name": "mine"}, "mine"),
        ("status", "String", {}, "ACTIVE"),
        ("colour", "String", {}, "colour of simulated-one"),
        ("links", "List", {}, []),
        ("links", "Map", {"links": ["not of this type"]}, {}),
        ("up", "Boolean", {}, True),
    ],
)
def test_an_attribute_has_a_value_of_its_name_or_its_type(
    name: str, kind: str, properties: dict[str, Any], value: Any
) -> None:
    schema = attributes.Schema("", type=kind)
    assert make_attribute(name, schema, properties, ONE) == value


def test_addresses_are_those_for_documentation_and_stay_the_same() -> None:
    server = {"networks": [{"network": "blue"}, {"port": "p"}, {"network": "red"}]}
    networks = make_attribute("networks", MAP, server, ONE)
    assert list(networks) == ["blue", "red"]
    assert all(each.startswith("192.0.2.") for found in networks.values() for each in found)
    assert networks == make_attribute("networks", MAP, server, ONE)
    assert networks != make_attribute("networks", MAP, server, OTHER)
    assert make_attribute("first_address", None, server, ONE) == networks["blue"][0]
    assert make_attribute("addresses", MAP, server, ONE)["red"][0]["addr"] == networks["red"][0]
    public = make_attribute("floating_ip_address", None, {}, ONE)
    assert public.startswith("203.0.113.")
