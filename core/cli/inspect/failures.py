"""``zonda stack failures list``: the resources that have failed, down to the innermost."""

from __future__ import annotations

import argparse

from zonda.core.store.read import trees

from ..arguments import NESTED_STACK, takes
from ..console import formats
from ..session import Session

COLUMNS = (
    "path",
    "resource_type",
    "physical_resource_id",
    "resource_status",
    "resource_status_reason",
)
SPARE = ("physical_resource_id", "resource_type")


@takes(NESTED_STACK, formats.add_arguments)
def list_failures(session: Session, arguments: argparse.Namespace) -> None:
    """List one row per failed resource, without owners of nested failures."""
    stack = session.app.stacks.find(arguments.stack)
    failed = {
        (*path, row.name): row
        for path, row in trees.list_resources(session.app.reader, stack, trees.ALL_LEVELS)
        if row.status == "FAILED" and not row.op
    }
    above = {path[:length] for path in failed for length in range(1, len(path))}
    rows = [
        (
            trees.format_path(path),
            row.type,
            row.physical_id,
            f"{row.action}_FAILED",
            row.status_reason,
        )
        for path, row in failed.items()
        if path not in above
    ]
    session.show_rows(arguments, COLUMNS, rows, SPARE)
