"""Base classes of the types that make nothing outside the stack's own records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.hooks import Resource, ResourceDefinition


class LocalResource(Resource):
    """A resource that nothing but the stack's records knows."""

    start_policy = "idempotent"
    has_side_effects = False


class DefinitionResource(LocalResource):
    """A resource that is its definition: whoever reads it sees the new one at once."""

    def handle_create(self) -> Any:
        """Make nothing; the id says that it exists."""
        self.resource_id_set(self.physical_resource_name())

    def handle_update(
        self,
        json_snippet: ResourceDefinition,
        tmpl_diff: Mapping[str, Any],
        prop_diff: Mapping[str, Any],
    ) -> None:
        """Nothing to do."""
