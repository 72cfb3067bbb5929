"""Stacks as rows of a list and as fields."""

from __future__ import annotations

from typing import Any

from zonda.core.store.read.views import StackView

from . import formats

LIST_COLUMNS = ("ID", "Stack Name", "Stack Status", "Creation Time", "Updated Time")


SPARE = ("ID", "Parent", "Updated Time", "Creation Time")


def as_row(stack: StackView) -> tuple[str | None, ...]:
    """Return a stack as a row of a list, see ``LIST_COLUMNS``."""
    times = (formats.format_time(stack.created_at), formats.format_time(stack.updated_at))
    return stack.id, stack.name, stack.state, *times


def as_fields(stack: StackView) -> dict[str, Any]:
    """Return a stack with the field names of the openstack client."""
    return {
        "id": stack.id,
        "stack_name": stack.name,
        "description": stack.description,
        "creation_time": formats.format_time(stack.created_at),
        "updated_time": formats.format_time(stack.updated_at),
        "stack_status": stack.state,
        "stack_status_reason": stack.status_reason,
        "timeout_mins": stack.timeout_mins,
        "disable_rollback": stack.disable_rollback,
        "tags": list(stack.tags),
        "protected": stack.protected,
        "suspended": stack.suspended,
        "project": stack.project,
    }
