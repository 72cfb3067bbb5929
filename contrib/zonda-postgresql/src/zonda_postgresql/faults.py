"""Faults that a property's schema cannot tell: all of them at once, each with its place.

While a template is validated, what other resources give is not known yet: such properties are
skipped. The same checks run again when the values are there, as failures of the resource.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from zonda.hooks import (
    Function,
    Resource,
    ResourceFailure,
    TemplateError,
    ValidationErrors,
    sources,
)


class Faults:
    """The faults of one resource."""

    def __init__(self, resource: Resource) -> None:
        self._resource = resource
        self._found: list[TemplateError] = []

    def add(self, key: str, text: str) -> None:
        """Note a fault of a property."""
        path = ("resources", self._resource.name, "properties", key)
        self._found.append(TemplateError(text, path=path, at=path, label="Property error"))

    def check(self, key: str, test: Callable[..., Any], *values: Any) -> None:
        """Call ``test``, which raises ResourceFailure; not while the property waits."""
        if self.is_open(key):
            return
        try:
            test(*values)
        except ResourceFailure as error:
            self.add(key, error.message)

    def is_open(self, key: str) -> bool:
        """Whether the property reads another resource that has not been made yet."""
        if self._resource.context.operation is not None:
            return False
        tree = self._resource.t.raw.get("properties")
        if isinstance(tree, Mapping) and not isinstance(tree, Function):
            tree = tree.get(key)
        return any(source.kind in ("attr", "ref") for source in sources(tree))

    def tell(self) -> None:
        """Raise what was found, if anything."""
        if self._found:
            raise ValidationErrors(self._found)
