"""``zonda stack event list``: what happened, and with ``--follow`` what happens."""

from __future__ import annotations

import argparse

from zonda.core.store.read import trees
from zonda.core.store.read.views import StackView
from zonda.hooks.errors import NotFound
from zonda.hooks.text.suggestions import suggestion

from ..console import formats
from ..options import nested
from ..progress import event_line
from ..progress.event_stream import News, Told
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


def list_events_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``stack event list``."""
    parser.add_argument("stack", metavar="STACK", help="name or id")
    parser.add_argument(
        "--follow",
        action="store_true",
        help="go on until the running action has ended; -f json gives an object a line",
    )
    parser.add_argument(
        "--limit",
        type=int,
        metavar="N",
        help="only the last N events; with --follow, of those that were there",
    )
    parser.add_argument(
        "--resource", metavar="RESOURCE", help="only events of the resource of this name"
    )
    nested.add_depth(parser, "events")
    formats.add_arguments(parser)


def list_events(session: Session, arguments: argparse.Namespace) -> int:
    """Events, the oldest first."""
    where, name = arguments.stack, arguments.resource
    if name is not None:
        where, arguments.resource = nested.address(where, name)
    stack, depth = session.app.stack(where), nested.depth(arguments)
    if arguments.follow:
        return _follow(session, arguments, stack, depth)
    told = News(session, stack, depth).after(0)
    _check_known(session, stack, told, arguments.resource)
    found = _wanted(told, arguments, arguments.limit)
    screen = session.screen
    rows = [_row(each, depth) for each in found]
    formats.rows(screen.out, arguments, _columns(depth), rows, screen.width, spare=SPARE)
    return 0


def _columns(depth: int) -> tuple[str, ...]:
    return (*LIST_COLUMNS, *NESTED_COLUMNS) if depth else LIST_COLUMNS


def _check_known(session: Session, stack: StackView, told: list[Told], name: str | None) -> None:
    """Raise NotFound for a resource that neither is there nor has ever been."""
    if name is None:
        return
    known = {each.name for each in session.app.reader.resource_rows(stack.id)}
    known |= {event.resource_name or "" for _, event in told}
    if name not in known:
        raise NotFound("Resource", name, hint=suggestion(name, sorted(known)))


def _row(each: Told, depth: int) -> tuple[str | None, ...]:
    path, event = each
    row = (
        formats.moment(event.at),
        event.resource_name or event.stack_name,
        event.state,
        event.reason,
        event.physical_id,
        event.id,
    )
    return (*row, event.stack_name, trees.named(path, event.resource_name)) if depth else row


def _wanted(told: list[Told], arguments: argparse.Namespace, limit: int | None) -> list[Told]:
    """The events that were asked for; ``limit``: how many at most, the last ones."""
    name = arguments.resource
    found = [each for each in told if name is None or each[1].resource_name == name]
    return found if limit is None else found[-limit:] if limit > 0 else []


def _follow(session: Session, arguments: argparse.Namespace, stack: StackView, depth: int) -> int:
    """Events as they come, until the stack is idle; its end decides the exit code."""
    formats.head(session.screen.out, arguments, _columns(depth))
    news, seen, limit = News(session, stack, depth), 0, arguments.limit
    while True:
        # First the state, then the events: so none of a stack that is now idle is missed.
        now = session.app.stack(stack.id)
        told = news.after(seen)
        for each in _wanted(told, arguments, limit):
            _show(session, arguments, stack, each, depth)
        seen, limit = told[-1][1].seq if told else seen, None
        session.screen.out.flush()
        if now.idle:
            return 1 if now.status == "FAILED" else 0
        session.app.clock.pause(_LOOK_AGAIN)


def _show(
    session: Session, arguments: argparse.Namespace, stack: StackView, each: Told, depth: int
) -> None:
    out = session.screen.out
    if arguments.format == "table" and not arguments.column:
        path, event = each
        out.write(event_line.line(event, stack.name, path) + "\n")
    else:
        formats.news(out, arguments, _columns(depth), _row(each, depth))
