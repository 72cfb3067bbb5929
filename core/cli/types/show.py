"""``zonda resource type list`` and ``resource type show``: the available types."""

from __future__ import annotations

import argparse
from pathlib import Path

from zonda.core.app.surface import ReferenceAccess
from zonda.core.app.type_files import SUFFIXES
from zonda.hooks import support

from ..arguments import argument, takes
from ..console import formats
from ..session import Session


@takes(
    argument("--filter", metavar="TEXT", help="only types whose name contains this"),
    argument("--all", action="store_true", help="hidden types, too"),
    argument("--long", action="store_true", help="also the state of support and origin"),
    formats.add_arguments,
)
def list_types(session: Session, arguments: argparse.Namespace) -> None:
    """List one row per type, by name."""
    wanted = (arguments.filter or "").lower()
    found = [
        each
        for each in session.app.reference.list_types()
        if wanted in each["name"].lower() and (arguments.all or each["status"] != support.HIDDEN)
    ]
    columns: tuple[str, ...] = ("Resource Type",)
    if arguments.long:
        columns = ("Resource Type", "Support Status", "Origin")
    rows = [tuple(each.values())[: len(columns)] for each in found]
    session.show_rows(arguments, columns, rows)


@takes(
    argument("type", metavar="TYPE", help="name of a resource type, or the file of a manifest"),
    formats.add_field_arguments,
)
def show(session: Session, arguments: argparse.Namespace) -> None:
    """Show properties, attributes and support status of one type, as in its schemas."""
    reference, name = find_reference(session, arguments.type)
    session.show_fields(arguments, reference.describe_type(name))


def find_reference(session: Session, type_: str) -> tuple[ReferenceAccess, str]:
    """Find the reference of a type, and its name: a file that declares one has it alone.

    Raises the first fault of such a file.
    """
    path = Path(type_)
    if path.suffix not in SUFFIXES or not path.is_file():
        return session.app.reference, type_
    from zonda.core.reference.installed import Reference

    app = session.offline
    found = app.load_plugins_from(path)
    if found.failures:
        raise found.failures[0]
    made = (name for name, cls in found.resource_types.items() if cls.declared_by is not None)
    return Reference(found, app.function_table, app.make_context), next(made)
