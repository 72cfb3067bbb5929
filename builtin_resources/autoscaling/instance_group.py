"""Groups of instances in CloudFormation's words; what an instance is, the registry says."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Final

from zonda.hooks import ChildTemplate, SupportStatus, TemplateError, attributes, properties

from ..groups import member_template
from ..groups.member_template import Entry
from ..groups.rolling_update import UpdatePolicy
from .base import ScaledGroup
from .capacity import Bounds
from .launch_configuration import LaunchConfiguration
from .size_properties import Sized

#: The type of the members: whoever has no such type gives it another meaning in the registry.
INSTANCE: Final = "AWS::EC2::Instance"
CONFIGURATION: Final = "LaunchConfigurationName"
SIZE: Final = "Size"
TAGS: Final = "Tags"
INSTANCE_LIST: Final = "InstanceList"
ADDRESS: Final = "PublicIp"
MIN_SIZE: Final = "MinSize"
MAX_SIZE: Final = "MaxSize"
DESIRED: Final = "DesiredCapacity"
COOLDOWN: Final = "Cooldown"
ZONE: Final = "VPCZoneIdentifier"
MOST: Final = 1 << 31

_DURATION: Final = re.compile(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?")
_Schema = properties.Schema


def _parse_duration(duration: str) -> int:
    """The seconds of ``PT1H30M5S``; raises ValueError."""
    match = _DURATION.fullmatch(duration)
    if match is None:
        raise ValueError("Only ISO 8601 duration format of the form PT#H#M#S is supported.")
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return 3600 * hours + 60 * minutes + seconds


def _make_policy_schema(name: str) -> dict[str, properties.Schema]:
    whole = properties.Schema.INTEGER
    schema = {
        "MinInstancesInService": _Schema(
            whole, "The instances that are left alone, at least, while others change.", default=0
        ),
        "MaxBatchSize": _Schema(whole, "The most instances to replace at once.", default=1),
        "PauseTime": _Schema(
            _Schema.STRING, "The time between two batches, as PT1H2M3S.", default="PT0S"
        ),
    }
    text = "How instances are given a new configuration; those there are keep theirs without it."
    return {name: _Schema(_Schema.MAP, text, schema=schema)}


def _make_shared_schema(*, required: bool) -> dict[str, properties.Schema]:
    text = properties.Schema.STRING
    return {
        "AvailabilityZones": _Schema(_Schema.LIST, "Accepted, without effect.", required=True),
        CONFIGURATION: _Schema(
            text,
            "The reference of the launch configuration.",
            required=required,
            update_allowed=True,
        ),
        "LoadBalancerNames": _Schema(_Schema.LIST, "Accepted, without effect."),
        TAGS: _Schema(
            _Schema.LIST,
            "Tags that every instance gets.",
            schema=_Schema(
                _Schema.MAP,
                "One tag.",
                schema={
                    "Key": _Schema(text, "The name of the tag.", required=True),
                    "Value": _Schema(text, "Its value.", required=True),
                },
            ),
        ),
    }


class InstanceGroup(ScaledGroup):
    """So many instances of one launch configuration.

    An instance is of the type ``AWS::EC2::Instance``: the resource registry says what that is.
    """

    support_status = SupportStatus(version="2014.1")
    type_properties = ()
    always_used_types = (INSTANCE,)
    renamed_properties: ClassVar[Collection[str]] = (CONFIGURATION,)
    #: The name of the update policy.
    rolling: ClassVar[str] = "RollingUpdate"
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        **_make_shared_schema(required=True),
        SIZE: _Schema(
            _Schema.INTEGER, "How many instances there are.", required=True, update_allowed=True
        ),
    }
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        INSTANCE_LIST: attributes.Schema(
            f"The {ADDRESS} of the instances, with commas in between.",
            type=attributes.Schema.STRING,
        )
    }
    update_policy_schema: ClassVar[Mapping[str, properties.Schema]] = _make_policy_schema(
        "RollingUpdate"
    )

    def validate(self) -> None:
        """Check the number of instances and the length of pauses."""
        self.check_size(self.first_size())
        pace = self.get_update_policy()
        if pace is not None and pace.pause > 3600:
            raise ValueError("Maximum PauseTime is 1 hour.")

    def bounds(self) -> Bounds:
        """The bounds, which are the property ``Size`` alone."""
        return Bounds(0, MOST)

    def first_size(self) -> int:
        """The property ``Size``."""
        return int(self.properties[SIZE])

    def size_after_update(self, size: int) -> float:
        """The property ``Size``."""
        return float(self.properties[SIZE])

    def get_update_policy(self) -> UpdatePolicy | None:
        """The update policy."""
        if self.rolling not in self.t.update_policy:
            return None
        policy = properties.Properties(self.update_policy_schema, self.t.update_policy)
        given = policy[self.rolling]
        service, batch = given["MinInstancesInService"], given["MaxBatchSize"]
        return UpdatePolicy(batch, service, _parse_duration(given["PauseTime"]))

    def member_types(self) -> Collection[str]:
        """The type of an instance."""
        return [INSTANCE]

    def template_for_validation(self) -> ChildTemplate | None:
        """Return None: the launch configuration does not exist yet."""
        return None

    def member(self) -> Entry:
        """The launch configuration, as an instance."""
        return member_template.build_entry(
            INSTANCE, {**self._build_launch_properties(), TAGS: self.tags()}
        )

    def tags(self) -> list[Any]:
        """The tags, and the one by which measurements find the group."""
        given = list(self.properties[TAGS])
        if any(tag["Key"].startswith("metering.") for tag in given):
            return given
        return [*given, {"Key": "metering.groupname", "Value": self.physical_resource_name()}]

    def _build_launch_properties(self) -> Mapping[str, Any]:
        reference = self.properties[CONFIGURATION]
        for other in self.context.required_resources().values():
            if isinstance(other, LaunchConfiguration) and other.get_reference_id() == reference:
                return other.instance_properties()
        raise ValueError(
            f"{CONFIGURATION} ({reference}) requires a reference to the configuration not just "
            "the name of the resource."
        )

    def build_output(self, names: Collection[str], path: Sequence[Any]) -> Any:
        """The addresses, where somebody reads them."""
        if path[0] == INSTANCE_LIST:
            return member_template.build_attribute_list(names, [ADDRESS])
        return super().build_output(names, tuple(path))

    def _resolve_attribute(self, name: str) -> Any:
        if name != INSTANCE_LIST:
            return super()._resolve_attribute(name)
        found = [str(member.attribute(ADDRESS) or "0.0.0.0") for member in self.present()]
        return ",".join(found) or None


class CfnAutoScalingGroup(Sized, InstanceGroup):
    """Instances of one launch configuration, as many as are needed just now.

    CloudFormation's group; an instance is of the type ``AWS::EC2::Instance``: the resource registry
    says what that is.
    """

    example: ClassVar[Mapping[str, Any]] = {
        "AvailabilityZones": [],
        CONFIGURATION: "the-configuration",
        MIN_SIZE: 1,
        MAX_SIZE: 3,
    }
    rolling = "AutoScalingRollingUpdate"
    renamed_properties = (CONFIGURATION, ZONE)
    sized_names = (MIN_SIZE, MAX_SIZE, DESIRED)
    cooled_by = COOLDOWN
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        **_make_shared_schema(required=False),
        MAX_SIZE: _Schema(
            _Schema.INTEGER, "The largest number of instances.", required=True, update_allowed=True
        ),
        MIN_SIZE: _Schema(
            _Schema.INTEGER, "The smallest number of instances.", required=True, update_allowed=True
        ),
        COOLDOWN: _Schema(
            _Schema.NUMBER,
            "The seconds after a change of size in which no signal counts.",
            update_allowed=True,
        ),
        DESIRED: _Schema(
            _Schema.INTEGER,
            "The number of instances at first, and after an update.",
            update_allowed=True,
        ),
        ZONE: _Schema(
            _Schema.LIST,
            "The subnet of the instances: a list of one.",
            schema=_Schema(_Schema.STRING, "The id of a subnet."),
        ),
    }
    update_policy_schema: ClassVar[Mapping[str, properties.Schema]] = _make_policy_schema(rolling)

    def validate(self) -> None:
        """Check that there is a launch configuration, and one subnet at most."""
        super().validate()
        if not self.properties[CONFIGURATION]:
            raise TemplateError(f"{CONFIGURATION} must be provided.")
        if len(self.properties[ZONE]) > 1:
            raise TemplateError(f"Anything other than one {ZONE} is not supported.")

    def tags(self) -> list[Any]:
        """The tags, and one more by which measurements find the group."""
        own = {"Key": "metering.AutoScalingGroupName", "Value": self.physical_resource_name()}
        return [*super().tags(), own]

    def _build_launch_properties(self) -> Mapping[str, Any]:
        subnet = self.properties[ZONE][:1]
        return {**super()._build_launch_properties(), **({"SubnetId": subnet[0]} if subnet else {})}
