"""Registers what this room brings, through the same hooks that a stranger uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from zonda.hooks import lazy
from zonda.hooks.markers import hookimpl
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.constraints import BaseCustomConstraint

from . import composite

_TYPES: Final[Mapping[str, str]] = {
    **composite.TYPES,
    "AWS::CloudFormation::WaitCondition": "wait_condition:AwsWaitCondition",
    "AWS::CloudFormation::WaitConditionHandle": "wait_handle:AwsWaitConditionHandle",
    "OS::Heat::CloudConfig": "software_config:CloudConfig",
    "OS::Heat::Delay": "delay:Delay",
    "OS::Heat::DeployedServer": "deployed_server:DeployedServer",
    "OS::Heat::MultipartMime": "multipart_mime:MultipartMime",
    "OS::Heat::None": "none:NoneResource",
    "OS::Heat::RandomString": "random_string:RandomString",
    "OS::Heat::SoftwareComponent": "software_component:SoftwareComponent",
    "OS::Heat::SoftwareConfig": "software_config:SoftwareConfig",
    "OS::Heat::SoftwareDeployment": "software_deployment:SoftwareDeployment",
    "OS::Heat::StructuredConfig": "software_config:StructuredConfig",
    "OS::Heat::StructuredDeployment": "software_deployment:StructuredDeployment",
    "OS::Heat::TestResource": "test_resource:TestResource",
    "OS::Heat::UpdateWaitConditionHandle": "wait_handle:UpdateWaitConditionHandle",
    "OS::Heat::Value": "value:Value",
    "OS::Heat::WaitCondition": "wait_condition:WaitCondition",
    "OS::Heat::WaitConditionHandle": "wait_handle:WaitConditionHandle",
}
_CONSTRAINTS: Final[Mapping[str, str]] = {
    "cron_expression": "constraints_text:CronExpression",
    "dns_domain": "constraints_network:DnsDomain",
    "dns_name": "constraints_network:DnsName",
    "expiration": "constraints_text:Expiration",
    "ip_addr": "constraints_network:IpAddress",
    "ip_or_cidr": "constraints_network:IpOrCidr",
    "iso_8601": "constraints_text:Iso8601",
    "json_string": "constraints_text:JsonString",
    "mac_addr": "constraints_network:MacAddress",
    "net_cidr": "constraints_network:Cidr",
    "rel_dns_name": "constraints_network:RelativeDnsName",
    "timezone": "constraints_text:Timezone",
}


@hookimpl
def zonda_resource_types() -> Mapping[str, type[Resource]]:
    """The types that need nothing but zonda itself."""
    return lazy.brought(__package__, _TYPES)


@hookimpl
def zonda_constraints() -> Mapping[str, type[BaseCustomConstraint]]:
    """Heat's constraints that ask no service."""
    return lazy.brought(__package__, _CONSTRAINTS)
