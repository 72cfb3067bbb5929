"""Registers the types and constraints of this package through the public hooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from zonda.hooks import BaseCustomConstraint, Resource, hookimpl, lazy_types

#: The types whose physical side is a nested stack, and those used with them, by module.
COMPOSITE_TYPES: Final[Mapping[str, str]] = {
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
_TYPES: Final[Mapping[str, str]] = {
    **COMPOSITE_TYPES,
    "AWS::CloudFormation::WaitCondition": "signals.wait_condition:AwsWaitCondition",
    "AWS::CloudFormation::WaitConditionHandle": (
        "signals.wait_condition_handle:AwsWaitConditionHandle"
    ),
    "OS::Heat::CloudConfig": "software.config:CloudConfig",
    "OS::Heat::Delay": "basic.delay:Delay",
    "OS::Heat::DeployedServer": "software.deployed_server:DeployedServer",
    "OS::Heat::MultipartMime": "software.multipart_mime:MultipartMime",
    "OS::Heat::None": "basic.none:NoneResource",
    "OS::Heat::RandomString": "basic.random_string:RandomString",
    "OS::Heat::SoftwareComponent": "software.component:SoftwareComponent",
    "OS::Heat::SoftwareConfig": "software.config:SoftwareConfig",
    "OS::Heat::SoftwareDeployment": "software.deployment:SoftwareDeployment",
    "OS::Heat::StructuredConfig": "software.config:StructuredConfig",
    "OS::Heat::StructuredDeployment": "software.deployment:StructuredDeployment",
    "OS::Heat::TestResource": "basic.test_resource:TestResource",
    "OS::Heat::UpdateWaitConditionHandle": (
        "signals.wait_condition_handle:UpdateWaitConditionHandle"
    ),
    "OS::Heat::Value": "basic.value:Value",
    "OS::Heat::WaitCondition": "signals.wait_condition:WaitCondition",
    "OS::Heat::WaitConditionHandle": "signals.wait_condition_handle:WaitConditionHandle",
}
_CONSTRAINTS: Final[Mapping[str, str]] = {
    "cron_expression": "constraints.text:CronExpression",
    "dns_domain": "constraints.network:DnsDomain",
    "dns_name": "constraints.network:DnsName",
    "expiration": "constraints.text:Expiration",
    "ip_addr": "constraints.network:IpAddress",
    "ip_or_cidr": "constraints.network:IpOrCidr",
    "iso_8601": "constraints.text:Iso8601",
    "json_string": "constraints.text:JsonString",
    "mac_addr": "constraints.network:MacAddress",
    "net_cidr": "constraints.network:Cidr",
    "rel_dns_name": "constraints.network:RelativeDnsName",
    "timezone": "constraints.text:Timezone",
}


@hookimpl
def zonda_resource_types() -> Mapping[str, type[Resource]]:
    """The types that need nothing but zonda itself."""
    return lazy_types(__package__, _TYPES)


@hookimpl
def zonda_constraints() -> Mapping[str, type[BaseCustomConstraint]]:
    """Heat's constraints that ask no service."""
    return lazy_types(__package__, _CONSTRAINTS)
