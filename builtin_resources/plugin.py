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
from .none import NoneResource
from .random_string import RandomString
from .test_resource import TestResource
from .value import Value


@hookimpl
def zonda_resource_types() -> Mapping[str, type[Resource]]:
    """The types that need nothing but zonda itself."""
    return {
        **COMPOSITE_TYPES,
        "OS::Heat::Delay": Delay,
        "OS::Heat::None": NoneResource,
        "OS::Heat::RandomString": RandomString,
        "OS::Heat::TestResource": TestResource,
        "OS::Heat::Value": Value,
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
