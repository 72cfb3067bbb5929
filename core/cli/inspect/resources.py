"""``zonda stack resource list`` and ``zonda stack resource show``."""

from __future__ import annotations

import argparse
from typing import Any

from zonda.core.store.read import trees
from zonda.core.store.read.views import ResourceSummary, ResourceView, StackView

from ..arguments import STACK, argument, takes
from ..console import formats
from ..options import nested
from ..session import Session

LIST_COLUMNS = (
    "resource_name",
    "physical_resource_id",
    "resource_type",
    "resource_status",
    "updated_time",
    "leaving",
)
#: Those of resources in nested stacks, too; with ``--nested-depth``.
NESTED_COLUMNS = ("stack_name", "path")
SPARE = ("updated_time", "physical_resource_id", "stack_name", "leaving")


@takes(STACK, nested.depth("resources"), formats.add_arguments)
def list_resources(session: Session, arguments: argparse.Namespace) -> None:
    """List one row per resource that the stack owns, also those that are to be deleted."""
    stack, depth = session.app.stacks.find(arguments.stack), nested.get_depth(arguments)
    columns: tuple[str, ...] = LIST_COLUMNS
    if depth:
        columns, rows = (*columns, *NESTED_COLUMNS), _build_tree_rows(session, stack, depth)
    else:
        rows = [_build_row(one) for one in session.app.reader.list_resources(stack.id)]
    session.show_rows(arguments, columns, rows, SPARE)


def _build_tree_rows(session: Session, stack: StackView, depth: int) -> list[tuple[Any, ...]]:
    """Build the rows of a stack and its nested stacks, each nested stack after its owner."""
    reader = session.app.reader
    names = {key: name for key, name, _ in reader.names_of_tree(stack.root_id)}
    return [
        (*_build_row(one), names[one.stack_id], trees.format_path(path, one.name))
        for path, one in trees.list_resources(reader, stack, depth)
    ]


def _build_row(one: ResourceSummary) -> tuple[Any, ...]:
    leaving = one.want != "PRESENT"
    updated = formats.format_time(one.updated_at)
    return one.name, one.physical_id, one.type, one.state, updated, leaving


@takes(
    STACK,
    argument("resource", metavar="RESOURCE", help="name, an instance's id, or OWNER/NAME"),
    formats.add_field_arguments,
)
def show(session: Session, arguments: argparse.Namespace) -> None:
    """Show the stored state of one resource; hidden values are shown as ``(hidden)``."""
    reader = session.app.reader
    where, name = nested.split_address(arguments.stack, arguments.resource)
    stack = session.app.stacks.find(where)
    found = reader.resource(stack.id, name)
    others = [
        {"id": one.id, "physical_resource_id": one.physical_id, "resource_status": one.state}
        for one in reader.resources(stack.id, absent=True)
        if one.name == found.name and not one.present and one.id != found.id
    ]
    child = reader.find_nested_stack(found.id)
    fields = {
        **as_fields(found),
        "nested_stack_id": None if child is None else child.id,
        "nested_stack_name": None if child is None else child.name,
        "leftovers": others,
    }
    session.show_fields(arguments, fields)


def as_fields(one: ResourceView) -> dict[str, Any]:
    """Return a resource with the field names of the openstack client."""
    return {
        "resource_name": one.name,
        "resource_type": one.type,
        "physical_resource_id": one.physical_id,
        "resource_status": one.state,
        "resource_status_reason": one.status_reason,
        "creation_time": formats.format_time(one.created_at),
        "updated_time": formats.format_time(one.updated_at),
        "requires": list(one.requires),
        "required_by": list(one.required_by),
        "properties": one.properties,
        "attributes": one.attributes,
        "metadata": one.metadata,
        "leaving": not one.present,
        "deletion_policy": one.deletion_policy,
        "protected": one.protected,
        "hook": one.hook or None,
        "attempt": _format_attempt(one),
        "next_attempt_time": formats.format_time(one.next_attempt_at),
        "operation_deadline": formats.format_time(one.op_deadline),
        "id": one.id,
    }


def _format_attempt(one: ResourceView) -> str | None:
    """Format the running or last failed attempt; None where there is only one."""
    if one.most_attempts == 1 or not one.op:
        return None
    number = one.failed_attempts + (one.next_attempt_at is None)
    return f"{number} of {one.most_attempts}"
