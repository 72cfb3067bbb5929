"""The types whose physical side is a nested stack, and what goes with them, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from zonda.hooks.resource import Resource

from .autoscaling_group import AutoScalingGroup
from .child_stack import CfnStack, Stack
from .deployment_group import (
    SoftwareDeploymentGroup,
    SoftwareDeployments,
    StructuredDeploymentGroup,
    StructuredDeployments,
)
from .for_each import ForEach
from .instance_group import CfnAutoScalingGroup, InstanceGroup
from .launch_configuration import LaunchConfiguration
from .resource_chain import ResourceChain
from .resource_group import ResourceGroup
from .scaling_policy import CfnScalingPolicy, ScalingPolicy

TYPES: Final[Mapping[str, type[Resource]]] = {
    "AWS::AutoScaling::AutoScalingGroup": CfnAutoScalingGroup,
    "AWS::AutoScaling::LaunchConfiguration": LaunchConfiguration,
    "AWS::AutoScaling::ScalingPolicy": CfnScalingPolicy,
    "AWS::CloudFormation::Stack": CfnStack,
    "OS::Heat::AutoScalingGroup": AutoScalingGroup,
    "OS::Heat::InstanceGroup": InstanceGroup,
    "OS::Heat::ResourceChain": ResourceChain,
    "OS::Heat::ResourceGroup": ResourceGroup,
    "OS::Heat::ScalingPolicy": ScalingPolicy,
    "OS::Heat::SoftwareDeploymentGroup": SoftwareDeploymentGroup,
    "OS::Heat::SoftwareDeployments": SoftwareDeployments,
    "OS::Heat::Stack": Stack,
    "OS::Heat::StructuredDeploymentGroup": StructuredDeploymentGroup,
    "OS::Heat::StructuredDeployments": StructuredDeployments,
    "Zonda::ForEach": ForEach,
}
