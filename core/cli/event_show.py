"""``zonda stack event list``: what happened, and with ``--follow`` what happens."""

from __future__ import annotations

import argparse

from zonda.core.store.views import EventView, StackView

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
        "--follow", action="store_true", help="go on until the running action has ended"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="only the last N events")
    parser.add_argument(
        "--resource", metavar="RESOURCE", help="only events of the resource of this name"
    )
    output.add_arguments(parser)


def list_events(session: Session, arguments: argparse.Namespace) -> int:
    """Events, the oldest first."""
    stack = session.app.stack(arguments.stack)
    if arguments.follow:
        return _follow(session, stack)
    found = [one for one in all_events(session, stack, 0) if _wanted(one, arguments.resource)]
    if arguments.limit is not None:
        found = found[-arguments.limit :] if arguments.limit > 0 else []
    rows = [
        (
            output.moment(one.at),
            one.resource_name or one.stack_name,
            one.state,
            one.reason,
            one.physical_id,
            one.id,
        )
        for one in found
    ]
    screen = session.screen
    output.rows(screen.out, arguments, LIST_COLUMNS, rows, screen.width)
    return 0


def _wanted(event: EventView, resource: str | None) -> bool:
    return resource is None or event.resource_name == resource


def all_events(session: Session, stack: StackView, after: int) -> list[EventView]:
    """Every event of a stack whose ``seq`` is greater than ``after``."""
    found: list[EventView] = []
    while page := session.app.reader.events(stack.id, after=after, limit=_PAGE):
        found += page
        after = page[-1].seq
    return found


def _follow(session: Session, stack: StackView) -> int:
    """Lines as they come, until the stack is idle; its end decides the exit code."""
    seen = 0
    while True:
        # First the state, then the events: so none of a stack that is now idle is missed.
        now = session.app.stack(stack.id)
        for event in all_events(session, stack, seen):
            session.screen.out.write(event_lines.line(event) + "\n")
            seen = event.seq
        session.screen.out.flush()
        if now.idle:
            return 1 if now.status == "FAILED" else 0
        session.app.clock.pause(_LOOK_AGAIN)
