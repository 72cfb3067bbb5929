"""``zonda stack event list``: past events, and with ``--follow`` new ones."""

from __future__ import annotations

import argparse

from zonda.core.store.read import trees
from zonda.core.store.read.views import StackView
from zonda.hooks.errors import NotFound
from zonda.hooks.text.suggestions import suggestion

from ..arguments import STACK, argument, takes
from ..console import formats
from ..options import nested
from ..progress import event_line
from ..progress.event_stream import EventStream, EventWithPath
from ..session import Session

LIST_COLUMNS = (
    "event_time",
    "resource_name",
    "resource_status",
    "resource_status_reason",
    "physical_resource_id",
    "id",
)
#: Those of events of nested stacks, too; with ``--nested-depth``.
NESTED_COLUMNS = ("stack_name", "path")
SPARE = ("id", "physical_resource_id", "stack_name")
_LOOK_AGAIN = 0.25


@takes(
    STACK,
    argument(
        "--follow",
        action="store_true",
        help="go on until the running action has ended; -f json gives an object a line",
    ),
    argument(
        "--limit",
        type=int,
        metavar="N",
        help="only the last N events; with --follow, of those that were there",
    ),
    argument("--resource", metavar="RESOURCE", help="only events of the resource of this name"),
    nested.depth("events"),
    formats.add_arguments,
)
def list_events(session: Session, arguments: argparse.Namespace) -> int:
    """List the events, the oldest first."""
    where, name = arguments.stack, arguments.resource
    if name is not None:
        where, arguments.resource = nested.split_address(where, name)
    stack, depth = session.app.stacks.find(where), nested.get_depth(arguments)
    if arguments.follow:
        return _follow_events(session, arguments, stack, depth)
    told = EventStream(session, stack, depth).list_after(0)
    _check_known(session, stack, told, arguments.resource)
    found = _filter_events(told, arguments, arguments.limit)
    rows = [_build_row(each, depth) for each in found]
    session.show_rows(arguments, _choose_columns(depth), rows, SPARE)
    return 0


def _choose_columns(depth: int) -> tuple[str, ...]:
    return (*LIST_COLUMNS, *NESTED_COLUMNS) if depth else LIST_COLUMNS


def _check_known(
    session: Session, stack: StackView, told: list[EventWithPath], name: str | None
) -> None:
    """Raise NotFound for a resource that neither exists nor has existed."""
    if name is None:
        return
    known = {each.name for each in session.app.reader.list_resources(stack.id)}
    known |= {event.resource_name or "" for _, event in told}
    if name not in known:
        raise NotFound("Resource", name, hint=suggestion(name, sorted(known)))


def _build_row(each: EventWithPath, depth: int) -> tuple[str | None, ...]:
    path, event = each
    row = (
        formats.format_time(event.at),
        event.resource_name or event.stack_name,
        event.state,
        event.reason,
        event.physical_id,
        event.id,
    )
    return (*row, event.stack_name, trees.format_path(path, event.resource_name)) if depth else row


def _filter_events(
    told: list[EventWithPath], arguments: argparse.Namespace, limit: int | None
) -> list[EventWithPath]:
    """Filter the events by the arguments; ``limit``: how many at most, the last ones."""
    name = arguments.resource
    found = [each for each in told if name is None or each[1].resource_name == name]
    return found if limit is None else found[-limit:] if limit > 0 else []


def _follow_events(
    session: Session, arguments: argparse.Namespace, stack: StackView, depth: int
) -> int:
    """Show events as they come, until the stack is idle; its state decides the exit code."""
    formats.write_head(session.screen.out, arguments, _choose_columns(depth))
    news, seen, limit = EventStream(session, stack, depth), 0, arguments.limit
    while True:
        # First the state, then the events: so none of a stack that is now idle is missed.
        now = session.app.stacks.find(stack.id)
        told = news.list_after(seen)
        for each in _filter_events(told, arguments, limit):
            _show_event(session, arguments, stack, each, depth)
        seen, limit = told[-1][1].seq if told else seen, None
        session.screen.out.flush()
        if now.idle:
            return 1 if now.status == "FAILED" else 0
        session.app.clock.pause(_LOOK_AGAIN)


def _show_event(
    session: Session,
    arguments: argparse.Namespace,
    stack: StackView,
    each: EventWithPath,
    depth: int,
) -> None:
    out = session.screen.out
    if arguments.format == "table" and not arguments.column:
        path, event = each
        out.write(event_line.format_line(event, stack.name, path) + "\n")
    else:
        formats.write_row(out, arguments, _choose_columns(depth), _build_row(each, depth))
