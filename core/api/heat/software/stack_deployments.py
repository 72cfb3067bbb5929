"""Deployments that are resources of stacks, as the API of deployments shows them.

A deployment keeps what its server has to apply with ``data_set``; the configuration with the values
of its inputs has the same id as the deployment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from zonda.core.engine.actions import SignalResource
from zonda.core.store.read.views import ResourceView
from zonda.core.store.schema.rows import ResourceRow
from zonda.core.template.source.json_text import read_json
from zonda.hooks.errors import NotFound
from zonda.hooks.records import dataclass

from ...http.calls import Call
from ..values import format_time, read_map

#: The entry of ``data_set`` that a deployment keeps.
_ENTRY = "deployment"


@dataclass(frozen=True, slots=True)
class StackDeployment:
    """A resource that is a deployment, and what its server has to apply."""

    row: ResourceRow
    content: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The id of the deployment, and of its configuration."""
        return str(self.row.physical_id or self.row.id)

    @property
    def server(self) -> str:
        """The server."""
        return str(self.content.get("server") or "")

    def build_config(self) -> dict[str, Any]:
        """The configuration with the values of its inputs."""
        names = ("name", "group", "config", "inputs", "outputs", "options")
        shown = {name: self.content.get(name) for name in names}
        return {"id": self.id, "creation_time": format_time(self.row.created_at), **shown}

    def build_deployment(self, view: ResourceView, outputs: Mapping[str, Any]) -> dict[str, Any]:
        """The deployment."""
        return {
            "id": self.id,
            "server_id": self.server,
            "config_id": self.id,
            "input_values": self.content.get("input_values") or {},
            "output_values": dict(outputs),
            "action": view.action,
            "status": view.status,
            "status_reason": view.status_reason,
            "creation_time": format_time(view.created_at),
            "updated_time": format_time(view.updated_at),
        }


def list_stack_deployments(call: Call) -> Iterator[StackDeployment]:
    """All deployments of the stacks of the project, the oldest first."""
    sealer = call.project.service.app.store.sealer
    for row, sealed in call.project.reader.list_resource_data(_ENTRY, call.project.id):
        yield StackDeployment(row, read_json(sealer.open(sealed)))


def find_stack_deployment(call: Call, key: str) -> StackDeployment | None:
    """The deployment of an id, if it is a resource of a stack of the project."""
    reader = call.project.reader
    row = reader.resource_row(key)
    if row is None or reader.stack_row(row.stack_id).project != call.project.id:
        return None
    content = reader.resource_data(row.id).get(_ENTRY)
    return None if content is None else StackDeployment(row, read_json(content))


def show_stack_deployment(call: Call, found: StackDeployment) -> dict[str, Any]:
    """A deployment as the API shows it."""
    reader = call.project.reader
    view = reader.resource(found.row.stack_id, found.row.id)
    outputs = reader.resource_data(found.row.id).get("outputs")
    return found.build_deployment(view, read_json(outputs) if outputs else {})


def signal_stack_deployment(
    call: Call, found: StackDeployment, body: Mapping[str, Any]
) -> dict[str, Any]:
    """Hand on to the resource what an agent says has become of it."""
    status = str(body.get("status") or "")
    details = read_map(body, "output_values")
    if status in ("COMPLETE", "FAILED"):
        details.setdefault("deploy_status_code", int(status == "FAILED"))
        if status == "FAILED":
            details.setdefault("deploy_stderr", str(body.get("status_reason") or ""))
        call.project.submit(SignalResource(found.row.stack_id, found.row.name, details))
    again = find_stack_deployment(call, found.row.id)
    if again is None:
        raise NotFound("Software deployment", found.id)
    return show_stack_deployment(call, again)
