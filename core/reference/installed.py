"""The reference of what templates may use: resource types, and functions by template version."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zonda.core.plugins.manager import Plugins
from zonda.core.template.source.versions import CFN, DATES, NAMES
from zonda.hooks import ResourceContext
from zonda.hooks.errors import NotFound
from zonda.hooks.resources.resource import Resource
from zonda.hooks.text.suggestions import suggestion

from . import examples
from .description import describe_type


class Reference:
    """The reference of the types among ``plugins``, and of all functions."""

    def __init__(
        self,
        plugins: Plugins,
        function_table: Callable[[str], Any],
        make_context: Callable[[], ResourceContext],
    ) -> None:
        self._plugins = plugins
        self._function_table = function_table
        self._make_context = make_context

    def list_types(self) -> list[dict[str, str]]:
        """List every type by name, hidden ones too."""
        plugins = self._plugins
        return [
            {
                "name": name,
                "status": plugins.resource_types[name].support_status.status,
                "origin": str(plugins.origins.get(("resource type", name), "")),
            }
            for name in sorted(plugins.resource_types)
        ]

    def describe_type(self, name: str) -> dict[str, Any]:
        """Describe a type as its schemas do; raises NotFound."""
        cls = self._get_type(name)
        return describe_type(name, cls, str(self._plugins.origins["resource type", name]))

    def build_template(self, name: str, *, example: bool) -> dict[str, Any]:
        """Build an initial template of a type, or one with example values; raises NotFound."""
        cls = self._get_type(name)
        if example:
            return examples.build_example(name, cls, self._make_context())
        return examples.build_initial_template(name, cls)

    def _get_type(self, name: str) -> type[Resource]:
        plugins = self._plugins
        cls = plugins.resource_types.get(name)
        if cls is None:
            hint = (
                f"{suggestion(name, plugins.resource_types)} {plugins.explain_missing_type(name)}"
            ).strip()
            hint = hint or "'zonda resource type list' lists them."
            raise NotFound("resource type", name, hint=hint)
        return cls

    def list_functions(self, version: str, *, conditions: bool) -> dict[str, str]:
        """List the first line on each function of a template version; raises NotFound."""
        name = version.rpartition(".")[2]
        date = NAMES.get(name, name)
        if date not in (*DATES, *CFN):
            known = (*DATES, *NAMES, *sorted(CFN))
            hint = suggestion(name, known) or f"The versions are {', '.join(known)}."
            raise NotFound("template version", version, hint=hint)
        table = self._function_table(date)
        called = {**table.functions, **(table.conditions if conditions else {})}
        return {
            name: (called[name].__doc__ or "").strip().partition("\n")[0]
            for name in sorted(called.keys() - table.removed)
        }
