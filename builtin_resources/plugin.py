"""Registers what this room brings, through the same hooks that a stranger uses."""

from __future__ import annotations

from collections.abc import Mapping

from zonda.hooks.constraints import BaseCustomConstraint
from zonda.hooks.markers import hookimpl
from zonda.hooks.resource import Resource

from .composite import TYPES as COMPOSITE_TYPES
from .constraints_network import (
    Cidr,
    DnsDomain,
    DnsName,
    IpAddress,
    IpOrCidr,
    MacAddress,
    RelativeDnsName,
)
from .constraints_text import CronExpression, Expiration, Iso8601, JsonString, Timezone
from .delay import Delay
from .deployed_server import DeployedServer
from .multipart_mime import MultipartMime
from .none import NoneResource
from .random_string import RandomString
from .software_component import SoftwareComponent
from .software_config import CloudConfig, SoftwareConfig, StructuredConfig
from .software_deployment import SoftwareDeployment, StructuredDeployment
from .test_resource import TestResource
from .value import Value
from .wait_condition import AwsWaitCondition, WaitCondition
from .wait_handle import (
    AwsWaitConditionHandle,
    UpdateWaitConditionHandle,
    WaitConditionHandle,
)


@hookimpl
def zonda_resource_types() -> Mapping[str, type[Resource]]:
    """The types that need nothing but zonda itself."""
    return {
        **COMPOSITE_TYPES,
        "AWS::CloudFormation::WaitCondition": AwsWaitCondition,
        "AWS::CloudFormation::WaitConditionHandle": AwsWaitConditionHandle,
        "OS::Heat::CloudConfig": CloudConfig,
        "OS::Heat::Delay": Delay,
        "OS::Heat::DeployedServer": DeployedServer,
        "OS::Heat::MultipartMime": MultipartMime,
        "OS::Heat::None": NoneResource,
        "OS::Heat::RandomString": RandomString,
        "OS::Heat::SoftwareComponent": SoftwareComponent,
        "OS::Heat::SoftwareConfig": SoftwareConfig,
        "OS::Heat::SoftwareDeployment": SoftwareDeployment,
        "OS::Heat::StructuredConfig": StructuredConfig,
        "OS::Heat::StructuredDeployment": StructuredDeployment,
        "OS::Heat::TestResource": TestResource,
        "OS::Heat::UpdateWaitConditionHandle": UpdateWaitConditionHandle,
        "OS::Heat::Value": Value,
        "OS::Heat::WaitCondition": WaitCondition,
        "OS::Heat::WaitConditionHandle": WaitConditionHandle,
    }


@hookimpl
def zonda_constraints() -> Mapping[str, type[BaseCustomConstraint]]:
    """Heat's constraints that ask no service."""
    return {
        "cron_expression": CronExpression,
        "dns_domain": DnsDomain,
        "dns_name": DnsName,
        "expiration": Expiration,
        "ip_addr": IpAddress,
        "ip_or_cidr": IpOrCidr,
        "iso_8601": Iso8601,
        "json_string": JsonString,
        "mac_addr": MacAddress,
        "net_cidr": Cidr,
        "rel_dns_name": RelativeDnsName,
        "timezone": Timezone,
    }
