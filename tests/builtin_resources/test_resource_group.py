"""``OS::Heat::ResourceGroup``: its members, their names, batches, removals and attributes."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.builtin_resources.groups.resource_group import ResourceGroup
from zonda.hooks.errors import InvalidTemplateAttribute, TemplateError, ValidationErrors
from zonda.hooks.testing import NestedLifecycle

VALUE = "OS::Heat::Value"


def definition(value: Any = "n%index%", **others: Any) -> dict[str, Any]:
    return {"type": VALUE, "properties": {"value": value}, **others}


def group(count: int = 2, value: Any = "n%index%", **properties: Any) -> dict[str, Any]:
    return {"count": count, "resource_def": definition(value), **properties}


def made(properties: dict[str, Any], **policy: Any) -> NestedLifecycle:
    life = NestedLifecycle(ResourceGroup, properties, name="g", update_policy=policy)
    life.create()
    return life


def values(step: Any) -> dict[str, Any]:
    """The value of each member in a template."""
    resources = step.template["resources"]
    return {name: entry["properties"]["value"] for name, entry in resources.items()}


def names(life: NestedLifecycle) -> list[str]:
    return [member.name for member in life.child.members()]


def test_members_are_numbered_and_told_their_number() -> None:
    life = made(group(3))
    assert [values(step) for step in life.steps] == [{"0": "n0", "1": "n1", "2": "n2"}]


@pytest.mark.parametrize(
    ("given", "member"),
    [
        pytest.param("a%index%b%index%", "a0b0", id="twice"),
        pytest.param({"k%index%": ["%index%", 1]}, {"k%index%": ["0", 1]}, id="values-not-keys"),
        pytest.param([{"x": "%index%"}], [{"x": "0"}], id="in-lists"),
        pytest.param(True, True, id="no-text"),
    ],
)
def test_the_variable_is_replaced_in_texts_among_the_values(given: Any, member: Any) -> None:
    assert values(made(group(1, given)).steps[0]) == {"0": member}


def test_what_is_null_and_what_is_empty_is_left_out_of_a_member() -> None:
    life = made({"resource_def": {"type": "T%index%", "properties": {"a": None, "b": [None]}}})
    entry = {"type": "T%index%", "properties": {"b": [None]}}
    assert life.steps[0].template["resources"] == {"0": entry}
    life = made({"resource_def": {"type": "T", "metadata": {"x": "%index%"}}})
    assert life.steps[0].template["resources"] == {"0": {"type": "T", "metadata": {"x": "%index%"}}}


def test_growing_leaves_the_definitions_of_the_others_equal() -> None:
    life = made(group(1000))
    before = dict(life.steps[0].template["resources"])
    life.update(group(1001))
    after = life.steps[0].template["resources"]
    assert {name: after[name] for name in before} == before
    assert after.keys() - before.keys() == {"1000"}
    ages = {member.created_at for member in life.child.members()}
    assert len(ages) == 2


def test_shrinking_removes_the_highest_numbers() -> None:
    life = made(group(4))
    life.update(group(2))
    assert names(life) == ["0", "1"]


def removing(*listed: Any) -> list[dict[str, Any]]:
    return [{"resource_list": list(listed)}]


def test_names_that_were_removed_are_not_used_again() -> None:
    life = made(group(2))
    life.update(group(1, removal_policies=removing("0")))
    assert names(life) == ["1"]
    life.update(group(3))
    assert names(life) == ["1", "2", "3"]
    assert life.attribute("removed_rsrc_list") == ["0"]


def test_in_update_mode_only_what_is_listed_now_is_skipped() -> None:
    life = made(group(2))
    life.update(group(1, removal_policies=removing("0")))
    life.update(group(3, removal_policies_mode="update"))
    assert names(life) == ["0", "1", "2"]
    reference = life.attribute("refs", 1)
    life.update(group(3, removal_policies_mode="update", removal_policies=removing(reference)))
    assert names(life) == ["0", "2", "3"]


@pytest.mark.parametrize(
    ("listed", "left"),
    [
        pytest.param([0], ["1", "2"], id="a-number"),
        pytest.param(["1-physical-2"], ["0", "2"], id="a-reference"),
        pytest.param(["7", "nobody"], ["0", "1"], id="nobody-is-called-that"),
    ],
)
def test_removal_policies_take_names_and_references(listed: list[Any], left: list[str]) -> None:
    life = made(group(2))
    life.update(group(2, removal_policies=removing(*listed)))
    assert names(life) == left


def test_a_listed_name_that_a_batch_brings_about_is_not_removed() -> None:
    life = made(group(1), rolling_update={"max_batch_size": 1})
    life.update(group(3, "b", removal_policies=removing("1")))
    assert len(life.steps) > 1
    assert names(life) == ["0", "1", "2"]
    assert life.attribute("removed_rsrc_list") == []


def test_removal_policies_act_at_creation_as_well() -> None:
    assert names(made(group(2, removal_policies=removing(1)))) == ["0", "2"]


def test_creation_in_batches() -> None:
    life = made(group(5), batch_create={"max_batch_size": 2, "pause_time": 7})
    assert [list(values(step)) for step in life.steps] == [
        ["0", "1"],
        ["0", "1", "2", "3"],
        ["0", "1", "2", "3", "4"],
    ]
    assert [step.pause for step in life.steps] == [0, 7, 7]


def test_a_rolling_update_changes_the_last_members_first() -> None:
    life = made(group(3, "a"), rolling_update={"max_batch_size": 2, "pause_time": 5})
    assert len(life.steps) == 1
    life.update(group(3, "b"))
    assert [list(values(step).values()) for step in life.steps] == [["a", "b", "b"], ["b"] * 3]
    assert [step.pause for step in life.steps] == [0, 5]


def test_a_rolling_update_leaves_members_in_service() -> None:
    life = made(group(2, "a"), rolling_update={"min_in_service": 2})
    life.update(group(2, "b"))
    assert [list(values(step).values()) for step in life.steps] == [
        ["a", "a", "b"],
        ["a", "b", "b"],
        ["b", "b", "b"],
        ["b", "b"],
    ]


def test_a_rolling_update_goes_on_where_a_failed_one_has_ended() -> None:
    life = made(group(3, "a"), rolling_update={})
    life.child.failing.add("1")
    with pytest.raises(Exception, match=r"resources\.1"):
        life.update(group(3, "b"))
    assert [list(values(step).values()) for step in life.steps] == [
        ["a", "a", "b"],
        ["a", "b", "b"],
    ]
    life.update(group(3, "b"))
    assert [list(values(step).values()) for step in life.steps] == [["a", "b", "b"], ["b"] * 3]


def test_growing_alone_takes_no_batches() -> None:
    life = made(group(1), rolling_update={"max_batch_size": 1})
    life.update(group(4))
    assert len(life.steps) == 1


def test_one_member_is_checked_for_all_and_none_where_there_is_none() -> None:
    one = NestedLifecycle(ResourceGroup, group(1000)).instance().template_for_validation()
    assert values(one) == {"0": "n0"}
    none = NestedLifecycle(ResourceGroup, group(0)).instance()
    assert none.template_for_validation() is None
    assert not none.member_types()


def test_what_the_template_reads_becomes_outputs() -> None:
    life = NestedLifecycle(ResourceGroup, group(2))
    life.context.paths = frozenset(
        [
            ("value", "k"),
            ("attributes", "value"),
            ("resource.1", "value"),
            ("resource.1.value",),
            ("resource.7", "value"),
            ("resource.0",),
            ("refs",),
            ("attributes",),
            (None,),
        ]
    )
    life.create()
    one = {"get_attr": ["1", "value"]}
    assert life.steps[0].template["outputs"] == {
        "value, k": {"value": [{"get_attr": [name, "value", "k"]} for name in "01"]},
        "attributes, value": {"value": {name: {"get_attr": [name, "value"]} for name in "01"}},
        "resource.1, value": {"value": one},
        "resource.1.value": {"value": one},
    }


def test_attributes() -> None:
    life = made(group(2, {"k": ["%index%"]}))
    assert life.attribute("value", "k", 0) == ["0", "1"]
    assert life.attribute("attributes", "value", "k") == {"0": ["0"], "1": ["1"]}
    assert life.attribute("refs") == ["0-physical-1", "1-physical-2"]
    assert life.attribute("refs", 1) == "1-physical-2"
    assert life.attribute("refs_map") == {"0": "0-physical-1", "1": "1-physical-2"}
    assert life.attribute("resource.1") == "1-physical-2"
    assert life.attribute("resource.1", "value", "k", 0) == "1"
    assert life.attribute("resource.1.value", "k") == ["1"]
    assert life.attribute("removed_rsrc_list") == []


def test_attributes_that_are_not_there() -> None:
    life = made(group(1))
    with pytest.raises(InvalidTemplateAttribute, match=r"\(g attributes\)"):
        life.attribute("attributes")
    with pytest.raises(InvalidTemplateAttribute, match=r"\(0 zzz\)"):
        life.attribute("zzz")
    with pytest.raises(TemplateError, match="Member '5' not found in group resource 'g'") as raised:
        life.attribute("resource.5", "value")
    assert raised.value.heat_type == "NotFound"


def test_a_pause_may_not_be_too_long() -> None:
    policy = {"rolling_update": {"pause_time": 3601}}
    with pytest.raises(ValueError, match="Maximum pause_time"):
        NestedLifecycle(ResourceGroup, group(1), update_policy=policy).validate()


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"count": -1}, id="count"),
        pytest.param({"index_var": "%"}, id="short-variable"),
        pytest.param({"removal_policies_mode": "sometimes"}, id="mode"),
    ],
)
def test_properties_that_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationErrors):
        NestedLifecycle(ResourceGroup, {**group(1), **wrong}).validate()
