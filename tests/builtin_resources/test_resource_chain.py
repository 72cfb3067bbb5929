"""``OS::Heat::ResourceChain``: an order, or none; by position, in place."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.builtin_resources.groups.resource_chain import ResourceChain
from zonda.hooks.errors import InvalidTemplateAttribute, ValidationErrors
from zonda.hooks.testing import NestedLifecycle


def chain(*types: Any, **others: Any) -> dict[str, Any]:
    return {"resources": list(types), "resource_properties": {"value": "v"}, **others}


def made(properties: dict[str, Any]) -> NestedLifecycle:
    life = NestedLifecycle(ResourceChain, properties, name="c")
    life.create()
    return life


def resources(life: NestedLifecycle) -> dict[str, Any]:
    template = life.steps[-1].template
    assert template is not None
    found: dict[str, Any] = template["resources"]
    return found


def test_each_waits_for_the_one_before_it() -> None:
    shared = {"properties": {"value": "v"}}
    assert resources(made(chain("A", "b.yaml", "A"))) == {
        "0": {"type": "A", **shared},
        "1": {"type": "b.yaml", **shared, "depends_on": ["0"]},
        "2": {"type": "A", **shared, "depends_on": ["1"]},
    }


def test_concurrent_ones_wait_for_nobody() -> None:
    found = resources(made(chain("A", "B", concurrent=True)))
    assert not any("depends_on" in entry for entry in found.values())


def test_an_empty_chain() -> None:
    life = made({"resources": []})
    assert life.steps[0].template == {"heat_template_version": "2015-04-30", "resources": {}}
    assert life.attribute("refs") == []
    assert life.attribute("value") == []
    assert life.attribute("attributes", "value") == {}


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(chain("A", "B", "C"), id="appended"),
        pytest.param(chain("A"), id="dropped"),
        pytest.param(chain("A", "B", concurrent=True), id="concurrent"),
        pytest.param(chain("A", "B", resource_properties={"value": "w"}), id="properties"),
    ],
)
def test_everything_changes_in_place(after: dict[str, Any]) -> None:
    life = made(chain("A", "B"))
    first = life.child.member("0")
    assert life.update(after) == "updated"
    assert life.child.member("0") is first
    assert [member.type for member in life.child.members()] == after["resources"]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        pytest.param(None, "Non-empty resource type is required for resource", id="null"),
        pytest.param("", "Non-empty resource type is required for resource", id="empty"),
        pytest.param(5, "type is not a string", id="number"),
    ],
)
def test_types_that_are_none(kind: Any, text: str) -> None:
    with pytest.raises(ValidationErrors, match=text) as raised:
        NestedLifecycle(ResourceChain, chain("A", kind, kind), name="c").validate()
    places = [fault.at for fault in raised.value.errors]
    assert places == [("resources", "c", "properties", "resources", at) for at in (1, 2)]
    hints = [fault.hint for fault in raised.value.errors]
    assert hints == ["It is resources[1] of c.", "It is resources[2] of c."]


def test_attributes_by_position() -> None:
    life = made(chain("A", "B", resource_properties={"value": {"k": ["z"]}}))
    assert life.attribute("value", "k", 0) == ["z", "z"]
    assert life.attribute("attributes", "value", "k") == {"0": ["z"], "1": ["z"]}
    assert life.attribute("resource.1", "value", "k") == ["z"]
    assert life.attribute("refs", 0) == "0-physical-1"
    with pytest.raises(InvalidTemplateAttribute):
        life.attribute("attributes")


def test_its_types_are_what_the_nested_template_uses() -> None:
    life = NestedLifecycle(ResourceChain, chain("A", "b.yaml", "A"))
    assert life.instance().member_types() == ["A", "b.yaml"]
