"""Groups of instances in CloudFormation's words."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.builtin_resources.autoscaling.instance_group import CfnAutoScalingGroup, InstanceGroup
from zonda.builtin_resources.autoscaling.launch_configuration import LaunchConfiguration
from zonda.hooks.errors import ValidationErrors, ZondaError
from zonda.hooks.testing import FakeContext, Lifecycle, NestedLifecycle

ADDRESSES = {"PublicIp": "10.0.0.1"}


def launched(image: str = "an-image") -> LaunchConfiguration:
    life = Lifecycle(LaunchConfiguration, {"ImageId": image, "InstanceId": None}, name=image)
    life.validate()
    life.create()
    instance = life.instance()
    assert isinstance(instance, LaunchConfiguration)
    return instance


def properties(config: LaunchConfiguration, **others: Any) -> dict[str, Any]:
    reference = config.get_reference_id()
    return {"AvailabilityZones": [], "LaunchConfigurationName": reference, **others}


def made(cls: type[Any], given: dict[str, Any], config: LaunchConfiguration) -> NestedLifecycle:
    context = FakeContext()
    context.others = {"lc": config}
    life = NestedLifecycle(cls, given, name="g", context=context, attributes_of=lambda _: ADDRESSES)
    life.validate()
    life.create()
    return life


def entries(life: NestedLifecycle) -> list[dict[str, Any]]:
    template = life.steps[-1].template
    assert template is not None
    return list(template["resources"].values())


def test_instances_are_made_of_the_launch_configuration() -> None:
    config = launched()
    life = made(InstanceGroup, properties(config, Size=2), config)
    tag = {"Key": "metering.groupname", "Value": life.reference}
    instance = {"ImageId": "an-image", "Tags": [tag]}
    assert entries(life) == [{"type": "AWS::EC2::Instance", "properties": instance}] * 2
    life.update(properties(config, Size=3))
    assert entries(life) == [{"type": "AWS::EC2::Instance", "properties": instance}] * 3
    assert life.attribute("InstanceList") == "10.0.0.1,10.0.0.1,10.0.0.1"


def test_a_tag_of_the_users_takes_the_place_of_ours() -> None:
    config, own = launched(), {"Key": "metering.mine", "Value": "x"}
    life = made(InstanceGroup, properties(config, Size=1, Tags=[own]), config)
    assert entries(life)[0]["properties"]["Tags"] == [own]


def test_without_an_update_policy_instances_keep_their_configuration() -> None:
    config, other = launched(), launched("another")
    life = made(InstanceGroup, properties(config, Size=1), config)
    life.context.others = {"lc": other}
    given = {**properties(other, Size=2), "LaunchConfigurationName": other.get_reference_id()}
    life.update(given)
    images = [one["properties"]["ImageId"] for one in entries(life)]
    assert images == ["an-image", "another"]


def test_with_one_they_are_replaced_in_batches() -> None:
    config, other = launched(), launched("another")
    context = FakeContext()
    context.others = {"lc": config}
    policy = {"RollingUpdate": {"MaxBatchSize": 1, "PauseTime": "PT1M5S"}}
    given = properties(config, Size=2)
    life = NestedLifecycle(InstanceGroup, given, context=context, update_policy=policy)
    life.create()
    context.others = {"lc": other}
    assert life.update(properties(other, Size=2)) == "updated"
    assert [step.pause for step in life.steps] == [0, 65]


def test_a_name_that_is_no_reference_fails() -> None:
    config = launched()
    given = {**properties(config, Size=1), "LaunchConfigurationName": "lc"}
    with pytest.raises(ValueError, match="requires a reference to the configuration"):
        made(InstanceGroup, given, config)


@pytest.mark.parametrize(
    ("pause", "text"),
    [
        pytest.param("PT1H1S", "Maximum PauseTime is 1 hour", id="too-long"),
        pytest.param("5 minutes", "Only ISO 8601 duration format", id="no-duration"),
    ],
)
def test_pauses_that_are_refused(pause: str, text: str) -> None:
    policy = {"RollingUpdate": {"PauseTime": pause}}
    life = NestedLifecycle(InstanceGroup, properties(launched(), Size=1), update_policy=policy)
    with pytest.raises(ValueError, match=text):
        life.validate()


def scaling(config: LaunchConfiguration, **others: Any) -> dict[str, Any]:
    return properties(config, MinSize=1, MaxSize=3, Cooldown="60", **others)


def test_cloudformations_group_scales() -> None:
    config = launched()
    life = made(CfnAutoScalingGroup, scaling(config, VPCZoneIdentifier=["net"]), config)
    life.context.clock.advance(61)
    life.signal({"adjustment_type": "change_in_capacity", "scaling_adjustment": 5})
    assert len(entries(life)) == 3
    member = entries(life)[0]["properties"]
    assert member["SubnetId"] == "net"
    assert [tag["Key"] for tag in member["Tags"]] == [
        "metering.groupname",
        "metering.AutoScalingGroupName",
    ]


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        pytest.param({"MaxSize": 0}, "MinSize can not be greater than MaxSize", id="sizes"),
        pytest.param({"LaunchConfigurationName": None}, "must be provided", id="no-configuration"),
        pytest.param({"VPCZoneIdentifier": ["a", "b"]}, "Anything other than one", id="subnets"),
    ],
)
def test_what_is_refused(wrong: dict[str, Any], text: str) -> None:
    given = {**scaling(launched()), **wrong}
    with pytest.raises((ValidationErrors, ZondaError), match=text):
        NestedLifecycle(CfnAutoScalingGroup, given).validate()


def test_the_configuration_is_not_looked_at_before_it_exists() -> None:
    life = NestedLifecycle(InstanceGroup, properties(launched(), Size=1))
    instance = life.instance()
    assert isinstance(instance, InstanceGroup)
    assert instance.template_for_validation() is None
