"""Configurations by API: made, read, listed, deleted; one never changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.core.store.schema.rows import SoftwareConfigRow
from zonda.hooks.errors import Conflict, NotFound

from ...http.calls import EMPTY, Answer, Call
from ...http.errors import BadRequest, Missing
from ..values import format_time, get_int, read_map, require_object
from .stack_deployments import find_stack_deployment

_INPUT_DEFAULTS = {"type": "String", "replace_on_change": False}
_OUTPUT_DEFAULTS = {"type": "String", "error_output": False}
_UNGROUPED = "Heat::Ungrouped"


def create_config(call: Call) -> Answer:
    """A new configuration."""
    body, app = require_object(call.body), call.project.service.app
    content = {
        "config": _read_text(body, "config"),
        "inputs": _complete(body, "inputs", _INPUT_DEFAULTS),
        "outputs": _complete(body, "outputs", _OUTPUT_DEFAULTS),
        "options": read_map(body, "options"),
    }
    row = SoftwareConfigRow(
        app.ids(),
        call.project.id,
        _read_text(body, "name"),
        _read_text(body, "group") or _UNGROUPED,
        app.store.sealer.seal(content),
        app.clock.now(),
    )
    call.project.keep(lambda tx: tx.software.add_config(row))
    return Answer(200, {"software_config": build_config(call, row)})


def _read_text(body: Mapping[str, Any], key: str) -> str:
    value = body.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadRequest(f"{key} must be a text")
    return value


def _complete(
    body: Mapping[str, Any], key: str, defaults: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The declarations of inputs or outputs with all that they leave out."""
    given = body.get(key) or []
    if not isinstance(given, list):
        raise BadRequest(f"{key} must be a list")
    for each in given:
        if not isinstance(each, Mapping) or not isinstance(each.get("name"), str):
            raise BadRequest(f"Each of the {key} must be a map with a name")
    return [{**defaults, **each} for each in given]


def list_configs(call: Call) -> Answer:
    """One page of the configurations."""
    limit = get_int(call, "limit")
    rows = call.project.reader.list_software_configs(
        call.project.id, call.get_first("marker") or "", -1 if limit is None else limit
    )
    shown = [
        {
            "id": row.id,
            "name": row.name,
            "group": row.kind,
            "creation_time": format_time(row.created_at),
        }
        for row in rows
    ]
    return Answer(200, {"software_configs": shown})


def show_config(call: Call) -> Answer:
    """One configuration."""
    made = find_stack_deployment(call, call.path["config_id"])
    if made is not None:
        return Answer(200, {"software_config": made.build_config()})
    row = find_config(call, call.path["config_id"])
    return Answer(200, {"software_config": build_config(call, row)})


def delete_config(call: Call) -> Answer:
    """The end of a configuration that no deployment uses."""
    key, project = call.path["config_id"], call.project.id
    if not call.project.keep(lambda tx: tx.software.delete_config(key, project)):
        find_config(call, key)
        raise Conflict(
            f"The software config {key} is used by a deployment.",
            hint="Delete its deployments first.",
        )
    return Answer(204, EMPTY)


def find_config(call: Call, config_id: str) -> SoftwareConfigRow:
    """One configuration of the project; raises Missing."""
    try:
        return call.project.reader.software_config(config_id, call.project.id)
    except NotFound as error:
        raise Missing(f"Software config with id {config_id} not found") from error


def read_content(call: Call, row: SoftwareConfigRow) -> dict[str, Any]:
    """The text, inputs, outputs and options of a configuration."""
    content: dict[str, Any] = call.project.service.app.store.sealer.open(row.body)
    return content


def build_config(call: Call, row: SoftwareConfigRow) -> dict[str, Any]:
    """The whole of a configuration."""
    return {
        "id": row.id,
        "name": row.name,
        "group": row.kind,
        "creation_time": format_time(row.created_at),
        **read_content(call, row),
    }
