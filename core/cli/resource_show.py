"""``zonda stack resource list`` and ``zonda stack resource show``."""

from __future__ import annotations

import argparse
from typing import Any

from zonda.core.store.views import ResourceView

from . import output
from .session import Session

LIST_COLUMNS = (
    "resource_name",
    "physical_resource_id",
    "resource_type",
    "resource_status",
    "updated_time",
    "leaving",
)


def list_resources_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``stack resource list``."""
    parser.add_argument("stack", metavar="STACK", help="name or id")
    output.add_arguments(parser)


def list_resources(session: Session, arguments: argparse.Namespace) -> int:
    """One row per resource that the stack owns, also those that are about to go."""
    reader = session.app.reader
    stack = reader.stack(arguments.stack)
    found = [
        (
            one.name,
            one.physical_id,
            one.type,
            one.state,
            output.moment(one.updated_at),
            not one.present,
        )
        for one in reader.resources(stack.id, absent=True)
    ]
    screen = session.screen
    output.rows(screen.out, arguments, LIST_COLUMNS, found, screen.width)
    return 0


def show_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``stack resource show``."""
    parser.add_argument("stack", metavar="STACK", help="name or id")
    parser.add_argument("resource", metavar="RESOURCE", help="name, or an instance's id")
    output.add_arguments(parser)


def show(session: Session, arguments: argparse.Namespace) -> int:
    """All that is stored of one resource; what is hidden is shown as ``******``."""
    reader = session.app.reader
    stack = reader.stack(arguments.stack)
    found = reader.resource(stack.id, arguments.resource)
    others = [
        {"id": one.id, "physical_resource_id": one.physical_id, "resource_status": one.state}
        for one in reader.resources(stack.id, absent=True)
        if one.name == found.name and not one.present and one.id != found.id
    ]
    screen = session.screen
    fields = {**as_fields(found), "leftovers": others}
    output.fields(screen.out, arguments, fields, screen.width)
    return 0


def as_fields(one: ResourceView) -> dict[str, Any]:
    """A resource under the names that the openstack client uses."""
    return {
        "resource_name": one.name,
        "resource_type": one.type,
        "physical_resource_id": one.physical_id,
        "resource_status": one.state,
        "resource_status_reason": one.status_reason,
        "creation_time": output.moment(one.created_at),
        "updated_time": output.moment(one.updated_at),
        "requires": list(one.requires),
        "required_by": list(one.required_by),
        "properties": one.properties,
        "attributes": one.attributes,
        "metadata": one.metadata,
        "leaving": not one.present,
        "deletion_policy": one.deletion_policy,
        "protected": one.protected,
        "hook": one.hook or None,
        "attempt": _attempt(one),
        "next_attempt_time": output.moment(one.next_attempt_at),
        "operation_deadline": output.moment(one.op_deadline),
        "id": one.id,
    }


def _attempt(one: ResourceView) -> str | None:
    """Which attempt is running, or was the last that failed; where there may be several."""
    if one.most_attempts == 1 or not one.op:
        return None
    number = one.failed_attempts + (one.next_attempt_at is None)
    return f"{number} of {one.most_attempts}"
