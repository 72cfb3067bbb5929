"""The stacks that an action was for, as they are then: shown where ``-f`` asks for it.

Called by the actions that otherwise only tell how they have ended.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from zonda.core.app import Running

from . import output, streams
from .session import Session
from .stack_show import LIST_COLUMNS, as_fields, as_row


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``-f`` and ``-c``; nothing is shown without them."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "-f", "--format", choices=output.FORMATS, help="show the stack as it is then (default: not)"
    )
    group.add_argument(
        "-c",
        "--column",
        metavar="COLUMN",
        action="append",
        default=[],
        help="show only this column, as a table without -f; may be given several times",
    )


def one(session: Session, arguments: argparse.Namespace, running: Running) -> None:
    """A stack with its fields, as ``stack create`` shows it."""
    if _is_wanted(arguments):
        fields = as_fields(session.app.reader.stack(running.stack_id))
        with streams.outcome():
            output.fields(session.screen.out, arguments, fields, session.screen.width)


def several(session: Session, arguments: argparse.Namespace, running: Iterable[Running]) -> None:
    """Stacks, one row each, as ``stack list`` shows them; those that are deleted by now, too."""
    if _is_wanted(arguments):
        rows = [as_row(session.app.reader.stack(each.stack_id)) for each in running]
        with streams.outcome():
            output.rows(session.screen.out, arguments, LIST_COLUMNS, rows, session.screen.width)


def _is_wanted(arguments: argparse.Namespace) -> bool:
    if arguments.column and arguments.format is None:
        arguments.format = "table"
    return arguments.format is not None
