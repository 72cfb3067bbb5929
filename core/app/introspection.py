"""Queries on files and environments with the installed types: ``App.introspection``.

Reads no database and needs no engine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zonda.core.introspection.catalog import CatalogResult, list_candidates
from zonda.core.introspection.parameters import ParameterListing, PluginAccess, parameters
from zonda.core.introspection.type_resolution import Explanation, explain_type
from zonda.core.template.source.bundle import Bundle, Limits

if TYPE_CHECKING:  # made when first asked for
    from zonda.core.functions.versions import FunctionTable
    from zonda.core.plugins.manager import Plugins
    from zonda.hooks.context import ResourceContext


@dataclass(frozen=True, slots=True)
class Introspection:
    """The functions of ``core/introspection``, bound to the installed plug-ins."""

    plugins: Plugins
    functions: Callable[[str], FunctionTable]
    limits: Limits
    context: Callable[[], ResourceContext]

    def explain_type(self, bundle: Bundle, type_name: str, resource: str = "") -> Explanation:
        """Explain how the registry resolves a type; raises ValidationErrors for environments."""
        return explain_type(bundle, self.plugins, self.limits, type_name, resource)

    def listed(self, bundle: Bundle) -> CatalogResult:
        """List the candidates of the environments; raises ValidationErrors for environments."""
        return list_candidates(bundle, self.plugins, self.limits)

    def parameters(self, bundle: Bundle, *, given_too: bool = False) -> ParameterListing:
        """List every parameter of a tree of templates; raises ValidationErrors."""
        from zonda.core.functions.yaql_call import make_evaluator

        parts = (
            self.plugins,
            self.functions,
            self.limits,
            make_evaluator(self.limits),
            self.context,
        )
        return parameters(bundle, PluginAccess(*parts), given_too=given_too)
