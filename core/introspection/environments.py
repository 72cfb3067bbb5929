"""A bundle's environments and their registry, read without a look at the template's resources.

Called by the modules beside it. Raises ValidationErrors, with places, where an environment is
wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from zonda.core.plugins.manager import Plugins
from zonda.core.template.capabilities import requirements
from zonda.core.template.capabilities.selection import TemplateSelector
from zonda.core.template.environment import environment as environments
from zonda.core.template.environment.environment import Environment
from zonda.core.template.source.bundle import Bundle, Limits
from zonda.core.template.types.declared_types import DeclaredTypes
from zonda.core.template.types.registry import Registry
from zonda.core.template.validation import locations
from zonda.hooks.errors import TemplateError, ValidationErrors


@dataclass(frozen=True, slots=True)
class Sources:
    """What the environments of a bundle say."""

    environment: Environment
    registry: Registry


def read(bundle: Bundle, plugins: Plugins, limits: Limits) -> Sources:
    """The environments of a bundle; parameters are not looked at."""
    faults: list[TemplateError] = []
    max_bytes = limits.max_template_bytes
    environment = environments.read(bundle, {}, faults, max_bytes=max_bytes)
    candidates = TemplateSelector(bundle.files, bundle.written, max_bytes=max_bytes)
    key_of = partial(bundle.key_of, bundle.template_file)
    texts = DeclaredTypes(plugins.type_readers, bundle, max_bytes)
    registry = Registry(plugins.resource_types, plugins.why_no_type, candidates, key_of, texts)
    registry.read(environment.registry, faults)
    if faults:
        for fault in faults:
            fault.stage = "environment"
        raise ValidationErrors([placed(fault, environment) for fault in faults])
    candidates.required = requirements.read(environment.requires)
    return Sources(environment, registry)


def placed(fault: TemplateError, environment: Environment) -> TemplateError:
    """``fault`` with its place in an environment, if it stands in one."""
    locations.fill([fault], None, environment)
    return fault
