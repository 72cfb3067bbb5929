"""``zonda stack list`` and ``zonda stack show``: read without a lock and without an engine."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from zonda.core.store.read import trees
from zonda.core.store.read.views import StackView
from zonda.hooks.errors import ZondaError

from ..arguments import NESTED_STACK, argument, takes
from ..console import formats
from ..console.stack_rows import LIST_COLUMNS, SPARE, as_fields, as_row
from ..options import drift
from ..progress import outputs
from ..session import Session
from . import engine_hint
from . import outputs as output_show

NESTED_COLUMNS = ("Parent", "Owner")

#: (asked for, carried) -> whether a stack is shown; named as in Heat, where ``all`` has no name.
_TAG_MODES: dict[str, Callable[[set[str], set[str]], bool]] = {
    "all": lambda asked, carried: asked <= carried,
    "any": lambda asked, carried: bool(asked & carried),
    "not": lambda asked, carried: not asked <= carried,
    "not-any": lambda asked, carried: not asked & carried,
}


@takes(
    argument("--tags", metavar="TAG,...", help="only stacks that carry these tags"),
    argument(
        "--tag-mode",
        choices=tuple(_TAG_MODES),
        default="all",
        help="carry them all (default), any of them, not all of them, none of them",
    ),
    argument("--name", metavar="TEXT", help="only stacks whose name contains this"),
    argument("--nested", action="store_true", help="also nested stacks, and whose they are"),
    formats.add_arguments,
)
def list_stacks(session: Session, arguments: argparse.Namespace) -> None:
    """List one row per stack, the oldest first."""
    tags = {tag.strip() for tag in (arguments.tags or "").split(",")} - {""}
    found = [
        stack
        for stack in session.app.stacks.list_all(nested=arguments.nested)
        if (not tags or _TAG_MODES[arguments.tag_mode](tags, set(stack.tags)))
        and (not arguments.name or arguments.name in stack.name)
    ]
    if arguments.nested:
        owners = trees.Owners(session.app.reader)
        rows = [(*as_row(stack), *owners.of(stack)) for stack in found]
        columns = (*LIST_COLUMNS, *NESTED_COLUMNS)
        session.show_rows(arguments, columns, rows, SPARE)
    else:
        shown = map(as_row, found)
        session.show_rows(arguments, LIST_COLUMNS, shown, SPARE)


@takes(
    NESTED_STACK,
    argument(
        "--at", metavar="N", type=int, help="as it was at the end of generation N; N as in history"
    ),
    output_show.add_refresh,
    formats.add_field_arguments,
)
def show(session: Session, arguments: argparse.Namespace) -> int:
    """Show one stack, with its parameters and outputs."""
    if arguments.at is not None:
        from . import past  # templates and plug-ins, which showing the present may not need

        return past.show(session, arguments)
    stack = session.app.stacks.find(arguments.stack)
    screen = session.screen
    fields = {
        **as_fields(stack),
        **_build_place_fields(session, stack),
        **_build_drift_fields(session, stack),
    }
    try:
        values = session.app.stacks.make_values()
        found = values.outputs(stack.id, refresh=arguments.refresh)
        fields["parameters"] = values.parameters(stack.id)
        fields["outputs"] = [outputs.as_fields(shown) for shown in found]
    except ZondaError as error:
        # A type whose plug-in is gone must not hide what is stored.
        screen.say(f"{screen.colour_message('warning', 'yellow')}: {error}")
    session.show_fields(arguments, fields)
    engine_hint.warn_without_engine(session, stack)
    return 0


def _build_place_fields(session: Session, stack: StackView) -> dict[str, str | None]:
    """Build the fields of the stack's position in its tree; empty for a root stack."""
    parent, owner = trees.Owners(session.app.reader, stack.root_id).of(stack)
    return {"parent": parent, "root": stack.root_id, "owner": owner}


def _build_drift_fields(session: Session, stack: StackView) -> dict[str, Any]:
    """Build the fields of the root stack's schedule and last verdict, if it is up to date."""
    from zonda.core.reports.drift import find_last_verdict

    reader = session.app.reader
    top = stack if stack.id == stack.root_id else session.app.stacks.find(stack.root_id)
    verdict, last = find_last_verdict(reader, top)
    return {
        "drift_verdict": verdict,
        "drift_checked_at": formats.format_time(None if last is None else last.ended_at),
        **drift.build_fields(top),
    }
