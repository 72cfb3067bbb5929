"""The stacks of an action, as they are at its end: shown with ``-f``.

Called by the actions that otherwise only tell how they have ended.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from zonda.core.app.surface import RunningAction

from ..console import formats, streams
from ..console.stack_rows import LIST_COLUMNS, SPARE, as_fields, as_row
from ..session import Session


def add_arguments(parser: argparse.ArgumentParser, *more: str) -> None:
    """Add ``-f`` and ``-c``; without them nothing is shown."""
    meaning = "show the stack as it is then, not only how it has ended"
    formats.add_formats(parser, (*formats.FORMATS, *more), None, meaning)


def add_field_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``-f`` and ``-c`` of a command on one stack."""
    add_arguments(parser, formats.SHELL)


def show_stack(session: Session, arguments: argparse.Namespace, running: RunningAction) -> None:
    """Show a stack with its fields, as in ``stack create``."""
    if _is_wanted(arguments):
        fields = as_fields(session.app.stacks.find(running.stack_id))
        with streams.ignore_closed_output():
            session.show_fields(arguments, fields)


def show_stacks(
    session: Session, arguments: argparse.Namespace, running: Iterable[RunningAction]
) -> None:
    """Show stacks, one row each, as in ``stack list``; also those that are deleted by now."""
    if _is_wanted(arguments):
        rows = [as_row(session.app.stacks.find(each.stack_id)) for each in running]
        with streams.ignore_closed_output():
            session.show_rows(arguments, LIST_COLUMNS, rows, SPARE)


def _is_wanted(arguments: argparse.Namespace) -> bool:
    if arguments.column and arguments.format is None:
        arguments.format = "table"
    return arguments.format is not None
