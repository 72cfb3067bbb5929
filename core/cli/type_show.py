"""``zonda resource type list``, ``resource type show`` and ``plugin list``: what is installed."""

from __future__ import annotations

import argparse
import difflib
from typing import Any

from zonda.hooks.errors import NotFound
from zonda.hooks.resource import Resource

from . import output, plain
from .session import Session

#: What plug-ins bring, by the kind that origins are kept under.
KINDS = ("resource type", "function", "constraint", "runner", "client plug-in")


def list_types_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``resource type list``."""
    parser.add_argument("--filter", metavar="TEXT", help="only types whose name contains this")
    parser.add_argument("--long", action="store_true", help="also the state of support and origin")
    output.add_arguments(parser)


def list_types(session: Session, arguments: argparse.Namespace) -> int:
    """One row per type, by name."""
    plugins = session.app.plugins
    wanted = (arguments.filter or "").lower()
    names = sorted(name for name in plugins.resource_types if wanted in name.lower())
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
    screen = session.screen
    output.rows(screen.out, arguments, columns, rows, screen.width)
    return 0


def show_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``resource type show``."""
    parser.add_argument("type", metavar="TYPE", help="name of a resource type")
    output.add_arguments(parser)


def show(session: Session, arguments: argparse.Namespace) -> int:
    """Properties, attributes and state of support of one type, as its schemas say."""
    known = session.app.plugins.resource_types
    cls = known.get(arguments.type)
    if cls is None:
        close = difflib.get_close_matches(arguments.type, known, 1)
        hint = f"Did you mean {close[0]}?" if close else "'zonda resource type list' lists them."
        raise NotFound("resource type", arguments.type, hint=hint)
    screen = session.screen
    output.fields(screen.out, arguments, as_fields(arguments.type, cls), screen.width)
    return 0


def as_fields(name: str, cls: type[Resource]) -> dict[str, Any]:
    """A type under the names that the openstack client uses."""
    return {
        "resource_type": name,
        "description": plain.prose((cls.__doc__ or "").split("\n\n")[0]),
        "support_status": cls.support_status.to_dict(),
        "properties": {key: each.to_dict() for key, each in cls.properties_schema.items()},
        "attributes": {
            key: _attribute(each) for key, each in sorted(cls.attributes_schema.items())
        },
    }


def _attribute(schema: Any) -> dict[str, Any]:
    shown: dict[str, Any] = {"description": schema.description}
    if schema.type is not None:
        shown["type"] = schema.type.lower()
    if schema.hidden:
        shown["hidden"] = True
    return shown


def plugins_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``plugin list``."""
    output.add_arguments(parser)


def plugins(session: Session, arguments: argparse.Namespace) -> int:
    """One row per plug-in with what it brings; then the plug-ins that could not be used."""
    found = session.app.plugins
    brought: dict[str, list[str]] = {}
    for (kind, name), origin in found.origins.items():
        if kind.startswith(KINDS):
            brought.setdefault(origin.plugin, []).append(name)
    manager = found.manager
    rows = [
        (
            origin.plugin,
            " ".join(filter(None, (origin.distribution, origin.version))),
            ", ".join(sorted(brought.get(origin.plugin, []))),
        )
        for origin in (manager.origins() if manager else ())
    ]
    screen = session.screen
    columns = ("Plugin", "Distribution", "Brings")
    output.rows(screen.out, arguments, columns, rows, screen.width)
    for failure in found.failures:
        screen.say(f"{screen.coloured('warning', 'yellow')}: {failure}")
    return 1 if found.failures else 0
