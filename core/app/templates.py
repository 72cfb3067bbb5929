"""Queries on templates and environments with the installed types: validate, explain, list.

Made by ``App``. Reads no database and needs no engine. Hidden values are redacted.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from zonda.core.introspection.catalog import CatalogResult, list_candidates
from zonda.core.introspection.parameters import ParameterListing, PluginAccess, parameters
from zonda.core.introspection.type_resolution import Explanation, explain_type
from zonda.core.template.load import StackDefinition
from zonda.core.template.source.bundle import Bundle, Identity
from zonda.hooks.errors import TemplateWarning
from zonda.hooks.records import dataclass

from .parts import Parts


@dataclass(frozen=True, slots=True)
class ValidationResult:
    """The declarations of a template without errors. ``warnings``: of the same template."""

    description: str
    parameters: dict[str, Any]
    resources: dict[str, str]
    outputs: dict[str, str]
    warnings: tuple[TemplateWarning, ...]

    @classmethod
    def of(cls, definition: StackDefinition) -> ValidationResult:
        """Build the result from a definition: parameters with schemas, resources with types."""
        shown = definition.parameters.redact_values()
        return cls(
            description=str(definition.description or ""),
            parameters={
                name: {
                    "type": schema.type,
                    "description": schema.description or "",
                    "hidden": bool(schema.hidden),
                    "value": shown.get(name),
                    "constraints": [each.to_dict() for each in schema.constraints],
                }
                for name, schema in definition.schemas.items()
            },
            resources={name: node.type for name, node in definition.resources.items()},
            outputs={name: str(o.description or "") for name, o in definition.outputs.items()},
            warnings=tuple(definition.warnings),
        )


class Templates:
    """The queries on files; each raises ValidationErrors with every error of them."""

    def __init__(self, parts: Parts, project: str) -> None:
        self._parts = parts
        self._project = project

    def validate(
        self, bundle: Bundle, *, ignore_unknown: bool = False, all_given: bool = False
    ) -> ValidationResult:
        """Validate a bundle; see ``load``."""
        options = {"ignore_unknown": ignore_unknown, "all_given": all_given}
        return ValidationResult.of(self.load(bundle, **options))

    def load(self, bundle: Bundle, *, ignore_unknown: bool, all_given: bool) -> StackDefinition:
        """Load the definition of a bundle, with warnings.

        Parameters need no values unless ``all_given``; what reads one that has none is unchecked.
        Whether a runner knows a workflow is not asked: it may be started later. With
        ``ignore_unknown`` types and custom constraints that are not installed are only warned of.
        """
        lender = self._parts.make_lender(lenient=True)
        try:
            return self._parts.make_template_loader(lender).load(
                bundle,
                Identity(self._parts.ids.new(), "template", self._project),
                None,
                True,
                all_given=all_given,
                with_warnings=True,
                ignore_unknown=ignore_unknown,
            )
        finally:
            lender.close()

    def explain_type(self, bundle: Bundle, type_name: str, resource: str = "") -> Explanation:
        """Explain how the registry of the environments resolves a type."""
        parts = self._parts
        return explain_type(bundle, parts.plugins, parts.limits, type_name, resource)

    def list_candidates(self, bundle: Bundle) -> CatalogResult:
        """List the candidates of the environments."""
        return list_candidates(bundle, self._parts.plugins, self._parts.limits)

    def list_parameters(self, bundle: Bundle, *, given_too: bool = False) -> ParameterListing:
        """List every parameter of a tree of templates."""
        from zonda.core.functions.yaql_call import make_evaluator

        parts, yaql = self._parts, make_evaluator(self._parts.limits)
        make_context = partial(parts.make_context, self._project)
        access = PluginAccess(parts.plugins, parts.function_table, parts.limits, yaql, make_context)
        return parameters(bundle, access, given_too=given_too)
