"""``zonda capabilities find`` and ``zonda capabilities summary``: templates by capability.

Their ``-c`` and ``-f`` are a capability and a file, as the proposal for Heat has them; the format
is chosen with ``--format``.
"""

from __future__ import annotations

import argparse
import os.path
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zonda.core.template.source.bundle import Bundle, Limits
from zonda.hooks.errors import ValidationErrors

from ..arguments import argument, takes
from ..console import errors, formats
from ..options import template
from ..session import Session

if TYPE_CHECKING:
    from zonda.core.introspection.catalog import CatalogEntry

#: The default look of a summary.
_PLAIN = "plain"
_WIDEST = 72


@takes(
    argument("path", metavar="PATH", nargs="+", help="templates, and folders of them"),
    argument("-r", "--recursive", action="store_true", help="in folders of folders, too"),
    argument(
        "-c",
        "--capability",
        metavar="KEY=VALUE",
        action="append",
        required=True,
        help="what a template must declare, e.g. resource_type=OS::TripleO::Controller or "
        "'version=>=2,<3'; of several all must hold",
    ),
    argument(
        "--format", choices=formats.FORMATS, default="value", help="how to show it (default: value)"
    ),
)
def find(session: Session, arguments: argparse.Namespace) -> None:
    """Print the path of each template that meets the requirements, one a line."""
    from zonda.core.introspection import catalog

    wanted = [catalog.parse_requirement(text) for text in arguments.capability]
    found = list(
        catalog.find_matching(_load_entries(session, arguments.path, arguments.recursive), wanted)
    )
    columns: tuple[str, ...] = ("Path",)
    rows: list[tuple[Any, ...]] = [(each.path,) for each in found]
    if arguments.format != "value":
        columns = ("Path", "Capabilities")
        rows = [(each.path, _as_data(each)) for each in found]
    arguments.column = []
    session.show_rows(arguments, columns, rows)


@takes(
    argument(
        "-f",
        "--file",
        metavar="FILE",
        action="append",
        default=[],
        help="a template; may be given several times",
    ),
    argument("more", metavar="FILE", nargs="*", help="templates, and folders of them"),
    argument("-r", "--recursive", action="store_true", help="in folders of folders, too"),
    argument(
        "-e",
        "--environment",
        metavar="FILE",
        action="append",
        default=[],
        help="an environment, whose lists of templates are summed up, too",
    ),
    argument(
        "--format",
        choices=(_PLAIN, *formats.FORMATS),
        default=_PLAIN,
        help=f"how to show it (default: {_PLAIN})",
    ),
)
def summary(session: Session, arguments: argparse.Namespace) -> None:
    """Show the values that can be required of each key, and the templates for each type."""
    from zonda.core.introspection import catalog

    paths = [*arguments.file, *arguments.more]
    found = list(_load_entries(session, paths, arguments.recursive))
    bundle = _load_environments(session, arguments)
    listed = session.app.templates.list_candidates(bundle) if bundle.environment_files else None
    known = {each.path for each in found}
    if listed is not None:
        found += (each for each in listed.offers if each.path not in known)
    summed = catalog.summarize(found, {} if listed is None else listed.lists)
    arguments.column = []
    if arguments.format == _PLAIN:
        session.screen.show("\n".join(_format_plain(summed)))
    elif arguments.format in ("json", "yaml"):
        formats.write_data(session.screen.out, arguments.format, summed)
    else:
        rows = [(key, ", ".join(values)) for key, values in summed.items()]
        session.show_rows(arguments, ("Name", "Values"), rows)


def _load_environments(session: Session, arguments: argparse.Namespace) -> Bundle:
    wanted = argparse.Namespace(
        template=None,
        environment=arguments.environment,
        parameter=[],
        parameter_file=[],
        allow_remote=False,
    )
    return template.collect_bundle(session, wanted)


def _load_entries(session: Session, paths: list[str], deep: bool) -> Iterator[CatalogEntry]:
    """Load the declarations of templates; report malformed ones and omit them."""
    from zonda.core.introspection import catalog

    limits: Limits = session.app.limits
    for given in dict.fromkeys(os.path.normpath(path) for path in paths):
        path = Path(given)
        for file in catalog.list_files(path, deep=deep):
            text = catalog.load_text(file, limits)
            offer = None if text is None else catalog.read_entry(str(file), text, limits)
            if offer is None or offer.problem:
                if file == path:
                    why = offer.problem if offer is not None else "is too long, or no text"
                    session.screen.say(f"{file} is left out: it {why}")
            elif offer.faults:
                errors.say_error(session.screen, ValidationErrors(offer.faults))
            else:
                yield offer


def _as_data(offer: CatalogEntry) -> dict[str, Any]:
    return {
        key: values[0] if len(values) == 1 else list(values)
        for key, values in offer.capabilities.items()
    }


def _format_plain(summed: dict[str, list[str]]) -> Iterator[str]:
    """Format a summary as in the proposal for Heat: a long list has one value a line."""
    entries = []
    for key, values in summed.items():
        start = f"  {key!r}: ["
        shown = [repr(value) for value in values]
        line = f"{start}{', '.join(shown)}]"
        if len(line) > _WIDEST:
            line = start + f",\n{' ' * len(start)}".join(shown) + "]"
        entries.append(line)
    yield "{"
    yield from (entry + "," * (at < len(entries)) for at, entry in enumerate(entries, 1))
    yield "}"
