"""Deployments by API, and the configurations that a server has to apply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.core.store.schema.rows import SoftwareDeploymentRow
from zonda.core.store.write.transaction import Transaction
from zonda.hooks import records
from zonda.hooks.errors import NotFound

from ...http.calls import EMPTY, Answer, Call
from ...http.errors import BadRequest, Missing
from ..values import format_time, read_map, require_object
from .configs import build_config, find_config
from .stack_deployments import (
    find_stack_deployment,
    list_stack_deployments,
    show_stack_deployment,
    signal_stack_deployment,
)

_TEXTS = ("action", "status", "status_reason")
_VALUES = ("input_values", "output_values")


def create_deployment(call: Call) -> Answer:
    """A new deployment of a configuration on a server."""
    body, app = require_object(call.body), call.project.service.app
    config = find_config(call, str(body.get("config_id")))
    server = body.get("server_id")
    if not isinstance(server, str) or not server:
        raise BadRequest("server_id must be a text")
    row = SoftwareDeploymentRow(
        app.ids(), call.project.id, server, config.id, "", created_at=app.clock.now()
    )
    row = _change(call, row, {"action": "INIT", "status": "COMPLETE", **body})
    call.project.keep(lambda tx: tx.software.add_deployment(row))
    return Answer(200, {"software_deployment": _build_deployment(call, row)})


def update_deployment(call: Call) -> Answer:
    """The news of a deployment; keys that are absent stay as they are."""
    key, body = call.path["deployment_id"], require_object(call.body)
    made = find_stack_deployment(call, key)
    if made is not None:
        shown = signal_stack_deployment(call, made, body)
        return Answer(200, {"software_deployment": shown})
    if "config_id" in body:
        find_config(call, str(body["config_id"]))
    now = call.project.service.app.clock.now()

    def update(tx: Transaction) -> SoftwareDeploymentRow | None:
        known = tx.software.find_deployment(key, call.project.id)
        if known is None:
            return None
        changed = records.replace(_change(call, known, body), updated_at=now)
        tx.software.put_deployment(changed)
        return changed

    row = call.project.keep(update)
    if row is None:
        raise _build_missing(key)
    return Answer(200, {"software_deployment": _build_deployment(call, row)})


def _change(
    call: Call, row: SoftwareDeploymentRow, body: Mapping[str, Any]
) -> SoftwareDeploymentRow:
    """The row with what a body says; raises BadRequest."""
    sealer = call.project.service.app.store.sealer
    known: dict[str, Any] = sealer.open(row.body) if row.body else {key: {} for key in _VALUES}
    for key in _VALUES:
        if key in body:
            known[key] = read_map(body, key)
    texts: dict[str, Any] = {key: str(body[key] or "") for key in _TEXTS if key in body}
    if "config_id" in body:
        texts["config_id"] = str(body["config_id"])
    return records.replace(row, body=sealer.seal(known), **texts)


def list_deployments(call: Call) -> Answer:
    """All deployments, or those on one server."""
    server = call.get_first("server_id")
    rows = call.project.reader.list_software_deployments(call.project.id, server)
    shown = [_build_deployment(call, row) for row in rows]
    shown += [
        show_stack_deployment(call, each)
        for each in list_stack_deployments(call)
        if server in (None, each.server)
    ]
    return Answer(200, {"software_deployments": shown})


def show_deployment(call: Call) -> Answer:
    """One deployment."""
    key = call.path["deployment_id"]
    made = find_stack_deployment(call, key)
    if made is not None:
        return Answer(200, {"software_deployment": show_stack_deployment(call, made)})
    try:
        row = call.project.reader.software_deployment(key, call.project.id)
    except NotFound as error:
        raise _build_missing(key) from error
    return Answer(200, {"software_deployment": _build_deployment(call, row)})


def delete_deployment(call: Call) -> Answer:
    """The end of a deployment; its server is not told."""
    key, project = call.path["deployment_id"], call.project.id
    if not call.project.keep(lambda tx: tx.software.delete_deployment(key, project)):
        raise _build_missing(key)
    return Answer(204, EMPTY)


def build_document(call: Call, row: SoftwareDeploymentRow) -> dict[str, Any]:
    """The configuration of a deployment with the values of its inputs."""
    shown = build_config(call, find_config(call, row.config_id))
    values = _read_values(call, row)["input_values"]
    shown["inputs"] = [
        {**each, "value": values[each["name"]]} if each["name"] in values else each
        for each in shown["inputs"]
    ]
    return shown


def _read_values(call: Call, row: SoftwareDeploymentRow) -> dict[str, Any]:
    values: dict[str, Any] = call.project.service.app.store.sealer.open(row.body)
    return values


def _build_deployment(call: Call, row: SoftwareDeploymentRow) -> dict[str, Any]:
    shown = {
        "id": row.id,
        "server_id": row.server_id,
        "config_id": row.config_id,
        **_read_values(call, row),
        "action": row.action,
        "status": row.status,
        "status_reason": row.status_reason,
        "creation_time": format_time(row.created_at),
    }
    if row.updated_at is not None:
        shown["updated_time"] = format_time(row.updated_at)
    return shown


def _build_missing(key: str) -> Missing:
    return Missing(f"Deployment with id {key} not found")
