"""A workflow as a resource whose reference is the workflow's name, as with Heat's Mistral types."""

from __future__ import annotations

from typing import ClassVar

from zonda.hooks import properties, resource


class WorkflowName(resource.Resource):
    """Stands for a workflow that the runner knows already."""

    properties_schema: ClassVar = {
        "name": properties.Schema(
            properties.Schema.STRING, "The workflow's name.", required=True, update_allowed=True
        ),
    }
    start_policy = "idempotent"

    def handle_create(self) -> None:
        """Keep the name as physical id, which is the reference."""
        self.resource_id_set(self.properties["name"])


def resource_mapping() -> dict[str, type[resource.Resource]]:
    """The type by its name."""
    return {"Test::WorkflowName": WorkflowName}
