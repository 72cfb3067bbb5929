"""The configurations that one server has to apply, with the values of their inputs."""

from __future__ import annotations

from typing import Any

from ...http.calls import Answer, Call
from .deployments import build_document
from .stack_deployments import list_stack_deployments


def list_server_configs(call: Call, server: str) -> list[dict[str, Any]]:
    """The configurations of a server, the oldest first."""
    rows = call.project.reader.list_software_deployments(call.project.id, server)
    shown = [build_document(call, row) for row in rows]
    return shown + [
        each.build_config() for each in list_stack_deployments(call) if each.server == server
    ]


def show_metadata(call: Call) -> Answer:
    """The configurations of a server."""
    return Answer(200, {"metadata": list_server_configs(call, call.path["server_id"])})
