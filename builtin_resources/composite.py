"""The types whose physical side is a nested stack, and those used with them, by module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

TYPES: Final[Mapping[str, str]] = {
    "AWS::AutoScaling::AutoScalingGroup": "autoscaling.instance_group:CfnAutoScalingGroup",
    "AWS::AutoScaling::LaunchConfiguration": "autoscaling.launch_configuration:LaunchConfiguration",
    "AWS::AutoScaling::ScalingPolicy": "autoscaling.scaling_policy:CfnScalingPolicy",
    "AWS::CloudFormation::Stack": "stack:CfnStack",
    "OS::Heat::AutoScalingGroup": "autoscaling.autoscaling_group:AutoScalingGroup",
    "OS::Heat::InstanceGroup": "autoscaling.instance_group:InstanceGroup",
    "OS::Heat::ResourceChain": "groups.resource_chain:ResourceChain",
    "OS::Heat::ResourceGroup": "groups.resource_group:ResourceGroup",
    "OS::Heat::ScalingPolicy": "autoscaling.scaling_policy:ScalingPolicy",
    "OS::Heat::SoftwareDeploymentGroup": "software.deployment_group:SoftwareDeploymentGroup",
    "OS::Heat::SoftwareDeployments": "software.deployment_group:SoftwareDeployments",
    "OS::Heat::Stack": "stack:Stack",
    "OS::Heat::StructuredDeploymentGroup": "software.deployment_group:StructuredDeploymentGroup",
    "OS::Heat::StructuredDeployments": "software.deployment_group:StructuredDeployments",
    "Zonda::ForEach": "groups.for_each:ForEach",
}
