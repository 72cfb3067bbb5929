"""What can be told of files and environments with what is installed: ``App.introspection``.

Reads no database and needs no engine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zonda.core.introspection.catalog import CatalogResult, listed
from zonda.core.introspection.parameters import Found, PluginAccess, parameters
from zonda.core.introspection.type_resolution import Explanation, explain
from zonda.core.template.source.bundle import Bundle, Limits

if TYPE_CHECKING:  # made when first asked for
    from zonda.core.functions.versions import FunctionTable
    from zonda.core.plugins.manager import Plugins
    from zonda.hooks.context import ResourceContext


@dataclass(frozen=True, slots=True)
class Introspection:
    """The functions of ``core/introspection``, bound to what is installed here."""

    plugins: Plugins
    functions: Callable[[str], FunctionTable]
    limits: Limits
    context: Callable[[], ResourceContext]

    def explain_type(self, bundle: Bundle, type_name: str, resource: str = "") -> Explanation:
        """Why a type means what it means; raises ValidationErrors for environments."""
        return explain(bundle, self.plugins, self.limits, type_name, resource)

    def listed(self, bundle: Bundle) -> CatalogResult:
        """What the environments list; raises ValidationErrors for environments."""
        return listed(bundle, self.plugins, self.limits)

    def parameters(self, bundle: Bundle, *, given_too: bool = False) -> Found:
        """Every parameter of a tree of templates; raises ValidationErrors."""
        from zonda.core.functions.yaql_call import evaluator

        parts = (self.plugins, self.functions, self.limits, evaluator(self.limits), self.context)
        return parameters(bundle, PluginAccess(*parts), given_too=given_too)
