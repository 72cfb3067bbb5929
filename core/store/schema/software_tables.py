"""The tables of configurations and deployments that were made by API, apart from any stack.

A part of ``tables``, and like it not imported when zonda runs.
"""

from __future__ import annotations

from sqlalchemy import Index

from .tables import _make_key, _make_optional_time, _make_text, _make_time, _Table

__all__ = ["SOFTWARE_CONFIG", "SOFTWARE_DEPLOYMENT"]


class SoftwareConfig(_Table, table=True):
    """One configuration. ``body`` (sealed): its text, inputs, outputs and options."""

    __tablename__ = "software_config"
    id: str = _make_key()
    project: str = _make_text()
    name: str = _make_text()
    kind: str = _make_text()
    body: str = _make_text()
    created_at: float = _make_time()


class SoftwareDeployment(_Table, table=True):
    """One configuration on one server. ``body`` (sealed): the values of inputs and outputs."""

    __tablename__ = "software_deployment"
    id: str = _make_key()
    project: str = _make_text()
    server_id: str = _make_text()
    config_id: str = _make_text()
    body: str = _make_text()
    action: str = _make_text()
    status: str = _make_text()
    status_reason: str = _make_text()
    created_at: float = _make_time()
    updated_at: float | None = _make_optional_time()


SOFTWARE_CONFIG = SoftwareConfig.__table__  # type: ignore[attr-defined]
SOFTWARE_DEPLOYMENT = SoftwareDeployment.__table__  # type: ignore[attr-defined]

Index(
    "ix_software_config_project",
    SOFTWARE_CONFIG.c.project,
    SOFTWARE_CONFIG.c.created_at,
    SOFTWARE_CONFIG.c.id,
)
Index(
    "ix_software_deployment_project",
    SOFTWARE_DEPLOYMENT.c.project,
    SOFTWARE_DEPLOYMENT.c.server_id,
    SOFTWARE_DEPLOYMENT.c.created_at,
)
Index("ix_software_deployment_config", SOFTWARE_DEPLOYMENT.c.config_id)
