"""``Zonda::ForEach``: members by key."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.builtin_resources.groups.for_each import ForEach
from zonda.hooks.errors import ValidationErrors
from zonda.hooks.testing import NestedLifecycle


def each(keys: Any, value: Any = "%key%=%value%", **others: Any) -> dict[str, Any]:
    return {
        "for_each": keys,
        "resource_def": {"type": "OS::Heat::Value", "properties": {"value": value}},
        **others,
    }


def made(properties: dict[str, Any], **policy: Any) -> NestedLifecycle:
    life = NestedLifecycle(ForEach, properties, name="f", update_policy=policy)
    life.validate()
    life.create()
    return life


def values(life: NestedLifecycle) -> dict[str, Any]:
    template = life.steps[-1].template
    assert template is not None
    return {name: one["properties"]["value"] for name, one in template["resources"].items()}


@pytest.mark.parametrize(
    ("keys", "value", "expected"),
    [
        pytest.param(["a", "b"], "<%key%>", {"a": "<a>", "b": "<b>"}, id="list"),
        pytest.param([1, True], "%value%", {"1": 1, "true": True}, id="list-of-other-values"),
        pytest.param({"a": 1}, "%key%=%value%", {"a": "a=1"}, id="map"),
        pytest.param({"a": {"b": [1]}}, "%value%", {"a": {"b": [1]}}, id="a-structure-alone"),
        pytest.param({"a": {"b": 1}}, "is %value%", {"a": 'is {"b": 1}'}, id="in-a-text"),
        pytest.param({"a": {"b": [7]}}, "%value.b.0%", {"a": 7}, id="what-is-inside"),
        pytest.param({"a": {"b": [7]}}, "p%value.b.0%", {"a": "p7"}, id="inside-in-a-text"),
        pytest.param({"a": {}}, ["%value.b%", "x%value.b%"], {"a": [None, "x"]}, id="not-there"),
        pytest.param({"a": None}, "[%value%]", {"a": "[]"}, id="null"),
        pytest.param({"a": "%key%"}, "%value%", {"a": "%key%"}, id="a-value-is-not-looked-into"),
        pytest.param({"a": "x"}, {"%key%": "%key%"}, {"a": {"%key%": "a"}}, id="keys-stay"),
        pytest.param({}, "x", {}, id="nothing"),
    ],
)
def test_what_members_are_given(keys: Any, value: Any, expected: dict[str, Any]) -> None:
    assert values(made(each(keys, value))) == expected


def test_variables_of_other_names() -> None:
    properties = each({"a": {"n": 1}}, "{{k}} {{v.n}} %key%", key_var="{{k}}", value_var="{{v}}")
    assert values(made(properties)) == {"a": "a 1 %key%"}


def test_removing_one_in_the_middle_removes_only_that_one() -> None:
    life = made(each(["a", "b", "c"]))
    before = {member.name: member for member in life.child.members()}
    life.update(each(["c", "a"]))
    after = {member.name: member for member in life.child.members()}
    assert after == {name: before[name] for name in "ca"}
    assert all(member.action == "CREATE" for member in after.values())


def test_a_changed_value_changes_its_member_alone() -> None:
    life = made(each({"a": 1, "b": 2}))
    life.update(each({"a": 1, "b": 3}))
    assert [member.action for member in life.child.members()] == ["CREATE", "UPDATE"]


def test_batches() -> None:
    life = made(each(["a", "b", "c"]), batch_create={"max_batch_size": 2}, rolling_update={})
    assert [len(step.template["resources"]) for step in life.steps if step.template] == [2, 3]
    life.update(each(["a", "c"], "new %key%"))
    assert len(life.steps) == 2


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        pytest.param(["a", "a"], "The key a occurs twice", id="twice"),
        pytest.param([1, "1"], "The key 1 occurs twice", id="twice-as-text"),
        pytest.param([{"a": 1}], "A key must be text", id="a-structure"),
        pytest.param([None], "A key must be text", id="null-key"),
        pytest.param(["a/b"], "cannot be a name", id="slash"),
        pytest.param([""], "cannot be a name", id="empty"),
        pytest.param(["x" * 256], "cannot be a name", id="long"),
        pytest.param("abc", "takes a map or a list", id="text"),
    ],
)
def test_keys_that_are_none(keys: Any, text: str) -> None:
    with pytest.raises(ValidationErrors, match=text):
        NestedLifecycle(ForEach, each(keys), name="f").validate()


def test_attributes_by_key() -> None:
    life = made(each({"a": 1, "b": 2}, {"n": "%value%"}))
    assert life.attribute("value", "n") == {"a": 1, "b": 2}
    assert life.attribute("attributes", "value", "n") == {"a": 1, "b": 2}
    assert life.attribute("keys") == ["a", "b"]
    assert life.attribute("refs") == ["a-physical-1", "b-physical-2"]
    assert life.attribute("refs_map", "b") == "b-physical-2"
    assert life.attribute("resource.b", "value", "n") == 2


def test_what_the_template_reads_becomes_maps() -> None:
    life = NestedLifecycle(ForEach, each(["a"]))
    life.context.paths = frozenset({("value", "n"), ("keys",)})
    life.create()
    template = life.steps[0].template
    assert template is not None
    assert template["outputs"] == {"value, n": {"value": {"a": {"get_attr": ["a", "value", "n"]}}}}
