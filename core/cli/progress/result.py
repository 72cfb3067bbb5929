"""The stacks that an action was for, as they are then: shown where ``-f`` asks for it.

Called by the actions that otherwise only tell how they have ended.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from zonda.core.app.app import RunningAction

from ..console import formats, streams
from ..console.stack_rows import LIST_COLUMNS, SPARE, as_fields, as_row
from ..session import Session


def add_arguments(parser: argparse.ArgumentParser, *more: str) -> None:
    """``-f`` and ``-c``; nothing is shown without them. ``more`` as in ``output``."""
    formats.add_formats(
        parser,
        (*formats.FORMATS, *more),
        None,
        "show the stack as it is then, not only how it has ended",
    )


def one(session: Session, arguments: argparse.Namespace, running: RunningAction) -> None:
    """A stack with its fields, as ``stack create`` shows it."""
    if _is_wanted(arguments):
        fields = as_fields(session.app.stack(running.stack_id))
        with streams.outcome():
            formats.fields(session.screen.out, arguments, fields, session.screen.width)


def several(
    session: Session, arguments: argparse.Namespace, running: Iterable[RunningAction]
) -> None:
    """Stacks, one row each, as ``stack list`` shows them; those that are deleted by now, too."""
    if _is_wanted(arguments):
        rows = [as_row(session.app.stack(each.stack_id)) for each in running]
        with streams.outcome():
            screen = session.screen
            formats.rows(screen.out, arguments, LIST_COLUMNS, rows, screen.width, spare=SPARE)


def _is_wanted(arguments: argparse.Namespace) -> bool:
    if arguments.column and arguments.format is None:
        arguments.format = "table"
    return arguments.format is not None
