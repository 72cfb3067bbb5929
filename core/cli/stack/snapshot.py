"""``zonda stack snapshot create``, ``list``, ``show``, ``delete`` and ``restore``."""

from __future__ import annotations

import argparse
from typing import Any

from zonda.core.engine.actions import DeleteSnapshot, RestoreSnapshot, SnapshotStack

from ..arguments import STACK, argument, takes
from ..console import formats, streams
from ..progress import busy_stacks, result
from ..progress.follow import follow, follow_passing
from ..progress.run_action import say_planned, wait_for_success
from ..session import Session

COLUMNS = ("ID", "Name", "Status", "Status Reason", "Creation Time")
SPARE = ("Status Reason", "Creation Time")
_SNAPSHOT = (
    STACK,
    argument("snapshot", metavar="SNAPSHOT", help="name or id of the snapshot"),
)


@takes(
    STACK,
    argument("--name", default="", help="name of the snapshot"),
    busy_stacks.add_arguments,
    formats.add_field_arguments,
)
def create(session: Session, arguments: argparse.Namespace) -> int:
    """Take a snapshot of every resource, and store it."""
    action = SnapshotStack(arguments.stack, arguments.name)
    running = busy_stacks.submit_action(session, arguments, action, arguments.stack, "SNAPSHOT")
    made = session.app.exporter.snapshots(running.stack_id)[-1]["id"]
    code = 0
    if arguments.wait:
        code = follow(session, running, ("SNAPSHOT",))
    else:
        say_planned(session, running)
    with streams.ignore_closed_output():
        _show_snapshot(session, arguments, session.app.exporter.snapshot(running.stack_id, made))
    return code


@takes(STACK, formats.add_arguments)
def list_snapshots(session: Session, arguments: argparse.Namespace) -> None:
    """List the snapshots of a stack, the oldest first."""
    stack = session.app.stacks.find(arguments.stack)
    found = [
        list(_build_fields(each).values()) for each in session.app.exporter.snapshots(stack.id)
    ]
    session.show_rows(arguments, COLUMNS, found, SPARE)


@takes(
    *_SNAPSHOT,
    argument("--with-secrets", action="store_true", help="show what is hidden, too"),
    formats.add_field_arguments,
)
def show(session: Session, arguments: argparse.Namespace) -> None:
    """Show one snapshot with its data."""
    stack = session.app.stacks.find(arguments.stack)
    found = session.app.exporter.snapshot(
        stack.id, arguments.snapshot, with_secrets=arguments.with_secrets
    )
    _show_snapshot(session, arguments, found, data=True)


@takes(*_SNAPSHOT, busy_stacks.add_arguments)
def delete(session: Session, arguments: argparse.Namespace) -> int:
    """Delete a snapshot, with what the resources keep for it."""
    action = DeleteSnapshot(arguments.stack, arguments.snapshot)
    running = busy_stacks.submit_action(
        session, arguments, action, arguments.stack, "DELETE_SNAPSHOT"
    )
    if not arguments.wait:
        say_planned(session, running)
        return 0
    return follow_passing(session, running, f"Snapshot {arguments.snapshot} has been deleted.")


@takes(*_SNAPSHOT, busy_stacks.add_arguments, result.add_field_arguments)
def restore(session: Session, arguments: argparse.Namespace) -> int:
    """Restore the stack from a snapshot."""
    action = RestoreSnapshot(arguments.stack, arguments.snapshot)
    running = busy_stacks.submit_action(session, arguments, action, arguments.stack, "RESTORE")
    return wait_for_success(session, arguments, running, ("RESTORE",))


def _build_fields(found: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": found["id"],
        "name": found["name"],
        "status": _format_status(found),
        "status_reason": found["status_reason"],
        "creation_time": formats.format_time(found["created_at"]),
    }


def _format_status(found: dict[str, Any]) -> str:
    """Format the status as in Heat; of a deletion with the action, to tell it from a failure."""
    deleting = found["action"] == "DELETE"
    return f"DELETE_{found['status']}" if deleting else str(found["status"])


def _show_snapshot(
    session: Session, arguments: argparse.Namespace, found: dict[str, Any], *, data: bool = False
) -> None:
    fields = {**_build_fields(found), "action": found["action"]}
    if data:
        fields["data"] = found["data"]
    session.show_fields(arguments, fields)
