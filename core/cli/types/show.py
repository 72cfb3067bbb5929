"""``zonda resource type list`` and ``resource type show``: the available types."""

from __future__ import annotations

import argparse
from pathlib import Path

from zonda.core.app.app import App
from zonda.core.app.type_files import SUFFIXES
from zonda.core.plugins.manager import Plugins
from zonda.core.reference.description import describe_type
from zonda.hooks import support
from zonda.hooks.errors import NotFound
from zonda.hooks.resources.resource import Resource
from zonda.hooks.text.suggestions import suggestion

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
    plugins = session.local.plugins
    wanted = (arguments.filter or "").lower()
    names = sorted(
        name
        for name, cls in plugins.resource_types.items()
        if wanted in name.lower() and (arguments.all or cls.support_status.status != support.HIDDEN)
    )
    columns: tuple[str, ...] = ("Resource Type",)
    rows: list[tuple[str, ...]] = [(name,) for name in names]
    if arguments.long:
        columns = ("Resource Type", "Support Status", "Origin")
        rows = [
            (
                name,
                plugins.resource_types[name].support_status.status,
                str(plugins.origins.get(("resource type", name), "")),
            )
            for name in names
        ]
    session.show_rows(arguments, columns, rows)


@takes(
    argument("type", metavar="TYPE", help="name of a resource type, or the file of a manifest"),
    formats.add_field_arguments,
)
def show(session: Session, arguments: argparse.Namespace) -> None:
    """Show properties, attributes and support status of one type, as in its schemas."""
    plugins, name = find_type(session.local, arguments.type)
    cls = get_type(plugins, name)
    origin = str(plugins.origins["resource type", name])
    fields = describe_type(name, cls, origin)
    session.show_fields(arguments, fields)


def find_type(app: App, type_: str) -> tuple[Plugins, str]:
    """Find the plug-ins of a type, and its name: a file that declares one has it alone.

    Raises the first fault of such a file.
    """
    path = Path(type_)
    if path.suffix not in SUFFIXES or not path.is_file():
        return app.plugins, type_
    found = app.load_plugins_from(path)
    if found.failures:
        raise found.failures[0]
    made = (name for name, cls in found.resource_types.items() if cls.declared_by is not None)
    return found, next(made)


def get_type(plugins: Plugins, name: str) -> type[Resource]:
    """Return a type; raises NotFound, with a suggestion or the failed plug-in."""
    cls = plugins.resource_types.get(name)
    if cls is None:
        hint = (
            f"{suggestion(name, plugins.resource_types)} {plugins.explain_missing_type(name)}"
        ).strip()
        raise NotFound("resource type", name, hint=hint or "'zonda resource type list' lists them.")
    return cls
