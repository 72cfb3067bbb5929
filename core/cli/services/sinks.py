"""``zonda sink list``, ``sink test`` and ``sink skip``: event sinks."""

from __future__ import annotations

import argparse

from zonda.core.app.event_sinks import SinkView

from ..arguments import argument, takes
from ..console import formats
from ..session import Session

COLUMNS = (
    *("Name", "Kind", "State", "Waiting", "Delivered", "Last Delivered", "Cursor"),
    *("Failures", "Failing Since", "Next Try", "Error"),
)


@takes(formats.add_arguments)
def list_sinks(session: Session, arguments: argparse.Namespace) -> None:
    """List every sink: its position, and its error."""
    rows = [_build_row(view) for view in session.local.sinks.list_views()]
    session.show_rows(arguments, COLUMNS, rows)


def _build_row(view: SinkView) -> tuple[object, ...]:
    row = view.row
    if row is None:
        return (view.name, view.kind, "NEW", 0, 0, None, None, 0, None, None, "")
    return (
        view.name,
        view.kind,
        _choose_state(view),
        view.waiting,
        row.delivered,
        formats.format_time(row.delivered_at),
        row.seq,
        row.failures,
        formats.format_time(row.failing_since),
        formats.format_time(row.next_at),
        row.error,
    )


def _choose_state(view: SinkView) -> str:
    if not view.kind:
        return "REMOVED"
    if view.row is not None and view.row.failures:
        return "FAILING"
    return "BEHIND" if view.waiting else "UP_TO_DATE"


@takes(argument("name", metavar="NAME", help="name of the section [sinks.NAME]"))
def test(session: Session, arguments: argparse.Namespace) -> int:
    """Send one test event of the action TEST now."""
    wrong = session.local.sinks.test(arguments.name)
    if wrong:
        session.screen.say(f"Sink {arguments.name} did not take it: {wrong}")
        return 1
    session.screen.say(f"Sink {arguments.name} has taken a test event.")
    return 0


@takes(argument("name", metavar="NAME", help="name of a sink that 'zonda sink list' shows"))
def skip(session: Session, arguments: argparse.Namespace) -> None:
    """Drop the events that wait for a sink; it continues with the next event."""
    last = session.local.sinks.skip(arguments.name)
    session.screen.say(f"Sink {arguments.name} goes on after event {last}.")
