"""Groups that scale: the arithmetic, the names, cooldowns, updates and the policies."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.builtin_resources.autoscaling.autoscaling_group import AutoScalingGroup
from zonda.builtin_resources.autoscaling.capacity import (
    CHANGE,
    EXACT,
    PERCENT,
    Bounds,
    compute_size,
    find_first_unused,
    list_free_names,
    make_member_name,
)
from zonda.builtin_resources.autoscaling.scaling_policy import CfnScalingPolicy, ScalingPolicy
from zonda.hooks.errors import (
    InvalidTemplateAttribute,
    NoActionRequired,
    NotSupported,
    TemplateError,
    ValidationErrors,
)
from zonda.hooks.resources.nested_stack import CONVERGE
from zonda.hooks.testing import FakeContext, Lifecycle, NestedLifecycle


@pytest.mark.parametrize(
    ("size", "kind", "adjustment", "step", "expected"),
    [
        pytest.param(2, CHANGE, 1, 0, 3, id="more"),
        pytest.param(2, CHANGE, -1, 0, 1, id="fewer"),
        pytest.param(2, CHANGE, 50, 0, 20, id="not-beyond-the-largest"),
        pytest.param(2, CHANGE, -50, 0, 1, id="not-below-the-smallest"),
        pytest.param(2, CHANGE, 1.5, 0, 3.5, id="no-whole-number"),
        pytest.param(2, EXACT, 5, 0, 5, id="exact"),
        pytest.param(2, EXACT, 0, 0, 1, id="exact-below"),
        pytest.param(2, PERCENT, 50, 0, 3, id="half-more"),
        pytest.param(2, PERCENT, 25, 0, 3, id="0.5-is-1"),
        pytest.param(2, PERCENT, 10, 0, 3, id="0.2-is-1"),
        pytest.param(3, PERCENT, -10, 0, 2, id="-0.3-is--1"),
        pytest.param(3, PERCENT, -50, 0, 2, id="-1.5-is--1"),
        pytest.param(5, PERCENT, 50, 0, 7, id="2.5-is-2"),
        pytest.param(3, PERCENT, 100, 0, 6, id="twice"),
        pytest.param(4, PERCENT, 25, 3, 7, id="least-step"),
        pytest.param(8, PERCENT, -25, 3, 5, id="least-step-down"),
        pytest.param(8, PERCENT, 50, 3, 12, id="step-large-enough"),
        pytest.param(0, PERCENT, 50, 0, 1, id="nothing-of-nothing"),
    ],
)
def test_the_new_size(size: int, kind: str, adjustment: float, step: int, expected: float) -> None:
    assert compute_size(size, kind, adjustment, step, Bounds(1, 20)) == expected


def test_names_are_the_same_for_whoever_asks_and_never_taken() -> None:
    names = list_free_names("seed", 0, ())
    first, second, third = (next(names) for _ in range(3))
    assert first == make_member_name("seed", 0)
    assert next(list_free_names("seed", 0, {first})) == second
    assert make_member_name("other", 0) != first
    assert (len(first), first.isalnum(), first.islower()) == (12, True, True)
    assert find_first_unused("seed", 0, {first, third}) == 3
    assert find_first_unused("seed", 3, {first, third}) == 3


def scaling(value: Any = "a", *, least: int = 1, most: int = 6, **others: Any) -> dict[str, Any]:
    resource = {"type": "OS::Heat::Value", "properties": {"value": value}}
    return {"min_size": least, "max_size": most, "resource": resource, **others}


def made(properties: dict[str, Any]) -> NestedLifecycle:
    life = NestedLifecycle(AutoScalingGroup, properties, name="g")
    life.validate()
    life.create()
    return life


def order(by: float, kind: str = CHANGE, **others: Any) -> dict[str, Any]:
    return {"adjustment_type": kind, "scaling_adjustment": by, **others}


def names(life: NestedLifecycle) -> list[str]:
    return [member.name for member in life.child.members()]


def values(life: NestedLifecycle) -> list[list[Any]]:
    templates = [step.template or {} for step in life.steps]
    return [
        [one["properties"]["value"] for one in template["resources"].values()]
        for template in templates
    ]


@pytest.mark.parametrize(
    ("properties", "size"),
    [
        pytest.param(scaling(), 1, id="the-smallest"),
        pytest.param(scaling(desired_capacity=3), 3, id="as-desired"),
        pytest.param(scaling(least=0, most=0), 0, id="none"),
    ],
)
def test_the_size_at_first(properties: dict[str, Any], size: int) -> None:
    assert made(properties).attribute("current_size") == size


def test_a_signal_adds_members_and_the_oldest_go_first() -> None:
    life = made(scaling(desired_capacity=2))
    old = names(life)
    assert life.signal(order(1)) is CONVERGE
    assert names(life)[:2] == old
    life.signal(order(-2))
    assert len(names(life)) == 1
    assert not set(names(life)) & set(old)


def test_names_are_not_used_again() -> None:
    life = made(scaling(least=0, desired_capacity=2))
    before = set(names(life))
    life.signal(order(0, EXACT))
    life.signal(order(3))
    assert not set(names(life)) & before


def test_failed_members_go_first_and_do_not_count() -> None:
    life = made(scaling(desired_capacity=3))
    broken = life.child.members()[2]
    broken.status = "FAILED"
    assert life.attribute("current_size") == 2
    life.update(scaling(desired_capacity=2))
    assert broken.name not in names(life)


@pytest.mark.parametrize(
    ("details", "reason"),
    [
        pytest.param(order(0), "2 members already", id="no-difference"),
        pytest.param(order(2, EXACT), "2 members already", id="the-size-it-has"),
        pytest.param(order(-5), "2 members already", id="at-the-bound"),
    ],
)
def test_signals_that_change_nothing(details: dict[str, Any], reason: str) -> None:
    life = made(scaling(least=2, desired_capacity=2))
    before = dict(life.saved.data)
    with pytest.raises(NoActionRequired, match=reason):
        life.signal(details)
    assert life.saved.data == before


def test_a_size_that_is_no_whole_number_fails() -> None:
    life = made(scaling(desired_capacity=2))
    with pytest.raises(TypeError, match="slice indices must be integers"):
        life.signal(order(1.5))


def test_a_signal_that_is_no_policys_is_refused() -> None:
    life = made(scaling())
    with pytest.raises(NotSupported, match="'SIGNAL' not supported for Test::Resource"):
        life.signal({"current": "alarm"})


def test_a_group_that_is_not_complete_is_not_scaled() -> None:
    life = made(scaling())
    life.child.status = "IN_PROGRESS"
    with pytest.raises(NoActionRequired, match="not complete"):
        life.signal(order(1))


def test_the_groups_cooldown_begins_when_it_is_made() -> None:
    life = made(scaling(cooldown=600))
    with pytest.raises(NoActionRequired, match="cools down"):
        life.signal(order(1))
    life.context.clock.advance(600)
    life.signal(order(1))
    with pytest.raises(NoActionRequired, match="cools down"):
        life.signal(order(1))


def test_the_policys_cooldown_comes_first_and_the_later_end_counts() -> None:
    life = made(scaling(cooldown=60))
    life.context.clock.advance(61)
    life.signal(order(1, cooldown=600))
    life.context.clock.advance(61)
    with pytest.raises(NoActionRequired):  # whatever the next policy says
        life.signal(order(1, cooldown=0))
    life.context.clock.advance(540)
    life.signal(order(1, cooldown=0))
    life.signal(order(1, cooldown=0))


def test_a_failed_change_starts_no_cooldown() -> None:
    life = made(scaling(least=0))
    life.child.failing.update(make_member_name(life.uuid, number) for number in range(4))
    with pytest.raises(Exception, match="failed as the test wants it"):
        life.signal(order(1, cooldown=600))
    assert "cools_until" not in life.saved.data


def test_an_update_without_a_desired_size_keeps_what_policies_have_made() -> None:
    life = made(scaling("a"))
    life.signal(order(2))
    before = names(life)
    life.update(scaling("b"))
    assert names(life) == before
    assert values(life) == [["b", "a", "a"], ["b", "b", "a"], ["b", "b", "b"]]


@pytest.mark.parametrize(
    ("after", "size"),
    [
        pytest.param(scaling("a", desired_capacity=4), 4, id="desired"),
        pytest.param(scaling("a", most=2), 2, id="capped"),
        pytest.param(scaling("a", least=5), 5, id="raised"),
        pytest.param(scaling("b", desired_capacity=2), 2, id="with-another-definition"),
    ],
)
def test_the_size_after_an_update(after: dict[str, Any], size: int) -> None:
    life = made(scaling("a", desired_capacity=3))
    life.update(after)
    assert life.attribute("current_size") == size
    assert {member.definition["properties"]["value"] for member in life.child.members()} == {
        after["resource"]["properties"]["value"]
    }


def test_members_are_left_in_service_while_others_change() -> None:
    policy = {"min_in_service": 2, "max_batch_size": 1, "pause_time": 9}
    life = made(scaling("a", desired_capacity=2, rolling_updates=policy))
    before = names(life)
    life.update(scaling("b", desired_capacity=2, rolling_updates=policy))
    assert values(life) == [["a", "a", "b"], ["b", "a", "b"], ["b", "b", "b"], ["b", "b"]]
    assert [step.pause for step in life.steps] == [0, 9, 9, 0]
    assert names(life) == before


def test_scaling_leaves_outdated_members_what_they_are() -> None:
    life = made(scaling("a", desired_capacity=2))
    life.child.failing.add(names(life)[1])
    with pytest.raises(Exception, match="failed as the test wants it"):
        life.update(scaling("b", desired_capacity=2))
    life.child.status = life.status = "COMPLETE"
    life.child.members()[1].status = "COMPLETE"
    life.child.members()[1].definition = scaling("a")["resource"]
    life.definition = life.definition.freeze(properties=scaling("c"))
    life.signal(order(1))
    assert values(life) == [["b", "a", "c"]]


def test_a_group_of_a_thousand_grows_by_one() -> None:
    life = made(scaling(most=2000, desired_capacity=1000))
    before = {member.name: member for member in life.child.members()}
    life.signal(order(1))
    after = {member.name: member for member in life.child.members()}
    assert len(after) == 1001
    assert {name: after[name] for name in before} == before


def test_attributes() -> None:
    life = made(scaling({"k": ["z"]}, desired_capacity=2))
    first, second = names(life)
    assert life.attribute("outputs", "value", "k", 0) == {first: "z", second: "z"}
    assert life.attribute("outputs_list", "value", "k") == [["z"], ["z"]]
    # keys below these do not count, as in Heat
    assert life.attribute("refs", 1)[1] == f"{second}-physical-2"
    assert life.attribute("refs_map", first)[first] == f"{first}-physical-1"
    assert life.attribute("resource.1", "value", "k") == ["z"]
    assert life.attribute(f"resource.{first}.value", "k") == ["z"]
    assert life.attribute("resource.1") == f"{second}-physical-2"
    for name in ("outputs", "outputs_list", "value"):
        with pytest.raises(InvalidTemplateAttribute, match=rf"\(g {name}\)"):
            life.attribute(name)
    with pytest.raises(TemplateError, match="Member '2' not found"):
        life.attribute("resource.2")


def test_what_the_template_reads_becomes_outputs() -> None:
    life = NestedLifecycle(AutoScalingGroup, scaling())
    life.context.paths = frozenset({("outputs", "x"), ("outputs_list", "y"), ("current_size",)})
    life.create()
    (name,) = names(life)
    template = life.steps[0].template
    assert template is not None
    assert template["outputs"] == {
        "outputs, x": {"value": {name: {"get_attr": [name, "x"]}}},
        "outputs_list, y": {"value": [{"get_attr": [name, "y"]}]},
    }


def test_its_reference_is_its_physical_name() -> None:
    life = made(scaling())
    assert life.reference.startswith("teststack-g-")
    assert life.reference != life.resource_id


@pytest.mark.parametrize(
    ("properties", "text"),
    [
        pytest.param(scaling(least=3, most=2), "MinSize can not be greater", id="min-over-max"),
        pytest.param(scaling(least=-1), "can not be less than zero", id="negative"),
        pytest.param(scaling(desired_capacity=7), "must be between MinSize and", id="over"),
        pytest.param(scaling(least=2, desired_capacity=1), "must be between", id="under"),
        pytest.param(
            {"min_size": 1, "resource": {"type": "X"}},
            "^ValueError: resources.g: Property max_size not assigned",
            id="no-maximum",
        ),
        pytest.param({"min_size": 1, "max_size": 1}, "Property resource not assigned", id="none"),
    ],
)
def test_sizes_that_do_not_fit(properties: dict[str, Any], text: str) -> None:
    with pytest.raises(ValidationErrors, match=text):
        NestedLifecycle(AutoScalingGroup, properties, name="g").validate()


@pytest.mark.parametrize("size", ["min_size", "max_size", "desired_capacity"])
def test_a_size_that_is_no_number_is_told_in_heats_words_at_its_place(size: str) -> None:
    life = NestedLifecycle(AutoScalingGroup, {**scaling(), size: "abc"}, name="g")
    with pytest.raises(ValidationErrors, match=r"^ValueError: resources\.g: Value 'abc'") as caught:
        life.validate()
    assert caught.value.errors[0].at[-1] == size


def test_what_is_ignored_in_a_member_is_left_out_of_it() -> None:
    ignored = {"depends_on": "x", "condition": "no", "wibble": 1}
    read = {"type": "OS::Heat::Value", "properties": {"value": 1}, "deletion_policy": "Retain"}
    life = NestedLifecycle(
        AutoScalingGroup, {**scaling(), "resource": {**read, **ignored}}, name="g"
    )
    assert life.instance().member() == read


def test_a_member_needs_a_type() -> None:
    life = NestedLifecycle(AutoScalingGroup, {**scaling(), "resource": {"a": 1}}, name="g")
    with pytest.raises(TemplateError, match=r"KeyError: resources\.g<nested_stack>"):
        life.validate()


# -- policies -----------------------------------------------------------------------------------


def policy(**others: Any) -> dict[str, Any]:
    return {"auto_scaling_group_id": "the-group", **order(2), **others}


@pytest.mark.parametrize(
    ("details", "said"),
    [
        pytest.param(None, {"min_adjustment_step": None, "cooldown": None}, id="no-details"),
        pytest.param({"current": "ok"}, {"min_adjustment_step": None, "cooldown": None}, id="ok"),
    ],
)
def test_any_signal_is_handed_on_to_the_group(details: Any, said: dict[str, Any]) -> None:
    context = FakeContext()
    life = Lifecycle(ScalingPolicy, policy(), context=context)
    life.create()
    life.signal(details)
    assert context.signals == [("the-group", {**order(2), **said})]


def test_cloudformations_words_mean_the_same() -> None:
    context = FakeContext()
    properties = {
        "AutoScalingGroupName": "the-group",
        "AdjustmentType": "PercentChangeInCapacity",
        "ScalingAdjustment": 50,
        "MinAdjustmentStep": 2,
        "Cooldown": "60",
    }
    life = Lifecycle(CfnScalingPolicy, properties, context=context)
    life.validate()
    life.create()
    life.signal()
    expected = order(50, PERCENT, min_adjustment_step=2, cooldown=60)
    assert context.signals == [("the-group", expected)]


def test_a_least_step_goes_with_percentages_only() -> None:
    wrong = Lifecycle(ScalingPolicy, policy(min_adjustment_step=3))
    with pytest.raises(TemplateError, match="with value percent_change_in_capacity") as raised:
        wrong.validate()
    assert raised.value.heat_type == "ResourcePropertyValueDependency"
    Lifecycle(ScalingPolicy, policy(adjustment_type=PERCENT, min_adjustment_step=3)).validate()
