"""What authors of nested stacks test with: the stack in memory, and the life that drives it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from zonda.builtin_resources import plugin
from zonda.hooks import conformance, properties
from zonda.hooks.errors import InvalidTemplateAttribute, ResourceFailure
from zonda.hooks.resources.nested_stack import CONVERGE, Child, ChildTemplate, Converge, NestedStack
from zonda.hooks.testing import FakeChild, NestedLifecycle

Schema = properties.Schema


class Pair(NestedStack):
    """Two of a kind, one after the other."""

    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        "value": Schema(Schema.STRING, update_allowed=True),
        "kind": Schema(Schema.STRING, default="A"),
    }

    def child_template(self) -> Mapping[str, Any]:
        value = self.data().get("signalled", self.properties["value"])
        one = {"type": self.properties["kind"], "properties": {"value": value}}
        values = [{"get_attr": [name, "value"]} for name in ("left", "right")]
        outputs = {"values": {"value": values}, "OS::stack_id": {"value": {"get_resource": "left"}}}
        return {"resources": {"left": one, "right": one}, "outputs": outputs}

    def next_template(self, child: Child | None, applied: int) -> ChildTemplate | None:
        if applied > 1:
            return None
        template = dict(self.child_template())
        if applied == 0 and child is None:
            template = {"resources": {"left": template["resources"]["left"]}}
        return ChildTemplate(template, pause=5.0 * applied)

    def handle_signal(self, details: Mapping[str, Any]) -> Converge | None:
        if "value" not in details:
            return None
        self.data_set("signalled", details["value"])
        return CONVERGE


def made(**given: Any) -> NestedLifecycle:
    life = NestedLifecycle(Pair, {"value": "a", **given})
    life.create()
    return life


def test_the_nested_stack_becomes_one_template_after_another() -> None:
    life = made()
    assert [len((step.template or {})["resources"]) for step in life.steps] == [1, 2]
    ages = [member.created_at for member in life.child.members()]
    assert ages[1] - ages[0] == 6  # the pause, and a second for each template
    assert life.resource_id == life.child.id
    assert life.reference == "left-physical-1"


def test_members_keep_what_they_are_and_take_new_definitions() -> None:
    life = made()
    before = life.child.members()
    assert life.update({"value": "b"}) == "updated"
    assert [member.action for member in life.child.members()] == ["UPDATE", "UPDATE"]
    assert [member.physical_id for member in life.child.members()] == [
        member.physical_id for member in before
    ]
    assert life.child.output("values") == ["b", "b"]


def test_a_replacement_is_another_nested_stack() -> None:
    life = made()
    before = life.child
    assert life.update({"value": "a", "kind": "B"}) == "replaced"
    assert life.child is not before
    assert {member.type for member in life.child.members()} == {"B"}
    life.delete()
    assert life.context.nested is None


def test_a_member_fails_and_is_repaired() -> None:
    life = made()
    life.child.failing.add("right")
    with pytest.raises(ResourceFailure, match=r"resources\.right"):
        life.update({"value": "b"})
    assert life.state == ("UPDATE", "FAILED")
    assert not life.child.is_healthy
    assert life.update({"value": "b"}) == "updated"
    assert life.child.is_healthy


def test_a_signal_makes_it_converge() -> None:
    life = made()
    assert life.signal({}) is None
    assert life.child.output("values") == ["a", "a"]
    assert life.signal({"value": "s"}) is CONVERGE
    assert life.child.output("values") == ["s", "s"]
    assert life.context.operation is None


def test_a_type_that_answers_otherwise_when_asked_again_is_found_out() -> None:
    class Moody(NestedStack):
        asked = 0

        def child_template(self) -> Mapping[str, Any]:
            type(self).asked += 1
            return {"resources": {f"m{self.asked}": {"type": "A"}}}

    with pytest.raises(AssertionError, match="something else when asked again"):
        NestedLifecycle(Moody).create()


def test_a_nested_stack_in_memory() -> None:
    child = FakeChild(attributes_of=lambda entry: {"ip": [entry["type"]]})
    child.become(ChildTemplate({"resources": {"a": {"type": "T"}}}))
    member = child.member("a")
    assert member is not None
    assert (member.type, member.attribute("ip", 0)) == ("T", "T")
    assert child.member("b") is None
    assert not child.has_output("o")
    with pytest.raises(InvalidTemplateAttribute):
        member.attribute("zzz")
    child.become(ChildTemplate(file="child.yaml"))
    assert child.members() == []


@pytest.mark.parametrize(
    "name",
    sorted(
        name
        for name in plugin.COMPOSITE_TYPES
        if name not in ("OS::Heat::InstanceGroup", "AWS::AutoScaling::AutoScalingGroup")
    ),
)
def test_the_kit_knows_nested_stacks(name: str) -> None:
    report = conformance.check(plugin.zonda_resource_types()[name], name)
    failed = [row for row in report.rows if row.verdict == conformance.FAILED]
    assert failed == []
    assert any(
        row.check == "update" and row.verdict == conformance.PASSED for row in report.rows
    ) or (name == "AWS::AutoScaling::LaunchConfiguration")
