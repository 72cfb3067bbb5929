"""Errors of properties that no schema can find: all of them at once, each with its place.

For ``validate()`` of a type. While a template is validated, what other resources give is not known
yet: such properties are skipped. The same checks run again when the values are there, as failures
of the resource.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import ResourceFailure, TemplateError, ValidationErrors
from ..function import Function, sources
from ..schema.aliases import find_written_path
from .resource import Resource


class PropertyErrors:
    """The errors of one resource's properties."""

    def __init__(self, resource: Resource) -> None:
        self._resource = resource
        self._errors: list[TemplateError] = []

    def add(self, name: str, text: str) -> None:
        """Note an error of a property."""
        path = ("resources", self._resource.name, "properties", self.get_written_name(name))
        schema = self._resource.properties_schema.get(name)
        hint = schema.summary if schema is not None else ""
        self._errors.append(
            TemplateError(text, path=path, at=path, label="Property error", hint=hint)
        )

    def check(self, name: str, test: Callable[..., Any], *values: Any) -> None:
        """Call ``test``, which raises ResourceFailure; not while the property is not known."""
        if self.is_unknown(name):
            return
        try:
            test(*values)
        except ResourceFailure as error:
            self.add(name, error.message)

    def get_written_name(self, name: str) -> str:
        """The name by which the template gives a property: its own, or an alias."""
        definition = self._resource.t
        tree = definition.raw.get("properties", definition.properties)
        [written] = find_written_path(self._resource.properties_schema, tree, (name,))
        return str(written)

    def is_unknown(self, name: str) -> bool:
        """Whether the property reads another resource that has not been made yet."""
        if self._resource.context.operation is not None:
            return False
        tree = self._resource.t.raw.get("properties")
        if isinstance(tree, Mapping) and not isinstance(tree, Function):
            tree = tree.get(self.get_written_name(name))
        return any(source.kind in ("attr", "ref") for source in sources(tree))

    def raise_all(self) -> None:
        """Raise ValidationErrors with everything that was noted, if anything was."""
        if self._errors:
            raise ValidationErrors(self._errors)
