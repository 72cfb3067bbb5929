"""Errors of templates for which Heat has sentences of its own: services that are not here."""

from __future__ import annotations

import re

from zonda.core.template.source.document import UNREADABLE
from zonda.hooks.errors import RequestError, TemplateError, ValidationErrors

from ..identity.callers import Caller, Forbidden

_UNKNOWN = re.compile(r"The Resource Type \((OS::(\w+)::\w+)\) could not be found")
#: The end of a step on the way to a nested template that names the type of its owner.
_STACK = "has the type OS::Heat::Stack"
#: Services whose types Heat knows.
SERVICES = frozenset(
    [
        "Aodh",
        "Barbican",
        "Blazar",
        "Cinder",
        "Designate",
        "Glance",
        "Heat",
        "Ironic",
        "Keystone",
        "Magnum",
        "Manila",
        "Mistral",
        "Monasca",
        "Neutron",
        "Nova",
        "Octavia",
        "Sahara",
        "Senlin",
        "Swift",
        "Trove",
        "Vitrage",
        "Zaqar",
        "Zun",
    ]
) - {"Heat"}
#: Types that only administrators may have, by Heat's default policy.
FOR_ADMINISTRATORS = frozenset(
    {
        "OS::Blazar::Host",
        "OS::Cinder::EncryptedVolumeType",
        "OS::Cinder::QoSAssociation",
        "OS::Cinder::QoSSpecs",
        "OS::Cinder::Quota",
        "OS::Cinder::VolumeType",
        "OS::Manila::ShareType",
        "OS::Neutron::ProviderNet",
        "OS::Neutron::QoSBandwidthLimitRule",
        "OS::Neutron::QoSDscpMarkingRule",
        "OS::Neutron::QoSMinimumBandwidthRule",
        "OS::Neutron::QoSPolicy",
        "OS::Neutron::Quota",
        "OS::Neutron::Segment",
        "OS::Nova::Flavor",
        "OS::Nova::HostAggregate",
        "OS::Nova::Quota",
        "OS::Octavia::Flavor",
        "OS::Octavia::FlavorProfile",
        "OS::Octavia::Quota",
    }
)


def explain_template_error(
    error: TemplateError, caller: Caller, region: str
) -> RequestError | None:
    """The error that Heat has in place of ``error``; None where it is the same."""
    first = error.errors[0] if isinstance(error, ValidationErrors) else error
    return (
        _explain_unreadable(first)
        or _explain_unknown_type(first, caller)
        or _explain_stack(first, region)
    )


def _explain_unreadable(error: TemplateError) -> RequestError | None:
    """The error of a text that is no template, or no environment."""
    if error.code != UNREADABLE or error.way:
        return None
    is_template = error.place is None or error.place.file == "template"
    what = "Template" if is_template else "Environment"
    return RequestError(f"{what} not in valid format: {error}", hint=error.hint, code=error.code)


def _explain_stack(error: TemplateError, region: str) -> RequestError | None:
    """The error of a template in an ``OS::Heat::Stack``, which Heat has validated elsewhere."""
    if not any(step.message.endswith(_STACK) for step in error.way):
        return None
    refusal = RequestError(
        f'Failed validating stack template using Heat endpoint at region "{region}" due to '
        f'"ERROR: {error.message}"',
        hint=error.hint,
        code=error.code,
    )
    refusal.heat_type = error.heat_type
    return refusal


def _explain_unknown_type(error: TemplateError, caller: Caller) -> RequestError | None:
    """The error of a type whose service is not there, or that only administrators may have."""
    found = _UNKNOWN.search(str(error))
    if found is None or found[2] not in SERVICES:
        return None
    name, service = found[1], found[2].lower()
    if (name in FOR_ADMINISTRATORS or service == "keystone") and not caller.is_admin:
        return Forbidden(f"You are not authorized to use resource_types:{name}.")
    refusal = RequestError(
        f"HEAT-E99001 Service {service} is not available for resource type {name}, "
        "reason: no plug-in brings the type.",
        hint=error.hint,
        code=error.code,
    )
    refusal.heat_type = "ResourceTypeUnavailable"
    return refusal
