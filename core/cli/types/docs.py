"""``zonda resource type docs`` and ``resource type template``: reference pages of types."""

from __future__ import annotations

import argparse
from pathlib import Path

from zonda.core.app.app import App
from zonda.core.plugins.manager import Plugins
from zonda.core.reference import markdown
from zonda.core.reference.description import summarize
from zonda.core.system.folders import make_folder
from zonda.hooks import support
from zonda.hooks.errors import NotFound, UsageError

from ..arguments import argument, takes
from ..console import formats
from ..session import Session
from .show import find_reference

INDEX = "README.md"


@takes(
    argument(
        "package", metavar="PACKAGE", nargs="?", help="only types of this distribution or plug-in"
    ),
    argument("-o", "--output", metavar="FOLDER", help="write a page per type and an index there"),
)
def docs(session: Session, arguments: argparse.Namespace) -> None:
    """Write a page per type: into a folder, or one after the other on standard output."""
    app = session.local
    pages = format_pages(app, arguments.package or "")
    if arguments.output is None:
        session.screen.out.write("\n".join(pages.values()))
        return
    folder = Path(arguments.output)
    make_folder(folder)
    types = {name: summarize(app.plugins.resource_types[name]) for name in pages}
    try:
        for name, text in pages.items():
            (folder / markdown.format_file_name(name)).write_text(text, encoding="utf-8")
        (folder / INDEX).write_text(markdown.format_index(types), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}") from error
    session.screen.say(f"{len(pages)} pages and {INDEX} are in {folder}.")


def format_pages(app: App, package: str) -> dict[str, str]:
    """Format the pages of all types that are not hidden, by name; raises NotFound."""
    plugins = app.plugins
    context = app.make_context()
    pages = {}
    for name in list_types_of(plugins, package):
        cls = plugins.resource_types[name]
        if cls.support_status.status != support.HIDDEN:
            origin = plugins.origins["resource type", name]
            pages[name] = markdown.format_page(name, cls, context, origin.distribution)
    return pages


def list_types_of(plugins: Plugins, package: str) -> list[str]:
    """List the types of a distribution or a plug-in, or all, by name; raises NotFound."""
    found = []
    for kind, name in plugins.origins:
        origin = plugins.origins[kind, name]
        if kind == "resource type" and (not package or package in origin.names):
            found.append(name)
    if package and not found:
        raise NotFound(
            "plug-in with resource types", package, hint="'zonda plugin list' lists plug-ins."
        )
    return sorted(found)


@takes(
    argument("type", metavar="TYPE", help="name of a resource type, or the file of a manifest"),
    argument("--example", action="store_true", help="with example values instead of parameters"),
    argument("-f", "--format", choices=("yaml", "json"), help="default: yaml"),
)
def template(session: Session, arguments: argparse.Namespace) -> None:
    """Print an initial template: a parameter for each property, an output for each attribute."""
    reference, name = find_reference(session, arguments.type)
    made = reference.build_template(name, example=arguments.example)
    formats.write_data(session.screen.out, arguments.format or "yaml", made)
