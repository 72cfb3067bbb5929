"""The reference of what templates may use: resource types, and functions by template version."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Callable, Collection, Mapping
from inspect import getdoc
from typing import Any

from zonda.core.plugins.manager import Plugins
from zonda.core.template.source.versions import CFN, DATES, NAMES
from zonda.hooks import ResourceContext
from zonda.hooks.errors import NotFound
from zonda.hooks.lazy import GeneratedClass, list_without_generating
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.support import SupportStatus
from zonda.hooks.text.suggestions import suggestion

from . import examples
from .description import describe_type
from .json_schema import JsonSchema, build_template_schema
from .plugin_list import list_plugins


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
        known = list_without_generating(plugins.resource_types)
        return [
            {
                "name": name,
                "status": get_support_status(known[name]).status,
                "origin": str(plugins.origins.get(("resource type", name), "")),
            }
            for name in sorted(known)
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
            hint = reason = plugins.explain_missing_type(name)
            if name not in reason:  # a plug-in brings it, or would
                hint = f"{suggestion(name, plugins.resource_types)} {reason}".strip()
            hint = hint or "'zonda resource type list' lists them."
            raise NotFound("resource type", name, hint=hint)
        return cls

    def build_schema(self, version: str | None, patterns: list[str]) -> JsonSchema:
        """Build the JSON Schema of templates of a version, None: of any; raises NotFound.

        Of types that come by the thousand only those are described that one of ``patterns`` (with
        ``*`` and ``?``) names.
        """
        dates = DATES if version is None else (_find_date(version, DATES),)
        functions: dict[str, str] = {}
        conditions: dict[str, str] = {}
        for date in dates:
            table = self._function_table(date)
            known = {
                name: cls for name, cls in table.functions.items() if name not in table.removed
            }
            functions |= _describe_functions(known)
            conditions |= _describe_functions(
                {
                    name: cls
                    for name, cls in table.conditions.items()
                    if name not in table.functions or known.get(name) is cls
                }
            )
        names = [name for name, date in NAMES.items() if date in dates]
        known = list_without_generating(self._plugins.resource_types)
        chosen = {each for pattern in patterns for each in self._match_types(pattern)}
        types = {
            name: self._plugins.resource_types[name]
            for name, cls in known.items()
            if name in chosen or not isinstance(cls, GeneratedClass)
        }
        made = build_template_schema(
            (*dates, *names), functions, conditions, types, known.keys() - types.keys()
        )
        schema: JsonSchema = json.loads(json.dumps(made, default=str))
        return schema

    def _match_types(self, pattern: str) -> list[str]:
        """The names of types that a pattern stands for; raises NotFound where there are none."""
        found = fnmatch.filter(list_without_generating(self._plugins.resource_types), pattern)
        if not found:
            self._get_type(pattern)
        return found

    def list_plugins(self) -> list[dict[str, Any]]:
        """List every plug-in, also failed ones, with what it provides by kind."""
        return list_plugins(self._plugins)

    def list_functions(self, version: str, *, conditions: bool) -> dict[str, str]:
        """List the first line on each function of a template version; raises NotFound."""
        table = self._function_table(_find_date(version.rpartition(".")[2], (*DATES, *sorted(CFN))))
        called = {**table.functions, **(table.conditions if conditions else {})}
        return {
            name: (called[name].__doc__ or "").strip().partition("\n")[0]
            for name in sorted(called.keys() - table.removed)
        }


def get_support_status(cls: type[Resource] | GeneratedClass) -> SupportStatus:
    """The state of support of a type; one of thousands is not made just to ask for it."""
    return SupportStatus() if isinstance(cls, GeneratedClass) else cls.support_status


def _find_date(version: str, dates: Collection[str]) -> str:
    """Find the date of a version by its date or name; raises NotFound."""
    date = NAMES.get(version, version)
    if date not in dates:
        known = (*dates, *NAMES)
        hint = suggestion(version, known) or f"The versions are {', '.join(known)}."
        raise NotFound("template version", version, hint=hint)
    return date


def _describe_functions(functions: Mapping[str, type[Any]]) -> dict[str, str]:
    return {name: (getdoc(cls) or "").split("\n")[0] for name, cls in functions.items()}
