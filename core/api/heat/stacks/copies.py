"""Documents of stacks: export and abandonment; snapshots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.core.engine.actions import (
    AbandonStack,
    DeleteSnapshot,
    RestoreSnapshot,
    SnapshotStack,
)
from zonda.hooks.errors import NotFound, NotSupported
from zonda.hooks.records import asdict

from ...http.calls import EMPTY, Answer, Call
from ...http.errors import Missing
from ..values import format_time, require_object
from .changes import ACCEPTED
from .lookup import find_live_stack


def export_stack(call: Call) -> Answer:
    """The document of a stack, hidden values left out."""
    stack = find_live_stack(call)
    return Answer(200, call.project.exporter.export(stack.id, with_secrets=False).values)


def abandon_stack(call: Call) -> Answer:
    """The document of a stack, which is forgotten; its resources are left alone."""
    if call.project.service.settings.enable_stack_abandon != "yes":
        raise NotSupported("Stack Abandon is not supported.")
    stack = find_live_stack(call)
    # with hidden values: what is forgotten is nowhere else
    made = call.project.exporter.export(stack.id, with_secrets=True)
    call.project.submit(AbandonStack(stack.id, made.digest, force=True))
    return Answer(200, made.values)


def create_snapshot(call: Call) -> Answer:
    """A new snapshot, which is being made."""
    stack = find_live_stack(call)
    body = {} if call.body is None else require_object(call.body)
    accepted = call.project.submit(SnapshotStack(stack.id, str(body.get("name") or "")))
    rows = call.project.reader.snapshots(stack.id)
    [made] = [row for row in rows if row.generation == accepted.generation]
    return Answer(200, _build_snapshot(asdict(made), {}))


def list_snapshots(call: Call) -> Answer:
    """All snapshots of a stack."""
    stack = find_live_stack(call)
    shown = [_build_snapshot(each) for each in call.project.exporter.snapshots(stack.id)]
    return Answer(200, {"snapshots": shown})


def show_snapshot(call: Call) -> Answer:
    """One snapshot with its document."""
    stack, key = find_live_stack(call), _find_key(call)
    found = call.project.exporter.snapshot(stack.id, key)
    return Answer(200, {"snapshot": _build_snapshot(found, found["data"])})


def delete_snapshot(call: Call) -> Answer:
    """The deletion of a snapshot."""
    stack, key = find_live_stack(call), _find_key(call)
    call.project.submit(DeleteSnapshot(stack.id, key))
    return Answer(204, EMPTY)


def restore_snapshot(call: Call) -> Answer:
    """The way of a stack back to a snapshot."""
    stack, key = find_live_stack(call), _find_key(call)
    call.project.submit(RestoreSnapshot(stack.id, key))
    return ACCEPTED


def _find_key(call: Call) -> str:
    """The id of the snapshot in the URL; names are none there."""
    key, stack_id = call.path["snapshot_id"], call.path["stack_id"]
    if any(each["id"] == key for each in call.project.exporter.snapshots(stack_id)):
        return key
    raise Missing(f"Snapshot with id {key} not found", NotFound.heat_type)


def _build_snapshot(
    snapshot: Mapping[str, Any], data: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    shown = {
        "id": snapshot["id"],
        "name": snapshot["name"],
        "action": snapshot["action"],
        "status": snapshot["status"],
        "status_reason": snapshot["status_reason"],
        "creation_time": format_time(snapshot["created_at"]),
        "data": data,
    }
    return shown
