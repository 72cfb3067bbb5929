"""Configurations and deployments that were made by API, in a transaction.

Called by ``core/api`` through the engine's ``keep``.
"""

from __future__ import annotations

from ..database.protocols import Connection
from ..schema.rows import (
    SoftwareConfigRow,
    SoftwareDeploymentRow,
    software_config_values,
    software_deployment_values,
)


class SoftwareTables:
    """The tables of configurations and deployments between begin and commit."""

    def __init__(self, connection: Connection) -> None:
        self._execute, self._sql = connection.execute, connection.dialect.sql

    def add_config(self, row: SoftwareConfigRow) -> None:
        """Store a configuration."""
        self._execute(self._sql["insert_software_config"], software_config_values(row))

    def delete_config(self, config_id: str, project: str) -> bool:
        """Delete a configuration that no deployment uses; whether that was done."""
        return self._change("delete_software_config", config_id, project)

    def add_deployment(self, row: SoftwareDeploymentRow) -> None:
        """Store a deployment."""
        self._execute(self._sql["insert_software_deployment"], software_deployment_values(row))

    def find_deployment(self, deployment_id: str, project: str) -> SoftwareDeploymentRow | None:
        """A deployment as it is now; None if it is not there."""
        found = self._execute(self._sql["software_deployment"], (deployment_id, project)).fetchone()
        return None if found is None else SoftwareDeploymentRow(*found)

    def put_deployment(self, row: SoftwareDeploymentRow) -> None:
        """Store the changes of a deployment."""
        values = (row.config_id, row.body, row.action, row.status, row.status_reason)
        self._execute(
            self._sql["update_software_deployment"], (*values, row.updated_at, row.id, row.project)
        )

    def delete_deployment(self, deployment_id: str, project: str) -> bool:
        """Delete a deployment; whether it was there."""
        return self._change("delete_software_deployment", deployment_id, project)

    def _change(self, statement: str, *values: str) -> bool:
        return self._execute(self._sql[statement], values).rowcount == 1
