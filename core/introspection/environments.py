"""A bundle's environments and their registry, loaded without the template's resources.

Called by the modules beside it. Raises ValidationErrors, with places, where an environment is
wrong.
"""

from __future__ import annotations

from zonda.core.plugins.manager import Plugins
from zonda.core.template.capabilities import requirements
from zonda.core.template.definition.loader import build_registry
from zonda.core.template.environment import environment as environments
from zonda.core.template.environment.environment import Environment
from zonda.core.template.source.bundle import Bundle, Limits
from zonda.core.template.types.registry import Registry
from zonda.core.template.validation.report import attach_locations
from zonda.hooks.errors import TemplateError, ValidationErrors
from zonda.hooks.records import dataclass


@dataclass(frozen=True, slots=True)
class LoadedEnvironments:
    """The environments of a bundle, merged, and their registry."""

    environment: Environment
    registry: Registry


def load_environments(bundle: Bundle, plugins: Plugins, limits: Limits) -> LoadedEnvironments:
    """Load the environments of a bundle; parameters are not checked."""
    faults: list[TemplateError] = []
    environment = environments.load_environment(
        bundle, {}, faults, max_bytes=limits.max_template_bytes
    )
    registry = build_registry(bundle, plugins, limits)
    registry.read(environment.registry, faults)
    if faults:
        for fault in faults:
            fault.stage = "environment"
        raise ValidationErrors([attach_location(fault, environment) for fault in faults])
    registry.candidates.required = requirements.parse_requirements(environment.requires)
    return LoadedEnvironments(environment, registry)


def attach_location(fault: TemplateError, environment: Environment) -> TemplateError:
    """Attach to ``fault`` its place in an environment, if it has one."""
    attach_locations([fault], None, environment)
    return fault
