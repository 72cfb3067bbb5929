"""The types whose physical side is a nested stack, and what goes with them: where they stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

TYPES: Final[Mapping[str, str]] = {
    "AWS::AutoScaling::AutoScalingGroup": "instance_group:CfnAutoScalingGroup",
    "AWS::AutoScaling::LaunchConfiguration": "launch_configuration:LaunchConfiguration",
    "AWS::AutoScaling::ScalingPolicy": "scaling_policy:CfnScalingPolicy",
    "AWS::CloudFormation::Stack": "child_stack:CfnStack",
    "OS::Heat::AutoScalingGroup": "autoscaling_group:AutoScalingGroup",
    "OS::Heat::InstanceGroup": "instance_group:InstanceGroup",
    "OS::Heat::ResourceChain": "resource_chain:ResourceChain",
    "OS::Heat::ResourceGroup": "resource_group:ResourceGroup",
    "OS::Heat::ScalingPolicy": "scaling_policy:ScalingPolicy",
    "OS::Heat::SoftwareDeploymentGroup": "deployment_group:SoftwareDeploymentGroup",
    "OS::Heat::SoftwareDeployments": "deployment_group:SoftwareDeployments",
    "OS::Heat::Stack": "child_stack:Stack",
    "OS::Heat::StructuredDeploymentGroup": "deployment_group:StructuredDeploymentGroup",
    "OS::Heat::StructuredDeployments": "deployment_group:StructuredDeployments",
    "Zonda::ForEach": "for_each:ForEach",
}
