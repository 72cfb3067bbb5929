"""``zonda stack history``: every plan of a stack, its user, and its result."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ..arguments import ANY_STACK, LIMIT, takes
from ..console import formats
from ..console.formats import format_duration
from ..session import Session

if TYPE_CHECKING:  # imported by the application once it is needed
    from zonda.core.reports.generations import Generation

COLUMNS = ("Generation", "Action", "Status", "By", "Started", "Took", "Did", "Template", "Reason")
SPARE = ("Template", "By", "Took", "Started")
#: The characters of a keyed hash that are shown.
SHORT = 8


@takes(ANY_STACK, LIMIT, formats.add_arguments)
def history(session: Session, arguments: argparse.Namespace) -> None:
    """Show one row per generation, the oldest first."""
    stack = session.app.stacks.find(arguments.stack)
    found = session.app.inspector.list_generations(stack)
    if arguments.limit is not None:
        found = found[-arguments.limit :] if arguments.limit > 0 else []
    if arguments.format in ("json", "yaml"):
        things = [as_data(each) for each in found]
        chosen = [name.lower() for name in arguments.column]
        formats.choose_columns([*as_data(found[0])] if found else COLUMNS, arguments.column)
        if chosen:
            things = [{name: thing[name] for name in chosen} for thing in things]
        formats.write_data(session.screen.out, arguments.format, things)
        return
    now = session.app.clock.now()
    rows = [_build_row(each, now, arguments.format in (None, "table")) for each in found]
    session.show_rows(arguments, COLUMNS, rows, SPARE)


def as_data(each: Generation) -> dict[str, Any]:
    """Return a generation as data for programs."""
    action = each.action
    return {
        "generation": action.generation,
        "action": action.action,
        "status": action.status,
        "by": action.by,
        "started": formats.format_time(action.started_at),
        "ended": formats.format_time(action.ended_at),
        "counts": dict(each.counts),
        "template": action.template_hash[:SHORT],
        "environment": action.environment_hash[:SHORT],
        "reason": action.status_reason,
        "detail": action.detail,
    }


def _build_row(each: Generation, now: float, with_details: bool) -> tuple[Any, ...]:
    """Build a row; ``with_details``: for people, lines below the action tell of its options."""
    action = each.action
    details = _format_details(action.detail) if with_details else ()
    hashes = (action.template_hash[:SHORT], action.environment_hash[:SHORT])
    return (
        action.generation,
        "\n".join([action.action, *details]),
        action.status,
        action.by,
        formats.format_time(action.started_at),
        format_duration((now if action.ended_at is None else action.ended_at) - action.started_at),
        ", ".join(f"{number} {name}" for name, number in sorted(each.counts.items())),
        "/".join(hashes) if any(hashes) else "",
        action.status_reason,
    )


def _format_details(detail: dict[str, Any]) -> list[str]:
    """Format the options of an action, a line each; without those that were not given."""
    given = {
        name: value
        for name, value in detail.items()
        if value not in (None, [], "", False) and name != "traceparent"
    }
    return [
        f"{name.replace('_', ' ')}: "
        + (
            ", ".join(map(str, value))
            if isinstance(value, list)
            else formats.format_single_line(value)
        )
        for name, value in given.items()
    ]
