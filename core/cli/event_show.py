"""``zonda stack event list``: what happened, and with ``--follow`` what happens."""

from __future__ import annotations

import argparse

from zonda.core.store.views import EventView, StackView
from zonda.hooks.errors import NotFound
from zonda.hooks.near import near

from . import event_lines, output
from .session import Session

LIST_COLUMNS = (
    "event_time",
    "resource_name",
    "resource_status",
    "resource_status_reason",
    "physical_resource_id",
    "id",
)
_PAGE = 1000
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
    output.add_arguments(parser)


def list_events(session: Session, arguments: argparse.Namespace) -> int:
    """Events, the oldest first."""
    stack = session.app.stack(arguments.stack)
    if arguments.follow:
        return _follow(session, arguments, stack)
    events = all_events(session, stack, 0)
    _check_known(session, stack, events, arguments.resource)
    found = _wanted(events, arguments, arguments.limit)
    screen = session.screen
    output.rows(screen.out, arguments, LIST_COLUMNS, map(_row, found), screen.width)
    return 0


def _check_known(
    session: Session, stack: StackView, events: list[EventView], name: str | None
) -> None:
    """Raise NotFound for a resource that neither is there nor has ever been."""
    there = session.app.reader.resources(stack.id, absent=True) if name is not None else ()
    known = {each.name for each in there} | {each.resource_name or "" for each in events}
    if name is not None and name not in known:
        raise NotFound("Resource", name, hint=near(name, sorted(known)))


def _row(event: EventView) -> tuple[str | None, ...]:
    return (
        output.moment(event.at),
        event.resource_name or event.stack_name,
        event.state,
        event.reason,
        event.physical_id,
        event.id,
    )


def _wanted(
    events: list[EventView], arguments: argparse.Namespace, limit: int | None
) -> list[EventView]:
    """The events that were asked for; ``limit``: how many at most, the last ones."""
    name = arguments.resource
    found = [event for event in events if name is None or event.resource_name == name]
    return found if limit is None else found[-limit:] if limit > 0 else []


def all_events(session: Session, stack: StackView, after: int) -> list[EventView]:
    """Every event of a stack whose ``seq`` is greater than ``after``."""
    found: list[EventView] = []
    while page := session.app.reader.events(stack.id, after=after, limit=_PAGE):
        found += page
        after = page[-1].seq
    return found


def _follow(session: Session, arguments: argparse.Namespace, stack: StackView) -> int:
    """Events as they come, until the stack is idle; its end decides the exit code."""
    output.check_columns(arguments, LIST_COLUMNS)
    seen, limit = 0, arguments.limit
    while True:
        # First the state, then the events: so none of a stack that is now idle is missed.
        now = session.app.stack(stack.id)
        events = all_events(session, stack, seen)
        for event in _wanted(events, arguments, limit):
            _show(session, arguments, event)
        seen, limit = events[-1].seq if events else seen, None
        session.screen.out.flush()
        if now.idle:
            return 1 if now.status == "FAILED" else 0
        session.app.clock.pause(_LOOK_AGAIN)


def _show(session: Session, arguments: argparse.Namespace, event: EventView) -> None:
    out = session.screen.out
    if arguments.format == "table" and not arguments.column:
        out.write(event_lines.line(event) + "\n")
    else:
        output.news(out, arguments, LIST_COLUMNS, _row(event))
