"""Reads of configurations and deployments by API; a part of ``reader.Reader``."""

from __future__ import annotations

from typing import Any

from zonda.hooks.errors import NotFound

from ..schema.rows import ResourceRow, SoftwareConfigRow, SoftwareDeploymentRow


class SoftwareReads:
    """Reads of the tables of configurations and deployments; each of one project."""

    def software_config(self, config_id: str, project: str) -> SoftwareConfigRow:
        """One configuration; raises NotFound."""
        found = self._ask("software_config", config_id, project)
        if not found:
            raise NotFound("Software config", config_id)
        return SoftwareConfigRow(*found[0])

    def list_software_configs(
        self, project: str, marker: str = "", limit: int = -1
    ) -> list[SoftwareConfigRow]:
        """One page of the configurations, the oldest first; ``marker``: the last one before."""
        found = self._ask("software_configs", project, marker, limit, 0)
        return [SoftwareConfigRow(*each) for each in found]

    def software_deployment(self, deployment_id: str, project: str) -> SoftwareDeploymentRow:
        """One deployment; raises NotFound."""
        found = self._ask("software_deployment", deployment_id, project)
        if not found:
            raise NotFound("Software deployment", deployment_id)
        return SoftwareDeploymentRow(*found[0])

    def list_software_deployments(
        self, project: str, server_id: str | None = None
    ) -> list[SoftwareDeploymentRow]:
        """The deployments of a project, or those on one server, the oldest first."""
        if server_id is None:
            found = self._ask("software_deployments", project)
        else:
            found = self._ask("software_deployments_of_server", project, server_id)
        return [SoftwareDeploymentRow(*each) for each in found]

    def list_resource_data(self, name: str, project: str) -> list[tuple[ResourceRow, str]]:
        """The present resources of a project that keep data of that name, with its sealed value."""
        found = self._ask("resource_data_named", name, project)
        return [(ResourceRow(*row[:-1]), row[-1]) for row in found]

    def _ask(self, name: str, *values: Any) -> list[tuple[Any, ...]]:
        raise NotImplementedError
